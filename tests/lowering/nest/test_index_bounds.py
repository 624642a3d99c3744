"""What the bounds of loops alone say about indices is true, and is enough for usual subscripts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import pytest

from loopwright.lowering.nest.index_bounds import decided, is_never_negative, ranges_of
from loopwright.lowering.nest.index_expression import (
    Atom,
    Choice,
    Comparison,
    Condition,
    Connective,
    Extremum,
    Index,
    Quotient,
    Variable,
    maximum,
)
from loopwright.lowering.nest.index_sets import IslText
from loopwright.lowering.nest.nest import Block, For
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop

VARIABLES = (0, 1, 2)


def loop(variable: int, lower: Sequence[Index], upper: Sequence[Index], step: int = 1) -> For:
    made = Loop(f"l{variable}", {}, Leaf("S"))
    return For(made, variable, tuple(lower), tuple(upper), step, Block(()))


def value(index: Index, values: Mapping[int, int]) -> int:
    return index.constant + sum(factor * _atom(atom, values) for atom, factor in index.terms)


def _atom(atom: Atom, values: Mapping[int, int]) -> int:
    match atom:
        case Variable(number):
            return values[number]
        case Quotient(numerator, divisor):
            return value(numerator, values) // divisor
        case Extremum(kind, operands):
            return (max if kind == "max" else min)(value(each, values) for each in operands)
        case Choice(condition, then, otherwise):
            return value(then if truth(condition, values) else otherwise, values)


def points(loops: Sequence[For], values: Mapping[int, int]) -> Iterator[Mapping[int, int]]:
    """All values of the variables in the body of the loops."""
    if not loops:
        yield values
        return
    first, *rest = loops
    begin = max(value(bound, values) for bound in first.lower)
    end = min(value(bound, values) for bound in first.upper)
    for each in range(begin, end, first.step):
        yield from points(rest, {**values, first.variable: each})


def random_index(source: random.Random, variables: Sequence[int], depth: int = 2) -> Index:
    result = Index(source.randint(-6, 6))
    for number in variables:
        if source.random() < 0.5:
            result = result + Index.variable(number) * source.choice((-8, -4, -2, -1, 1, 1, 2, 4))
    if depth and source.random() < 0.6:
        inner = random_index(source, variables, depth - 1)
        divisor = source.choice((2, 3, 4))
        result = result + (inner // divisor) * source.choice((-divisor, -1, 1, divisor))
    if depth and source.random() < 0.2:
        operands = [random_index(source, variables, depth - 1) for _ in range(2)]
        result = result + maximum(operands) * source.choice((-1, 1))
    if depth and source.random() < 0.1:
        parts = [random_index(source, variables, depth - 1) for _ in range(3)]
        result = result + Index.of(Choice(Comparison(">=", parts[0]), parts[1], parts[2]))
    return result


def truth(condition: Condition, values: Mapping[int, int]) -> bool:
    match condition:
        case Comparison(kind, left):
            tested = value(left, values)
            return tested >= 0 if kind == ">=" else tested == 0
        case Connective(kind, operands):
            return (all if kind == "all" else any)(truth(each, values) for each in operands)


def random_conditions(source: random.Random, depth: int = 2) -> list[Condition]:
    result: list[Condition] = []
    for _ in range(source.randint(0, 2)):
        if depth and source.random() < 0.3:
            operands = tuple(random_conditions(source, depth - 1))
            result.append(Connective(source.choice(("all", "any")), operands))
        else:
            left = random_index(source, VARIABLES, 1)
            result.append(Comparison(source.choice((">=", ">=", "==")), left))
    return result


def random_loops(source: random.Random) -> list[For]:
    result: list[For] = []
    for number in VARIABLES:
        before = VARIABLES[:number]
        lower = random_index(source, before, 1)
        upper = [lower + source.randint(1, 6)]
        if source.random() < 0.5:
            upper.append(random_index(source, before, 1))
        result.append(loop(number, [lower], upper, source.choice((1, 1, 2))))
    return result


@pytest.mark.parametrize("seed", range(300))
def test_what_is_never_negative_is_not(seed: int) -> None:
    source = random.Random(seed)
    loops = random_loops(source)
    for _ in range(20):
        index = random_index(source, VARIABLES)
        met, failed = random_conditions(source), random_conditions(source)
        if is_never_negative(index, ranges_of(loops, met, failed)):
            for values in points(loops, {}):
                is_there = all(truth(each, values) for each in met)
                if is_there and not any(truth(each, values) for each in failed):
                    assert value(index, values) >= 0, (index, values)


@pytest.mark.parametrize("seed", range(60))
def test_isl_reads_indices_as_they_are_meant(seed: int) -> None:
    source = random.Random(seed)
    index = random_index(source, VARIABLES)
    found = {number: source.randint(-9, 9) for number in VARIABLES}
    fixed = [Comparison("==", Index.variable(n) - x) for n, x in found.items()]
    for difference, is_empty in ((0, False), (1, True)):
        text = IslText()
        claim = Comparison("==", index - value(index, found) - difference)
        conditions = [text.condition(condition) for condition in (claim, *fixed)]
        assert text.set_where(conditions).is_empty() is is_empty


def test_subscripts_of_packed_panels_need_no_isl() -> None:
    tile, inside = Index.variable(0), Index.variable(1)
    loops = [
        loop(0, [Index()], [Index(100)]),
        loop(1, [tile * 64], [tile * 64 + 64, Index(6399)]),
    ]
    ranges = ranges_of(loops, (), ())
    panel, lane = inside // 8 - tile * 8, inside % 8
    for subscript, extent in ((panel, 8), (lane, 8), (inside - tile * 64, 64)):
        assert is_never_negative(subscript, ranges)
        assert is_never_negative(-subscript + (extent - 1), ranges)
        assert not is_never_negative(subscript - 1, ranges)
        assert not is_never_negative(-subscript + (extent - 2), ranges)


def test_conditions_and_loops_that_run_narrow_ranges() -> None:
    outer, inner, value = (Index.variable(number) for number in VARIABLES)
    loops = [loop(0, [Index()], [Index(3)]), loop(1, [outer * 4], [Index(11)])]
    last = Comparison("==", outer - 2)
    assert is_never_negative(inner - 8, ranges_of(loops, [last], ()))
    assert not is_never_negative(inner - 8, ranges_of(loops, (), [last]))
    assert is_never_negative(-inner + 7, ranges_of(loops, (), [Comparison(">=", inner - 8)]))
    # the loop of variable 2 has an iteration only where the one around it is past its first
    loops = [*loops, loop(2, [outer * 4], [inner])]
    assert is_never_negative(inner - outer * 4 - 1, ranges_of(loops, (), ()))
    assert is_never_negative(inner - value - 1, ranges_of(loops, (), ()))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Comparison(">=", Index.variable(0) - 1), True),
        (Comparison(">=", Index.variable(0) - 2), None),
        (Comparison(">=", Index.variable(0) * -1 + 9), True),
        (Comparison(">=", Index.variable(0) * -1), False),
        (Comparison("==", Index.variable(0)), False),
        (Comparison("==", Index.variable(0) - 10), False),
        (Comparison("==", Index.variable(0) - 9), None),
        (Connective("all", (Comparison("==", Index.variable(0)),)), False),
        (Connective("any", (Comparison(">=", Index.variable(0)),)), None),
    ],
)
def test_which_conditions_bounds_decide(condition: Condition, expected: bool | None) -> None:
    """From 1 on, below 10."""
    assert decided(condition, ranges_of([loop(0, [Index(1)], [Index(10)])], (), ())) is expected
