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


# What lanes that come to the outer one of two loops may never come to, at places that only those
# have that do: loops and guards that are empty for some, or all, of a lane's iterations.
RARE = """
HEAD {
  affine.for %i = 0 to %n {
    affine.for %k = FIRST to LAST {
      %x = affine.load %A[%k, %i] : memref<?x?xKIND>
      affine.store %x, %A[%k, %i] : memref<?x?xKIND>
      CONTROL {
        %s = affine.load %B[%i - BEFORE] : memref<?xKIND>
        %a = affine.load %A[%k, %i] : memref<?x?xKIND>
        %t = OPERATION %s, %a : KIND
        affine.store %t, %B[%i - BEFORE] : memref<?xKIND>
      }
    }
  }
  return
}
"""
BELOW = ("0", "affine_map<(d0) -> (d0)>(%i)")
RARELY = {
    "loop": (BELOW, "affine.for %l = 0 to affine_map<(d0) -> (d0 - 5)>(%k)", 7),
    "remainder": (BELOW, "affine.if affine_set<(d0) : (d0 mod 4 - 3 >= 0)>(%k)", 4),
    "guard": (BELOW, "affine.if affine_set<(d0) : (d0 - 5 >= 0)>(%k)", 6),
    "divergent loop": (
        ("affine_map<(d0) -> (2 * d0)>(%i)", "affine_map<(d0) -> (2 * d0 + 3)>(%i)"),
        "affine.for %l = 0 to affine_map<(d0) -> (100 * d0 - 100)>(%i)",
        2,
    ),
}


@pytest.mark.parametrize("control", RARELY)
def test_lanes_that_never_come_access_nothing(control: str) -> None:
    (first, last), inner, ahead = RARELY[control]
    text = filled(RARE, "f64", FIRST=first, LAST=last, CONTROL=inner, BEFORE=str(ahead))
    function = loopwright.load(text)["f"]
    original = function.compile(threads=1)
    source = np.random.default_rng(0)
    for width in (4, 16):
        kernel = function.compile(f"vectorize{{loops=i width={width}}}", check_bounds=True)
        for n in (8, 9, 17, 40):
            values = [source.standard_normal((3 * n, n + 1)), source.standard_normal(n)]
            results = [[value.copy() for value in values] for _ in range(2)]
            for each, arrays in zip((original, kernel), results, strict=True):
                each(n, n, *arrays)
            assert all(map(np.array_equal, *results)), (width, n)


# The second thread adds to C[6] and C[7]; of the lanes of the first one, some only come near.
SHARED = """
func.func @f(%A: memref<32000xf32>, %C: memref<26xf32>, %D: memref<16xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %q = 0 to affine_map<(d0) -> (d0 * 4000)>(%i) {
      %s = affine.load %C[%i] : memref<26xf32>
      %a = affine.load %A[%q] : memref<32000xf32>
      %t = arith.addf %s, %a : f32
      affine.store %t, %C[%i] : memref<26xf32>
    }
    affine.for %k = 0 to affine_map<(d0) -> (d0 * 1000)>(%i) {
      %b = affine.load %A[%k] : memref<32000xf32>
      affine.store %b, %D[%i] : memref<16xf32>
      affine.for %l = 0 to affine_map<(d0) -> (d0 - 2000)>(%k) {
        %s = affine.load %C[%i + 5] : memref<26xf32>
        %a = affine.load %A[%l] : memref<32000xf32>
        %t = arith.addf %s, %a : f32
        affine.store %t, %C[%i + 5] : memref<26xf32>
      }
    }
  }
  return
}
"""


def test_lanes_that_never_come_store_nothing_of_other_threads() -> None:
    function = loopwright.load(SHARED)["f"]
    schedule = "parallel{loops=i},vectorize{loops=i width=4}"
    kernels = [function.compile(threads=1), function.compile(schedule, threads=2)]
    numbers = np.random.default_rng(0).standard_normal(32000).astype(np.float32)
    expected, *others = ((np.zeros(26, np.float32), np.zeros(16, np.float32)) for _ in range(41))
    kernels[0](numbers, *expected)
    for found in others:
        kernels[1](numbers, *found)
        assert np.array_equal(found[0], expected[0])


# A bound that rounds, and is the same in all lanes of a vector at some places.
ROUNDED = """
HEAD {
  affine.for %i = 0 to 16 {
    affine.for %k = 0 to %m {
      affine.for %l = 0 to affine_map<(d0, d1) -> ((d0 + 2) floordiv 4 + d1)>(%i, %k) {
        %s = affine.load %B[%i] : memref<?xKIND>
        %a = affine.load %A[%k, %i] : memref<?x?xKIND>
        %t = OPERATION %s, %a : KIND
        affine.store %t, %B[%i] : memref<?xKIND>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("width", [2, 4, 8])
def test_bounds_that_round(width: int) -> None:
    function = loopwright.load(filled(ROUNDED, "f32"))["f"]
    kernels = [function.compile(threads=1), function.compile(f"vectorize{{loops=i width={width}}}")]
    numbers = np.random.default_rng(0).standard_normal((9, 16)).astype(np.float32)
    results = np.zeros((2, 16), np.float32)
    for kernel, result in zip(kernels, results, strict=True):
        kernel(16, 9, numbers, result)
    assert np.array_equal(results[0], results[1])
