"""Buffers copy out what is live: random programs that overwrite arrays, in several nests."""

from __future__ import annotations

import random

import numpy as np
import pytest

import loopwright
from loopwright.passes.schedules.errors import TransformationError
from loopwright.passes.transformations.pack import Pack
from loopwright.runtime.program import Function

ARRAYS = "pqu"
MEMREF = "memref<?x?xf64>"


def random_program(source: random.Random) -> str:
    """A time loop around nests that write and read rows of three arrays, one of them local."""
    local = source.choice("pq ")
    given = [name for name in ARRAYS if name != local]
    arguments = ", ".join(f"%{name}: {MEMREF}" for name in given)
    lines = [f"func.func @f(%steps: index, %n: index, {arguments}) {{"]
    if local != " ":
        lines.append(f"%{local} = memref.alloc(%n, %n) : {MEMREF}")
        lines += _nest(source, 99, local, reads=False)
    lines.append("affine.for %t = 0 to %steps {")
    for number in range(source.randint(2, 4)):
        lines += _nest(source, number, source.choice(ARRAYS), reads=True)
    return "\n".join([*lines, "}", "return", "}"])


def _nest(source: random.Random, number: int, target: str, *, reads: bool) -> list[str]:
    low = source.randint(0, 1) if reads else 0
    i, j = f"%i{number}", f"%j{number}"
    lines = [f"affine.for {i} = {low} to %n {{"]
    lines.append(f"affine.for {j} = 1 to %n {{" if reads else f"affine.for {j} = 0 to %n {{")
    value = f"%c{number}"
    lines.append(f"{value} = arith.constant {number}.5 : f64")
    for term in range(source.randint(1, 3) if reads else 0):
        row = source.choice((i, i, i, f"{i} - {low}"))
        column = source.choice((j, f"{j} - 1", f"{j} - 1"))
        loaded, total = f"%x{number}_{term}", f"%y{number}_{term}"
        array = source.choice(ARRAYS)
        lines.append(f"{loaded} = affine.load %{array}[{row}, {column}] : {MEMREF}")
        lines.append(f"{total} = arith.addf {value}, {loaded} : f64")
        value = total
    column = j if source.random() < 0.7 or not reads else f"{j} - 1"
    return [*lines, f"affine.store {value}, %{target}[{i}, {column}] : {MEMREF}", "}", "}"]


def packed(function: Function, source: random.Random) -> str:
    """One or two buffers at random loops, as far as they are legal."""
    schedule = function.schedule("")
    for _ in range(2):
        loops = [f"{s.name}.{loop}" for s in schedule.scop.statements for loop in s.loops]
        step = Pack((source.choice(loops),), source.choice(ARRAYS), source.choice(((), (1, 0))))
        try:
            schedule = schedule.apply(step)
        except TransformationError:
            continue
    return str(schedule)


@pytest.mark.parametrize("seed", range(16))
def test_random_programs(seed: int) -> None:
    source = random.Random(seed)
    function = loopwright.load(random_program(source))["f"]
    schedule = packed(function, source)
    rng = np.random.default_rng(seed)
    count = sum(not array.is_local for array in function.scop.arrays)
    for steps, n in ((3, 6), (1, 2), (0, 4)):
        arrays = [rng.random((n, n)) for _ in range(count)]
        copies = [array.copy() for array in arrays]
        function.compile(None)(steps, n, *arrays)
        kernel = function.compile(schedule, threads=1, verify=True)
        kernel(steps, n, *copies)
        assert kernel.verdict is not None and "violat" not in str(kernel.verdict)
        for wanted, found in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(found, wanted)
