"""Vector loops whose lanes run different iterations of the loops inside: masks, as unscheduled."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright

HEAD = "func.func @f(%n: index, %m: index, %A: memref<?x?xKIND>, %B: memref<?xKIND>)"
ADD = "arith.addf"

# `at` iterations of i, each with a sum in B[i + OFFSET] over k in BOUNDS of A's elements.
SUM = """
HEAD {
  affine.for %i = FIRST to %n {
    INIT
    affine.for %k = LOWER to UPPER STEP {
      %s = affine.load %B[%i + OFFSET] : memref<?xKIND>
      %a = affine.load %A[%k, %i] : memref<?x?xKIND>
      %t = OPERATION %s, %a : KIND
      affine.store %t, %B[%i + OFFSET] : memref<?xKIND>
    }
  }
  return
}
"""
START = """%z = affine.load %A[0, %i] : memref<?x?xKIND>
    affine.store %z, %B[%i + OFFSET] : memref<?xKIND>"""
AT = "(%i)[%n, %m]"

BOUNDS = {
    "triangle": ("0", f"affine_map<(d0)[s0, s1] -> (d0 + 1)>{AT}", ""),
    "strict triangle": ("0", f"affine_map<(d0)[s0, s1] -> (d0)>{AT}", ""),
    "upper triangle": (f"affine_map<(d0)[s0, s1] -> (d0)>{AT}", "%m", ""),
    "band": (
        f"max affine_map<(d0)[s0, s1] -> (0, d0 - 2)>{AT}",
        f"min affine_map<(d0)[s0, s1] -> (s1, d0 + 3)>{AT}",
        "",
    ),
    "far band": (
        f"max affine_map<(d0)[s0, s1] -> (0, d0 - s0 + 3)>{AT}",
        f"min affine_map<(d0)[s0, s1] -> (s1, d0 - 4)>{AT}",
        "",
    ),
    "padding": (
        f"max affine_map<(d0)[s0, s1] -> (0, -d0 + 3)>{AT}",
        f"min affine_map<(d0)[s0, s1] -> (7, s0 - d0 + 3)>{AT}",
        "",
    ),
    "two slopes": (
        f"max affine_map<(d0)[s0, s1] -> (0, 2 * d0 - 9)>{AT}",
        f"min affine_map<(d0)[s0, s1] -> (s1, -3 * d0 + 40)>{AT}",
        "",
    ),
    "steps": ("0", f"affine_map<(d0)[s0, s1] -> (d0 + 1)>{AT}", "step 2"),
    "steps from the lane": (f"affine_map<(d0)[s0, s1] -> (d0)>{AT}", "%m", "step 3"),
}

# Statements that only some of the lanes run, with and without another one for the rest.
GUARDED = """
HEAD {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %m {
      %a = affine.load %A[%k, %i] : memref<?x?xKIND>
      affine.store %a, %B[%i] : memref<?xKIND>
      affine.if affine_set<(d0, d1) : (d0 + d1 - 2 >= 0, 9 - d0 >= 0)>(%i, %k) {
        %s = affine.load %B[%i] : memref<?xKIND>
        %t = OPERATION %s, %a : KIND
        affine.store %t, %B[%i] : memref<?xKIND>
      } OTHERWISE
      %b = affine.load %B[%i] : memref<?xKIND>
      affine.store %b, %A[%k + 1, %i] : memref<?x?xKIND>
    }
  }
  return
}
"""
OTHERWISE = """else {
        %c = affine.load %A[0, %i] : memref<?x?xKIND>
        affine.store %c, %B[%i] : memref<?xKIND>
      }"""

# Both loops inside of the lanes differ, and what the inner one adds to moves with the outer one.
NESTED = """
HEAD {
  affine.for %i = 0 to %n {
    affine.for %k = affine_map<(d0) -> (d0)>(%i) to %m {
      affine.for %l = max affine_map<(d0, d1) -> (0, d1 - d0 - 2)>(%i, %k)
          to min affine_map<(d0, d1)[s0] -> (s0, d1 + d0 - 1)>(%i, %k)[%m] {
        %s = affine.load %A[%k, %i] : memref<?x?xKIND>
        %a = affine.load %B[%l] : memref<?xKIND>
        %t = OPERATION %s, %a : KIND
        affine.store %t, %A[%k, %i] : memref<?x?xKIND>
      }
    }
  }
  return
}
"""

SIZES = [(1, 1), (3, 7), (8, 3), (13, 14), (17, 9), (33, 20), (40, 70)]


def filled(text: str, kind: str, **parts: str) -> str:
    operation = "arith.addf" if kind.startswith("f") else "arith.addi"
    for name, part in {"HEAD": HEAD, **parts, "OPERATION": operation, "KIND": kind}.items():
        text = text.replace(name, part)
    return text


def check(text: str, kind: str, widths: tuple[int, ...], *, vectors: bool = True) -> None:
    """The same bits as unscheduled, for sizes known and unknown; `vectors` are made at all."""
    function = loopwright.load(text)["f"]
    original = function.compile(threads=1)
    source = np.random.default_rng(0)
    dtype = np.dtype({"f": "float", "i": "int"}[kind[0]] + kind[1:])
    for width in widths:
        schedule = f"vectorize{{loops=i width={width}}}"
        kernels = [
            function.compile(schedule, threads=1, verify=True),
            function.compile(schedule, threads=1, check_bounds=True),
        ]
        for n, m in SIZES:
            shapes = ((max(m, n, 8) + 1, n + 1), (max(m, n),))
            values = [(9 * source.standard_normal(shape)).astype(dtype) for shape in shapes]
            if n == max(SIZES)[0]:
                code = kernels[0].specialise(n, m, *values).code.loop_ir
                assert ("vector.maskedload" in code or "vector.gather" in code) == vectors
            results = [[value.copy() for value in values] for _ in range(3)]
            for kernel, arrays in zip((original, *kernels), results, strict=True):
                kernel(n, m, *arrays)
            for arrays in results[1:]:
                assert all(map(np.array_equal, results[0], arrays)), (width, n, m)


@pytest.mark.parametrize("kind", ["f32", "f64", "i32"])
@pytest.mark.parametrize("start", ["", START])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_sums(bounds: str, start: str, kind: str) -> None:
    lower, upper, step = BOUNDS[bounds]
    parts = {"INIT": start, "LOWER": lower, "UPPER": upper, "STEP": step}
    text = filled(SUM, kind, FIRST="0", **parts, OFFSET="0")
    check(text, kind, (2, 8), vectors=bounds != "steps from the lane")


@pytest.mark.parametrize("kind", ["f32", "i64"])
def test_sums_of_lanes_without_any_term_are_left_alone(kind: str) -> None:
    """B has no element for the first lanes, which have no iterations."""
    upper = f"affine_map<(d0)[s0, s1] -> (d0 - 4)>{AT}"
    parts = {"INIT": "", "LOWER": "0", "UPPER": upper, "STEP": ""}
    check(filled(SUM, kind, FIRST="0", **parts, OFFSET="-5"), kind, (4, 16))


@pytest.mark.parametrize("kind", ["f32", "i64"])
@pytest.mark.parametrize("otherwise", ["", OTHERWISE])
def test_guards(otherwise: str, kind: str) -> None:
    check(filled(GUARDED, kind, OTHERWISE=otherwise), kind, (4, 16), vectors=not otherwise)


def test_nested_loops() -> None:
    check(filled(NESTED, "f32"), "f32", (4, 8))
