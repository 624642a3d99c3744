"""Operands that are contiguous along a loop over products are copied for a line of products."""

from __future__ import annotations

import numpy as np
import pytest
from support.contractions import einsum
from support.machine_code import NUMPY_TYPES
from support.targets import NARROW, WIDE

from loopwright.passes.default.tensor_contraction import tensor_contraction
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule

EQUATIONS = (
    "dbka,kc->abcd",
    "kbad,dkc->abc",
    "dkga,gkfc->acdf",
    "gab,efgc->abcef",
    "dkca,bk->abcd",
)
"""Results in which vectors run along a subscript that is far from the operand's last one."""

EXTENTS = ({}, {"a": 17, "c": 3}, {"d": 33, "k": 50}, {"f": 5, "a": 40})


def schedule_of(
    equation: str, extents: dict[str, int], element: str, threads: int, target: Target | None = None
) -> Schedule | None:
    order = "".join(sorted(extents))
    function = einsum(equation, order, element)
    sizes = {f"n{name}": extents[name] for name in order}
    original = Schedule.original(function.scop, target)
    context = SchedulingContext(infer_extents(function.scop, sizes), threads)
    return tensor_contraction(original, original.tree, context)


def extents_of(equation: str, other: dict[str, int]) -> dict[str, int]:
    names = sorted({name for name in equation if name.isalpha()})
    return {name: other.get(name, 11 + k) for k, name in enumerate(names)}


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("other", EXTENTS)
@pytest.mark.parametrize(("element", "threads"), [("f32", 1), ("f64", 2)])
def test_results_are_those_of_the_program(
    equation: str, other: dict[str, int], element: str, threads: int
) -> None:
    extents = extents_of(equation, other)
    left, right, result = equation.replace("->", ",").split(",")
    function = einsum(equation, "".join(extents), element)
    schedule = schedule_of(equation, extents, element, threads)
    rng = np.random.default_rng(3)
    kind = NUMPY_TYPES[element]
    a, b, c = (
        rng.integers(-3, 4, [extents[x] for x in s]).astype(kind) for s in (left, right, result)
    )
    expected = c + np.einsum(equation, a, b)
    function.compile(str(schedule or ""), threads=threads)(*extents.values(), a, b, c)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("target", [WIDE, NARROW])
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_a_line_of_products_is_copied_together(target: Target, element: str) -> None:
    extents = {"a": 40, "b": 20, "c": 40, "d": 40, "k": 48}
    schedule = schedule_of("dbka,kc->abcd", extents, element, 1, target)
    line = 64 // int(element[1:]) * 8
    # The last subscript of the operand comes first in the copy, outside of its panels.
    assert f"tile{{loops=ia sizes={line}}}" in str(schedule)
    assert "array=A order=3,0,1,2" in str(schedule)


def test_products_that_share_the_copy_run_inside() -> None:
    # B is the streamed operand, and neither d nor e selects elements of it.
    extents = {"a": 14, "b": 14, "c": 14, "d": 14, "e": 14, "f": 14, "g": 24}
    schedule = schedule_of("dega,gfbc->abcdef", extents, "f32", 1, WIDE)
    assert "tile{loops=ic sizes=14}" in str(schedule)
    assert "ift,igt,ic,id,ie,iat,ia,if,ig" in str(schedule)


def test_rows_that_share_lines_are_computed_together() -> None:
    # Rows of 14 elements: those of the next e, with operands of its own, begin in the same lines.
    extents = {"a": 14, "b": 14, "c": 14, "d": 14, "e": 14, "f": 14, "g": 20}
    short = schedule_of("gdab,efgc->abcdef", extents, "f32", 1, WIDE)
    assert "=ict,ift,igt,ib,ic,id,ie," in str(short)
    long = schedule_of("gdab,efgc->abcdef", extents | {"f": 80, "a": 4}, "f32", 1, WIDE)
    assert "=ie,ict," in str(long)


def test_an_operand_that_is_contiguous_along_the_sum_has_no_line() -> None:
    extents = {"a": 40, "b": 20, "c": 40, "d": 40, "k": 48}
    schedule = schedule_of("dbak,kc->abcd", extents, "f32", 1, WIDE)
    assert "sizes=16}" not in str(schedule).split("pack")[0]
