"""Contractions whose terms read several operands along the vectors, and cousins of these."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.multi_operand_contraction import multi_operand_contraction
from loopwright.passes.default.tensor_contraction import tensor_contraction
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

ORDERS = ["".join(order) for order in permutations("ijk")]

EXTENTS = [(37, 70, 53), (9, 17, 2), (64, 64, 64), (1, 40, 8), (130, 5, 33)]


def planar(order: str, element: str, *, transposed: bool = False, sign: str = "subf") -> Function:
    """C[i, j] += A[i, k] * B[k, j] - D[i, k] * E[k, j], in any order; B perhaps as B[j, k]."""
    kind = f"memref<?x?x{element}>"
    lines = [
        f"func.func @f({', '.join(f'%n{x}: index' for x in 'ijk')}, "
        f"{', '.join(f'%{a}: {kind}' for a in 'ABDEC')}) {{",
        *(f"affine.for %{x} = 0 to %n{x} {{" for x in order),
        f"%c = affine.load %C[%i, %j] : {kind}",
        f"%a = affine.load %A[%i, %k] : {kind}",
        f"%b = affine.load %B[{'%j, %k' if transposed else '%k, %j'}] : {kind}",
        f"%d = affine.load %D[%i, %k] : {kind}",
        f"%e = affine.load %E[%k, %j] : {kind}",
        f"%p = arith.mulf %a, %b : {element}",
        f"%q = arith.mulf %d, %e : {element}",
        f"%t = arith.{sign} %p, %q : {element}",
        f"%s = arith.addf %c, %t : {element}",
        f"affine.store %s, %C[%i, %j] : {kind}",
        *["}"] * 3,
        "return",
        "}",
    ]
    return loopwright.load("\n".join(lines))["f"]


def scheduled(
    function: Function, sizes: Mapping[str, int], threads: int, target: Target | None = None
) -> Schedule | None:
    original = Schedule.original(function.scop, target)
    known = infer_extents(function.scop, sizes)
    return multi_operand_contraction(original, original.tree, SchedulingContext(known, threads))


def check(
    function: Function, extents: tuple[int, ...], element: str, schedule: str, threads: int,
    *, transposed: bool = False,
) -> None:  # fmt: skip
    """The same bits as from the program as written."""
    rows, columns, inner = extents
    shapes = [(rows, inner), (columns, inner) if transposed else (inner, columns)]
    shapes += [(rows, inner), (inner, columns), (rows, columns)]
    results: list[np.ndarray] = []
    for text in ("", schedule):
        rng = np.random.default_rng(3)
        arrays = [rng.standard_normal(shape).astype(NUMPY_TYPES[element]) for shape in shapes]
        kernel = function.compile(text, threads=threads, verify=True)
        kernel(*extents, *arrays)
        results.append(arrays[-1])
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize(("number", "order"), tuple(enumerate(ORDERS)))
def test_planes_of_complex_matrices(number: int, order: str) -> None:
    element, transposed = ("f32", "f64")[number % 2], number % 3 == 1
    function = planar(order, element, transposed=transposed, sign=("subf", "addf")[number // 3])
    extents = EXTENTS[number % len(EXTENTS)]
    sizes: dict[str, int] = {f"n{x}": extent for x, extent in zip("ijk", extents, strict=True)}
    threads = 1 + number % 2
    schedule = scheduled(function, sizes, threads)
    if extents[0] > 16 and extents[1] > 16:
        assert schedule is not None
        assert "unroll{loops=i,j},vectorize{loops=j" in str(schedule)
    check(function, extents, element, str(schedule or ""), threads, transposed=transposed)


@pytest.mark.parametrize("target", ["zen3", "zen4"])
def test_the_default(target: str) -> None:
    function = planar("ijk", "f64")
    known = infer_extents(function.scop, dict.fromkeys(("ni", "nj", "nk"), 192))
    for reassociate in (False, True):
        schedule = default_schedule(
            function.scop, known, Target.named(target), threads=2, reassociate=reassociate
        )
        assert schedule == multi_operand_contraction(
            Schedule.original(function.scop, Target.named(target), reassociate=reassociate),
            schedule.original(function.scop).tree,
            SchedulingContext(known, 2),
        )


def test_other_strategies_leave_them_alone() -> None:
    """`tensor_contraction` has room for one operand along the vectors."""
    function = planar("ijk", "f64")
    original = Schedule.original(function.scop)
    known = infer_extents(function.scop, dict.fromkeys(("ni", "nj", "nk"), 64))
    assert tensor_contraction(original, original.tree, SchedulingContext(known, 1)) is None


def gradient(rank: int) -> Function:
    """G[i, q] += E[i, j, k] * B[j, q] * C[k, q]: a term has rows of two factors."""
    return loopwright.load(f"""
func.func @f(%n: index, %E: memref<?x?x?xf64>, %B: memref<?x{rank}xf64>, %C: memref<?x{rank}xf64>,
             %G: memref<?x{rank}xf64>) {{
  affine.for %i = 0 to %n {{
    affine.for %j = 0 to %n {{
      affine.for %k = 0 to %n {{
        affine.for %q = 0 to {rank} {{
          %g = affine.load %G[%i, %q] : memref<?x{rank}xf64>
          %e = affine.load %E[%i, %j, %k] : memref<?x?x?xf64>
          %b = affine.load %B[%j, %q] : memref<?x{rank}xf64>
          %c = affine.load %C[%k, %q] : memref<?x{rank}xf64>
          %p = arith.mulf %e, %b : f64
          %t = arith.mulf %p, %c : f64
          %s = arith.addf %g, %t : f64
          affine.store %s, %G[%i, %q] : memref<?x{rank}xf64>
        }}
      }}
    }}
  }}
  return
}}""")["f"]


@pytest.mark.parametrize("rank", [13, 16, 24])
@pytest.mark.parametrize("threads", [1, 2])
def test_gradients_of_factorisations(rank: int, threads: int) -> None:
    function = gradient(rank)
    schedule = scheduled(function, {"n": 21}, threads)
    assert schedule is not None
    results: list[np.ndarray] = []
    for text in ("", str(schedule)):
        rng = np.random.default_rng(5)
        shapes = [(21, 21, 21), (21, rank), (21, rank), (21, rank)]
        arrays = [rng.standard_normal(shape) for shape in shapes]
        function.compile(text, threads=threads, verify=True)(21, *arrays)
        results.append(arrays[-1])
    np.testing.assert_array_equal(results[0], results[1])
