"""Index arithmetic agrees with integer arithmetic."""

from collections.abc import Callable
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from loopwright.lowering.nest.index_expression import (
    Atom,
    Choice,
    Comparison,
    Connective,
    Extremum,
    Index,
    Quotient,
    Variable,
    choice,
    conjuncts,
    decide,
    linear_form,
    maximum,
    minimum,
    without_quotient,
)

VALUES = st.lists(st.integers(-50, 50), min_size=3, max_size=3)


def evaluate(index: Index, values: list[int]) -> int:
    return index.constant + sum(c * evaluate_atom(a, values) for a, c in index.terms)


def evaluate_atom(atom: Atom, values: list[int]) -> int:
    match atom:
        case Variable(number):
            return values[number]
        case Quotient(numerator, divisor):
            return evaluate(numerator, values) // divisor
        case Extremum(kind, operands):
            pick: Callable[[list[int]], int] = max if kind == "max" else min
            return pick([evaluate(operand, values) for operand in operands])
        case Choice(condition, then, otherwise):
            return evaluate(then if holds(condition, values) else otherwise, values)


def holds(condition: Comparison | Connective, values: list[int]) -> bool:
    match condition:
        case Comparison(kind, left):
            value = evaluate(left, values)
            return value >= 0 if kind == ">=" else value == 0
        case Connective(kind, operands):
            verdicts = [holds(operand, values) for operand in operands]
            return all(verdicts) if kind == "all" else any(verdicts)


@st.composite
def indices(draw: st.DrawFn, depth: int = 3) -> tuple[Index, Callable[[list[int]], int]]:
    """A random index and what it is meant to compute."""
    if depth == 0:
        number = draw(st.integers(0, 3))
        if number == 3:
            value = draw(st.integers(-9, 9))
            return Index(value), lambda _: value
        return Index.variable(number), lambda values: values[number]
    a, f = draw(indices(depth - 1))
    b, g = draw(indices(depth - 1))
    k = draw(st.integers(1, 7))
    condition = Comparison(">=", a)
    return draw(
        st.sampled_from(
            [
                (a + b, lambda v: f(v) + g(v)),
                (a - b, lambda v: f(v) - g(v)),
                (a * -k, lambda v: f(v) * -k),
                (a // k, lambda v: f(v) // k),
                (a % k, lambda v: f(v) % k),
                (maximum([a, b, a + k]), lambda v: max(f(v) + k, g(v))),
                (minimum([a, b]), lambda v: min(f(v), g(v))),
                (choice(condition, a, b), lambda v: f(v) if f(v) >= 0 else g(v)),
            ]
        )
    )


@given(indices(), VALUES)
def test_operations_compute_what_they_say(
    built: tuple[Index, Callable[[list[int]], int]], values: list[int]
) -> None:
    index, meant = built
    assert evaluate(index, values) == meant(values)


@given(indices(), indices(), VALUES, st.integers(0, 2))
def test_substitution_is_evaluation_in_two_steps(
    outer: tuple[Index, Callable[[list[int]], int]],
    inner: tuple[Index, Callable[[list[int]], int]],
    values: list[int],
    number: int,
) -> None:
    replaced = outer[0].substitute({number: inner[0]})
    changed = list(values)
    changed[number] = inner[1](values)
    assert evaluate(replaced, values) == outer[1](changed)


@given(indices(), VALUES, st.integers(-5, 5))
def test_a_coefficient_is_the_slope(
    built: tuple[Index, Callable[[list[int]], int]], values: list[int], step: int
) -> None:
    slope = built[0].coefficient(1)
    if slope is not None:
        moved = [values[0], values[1] + step, values[2]]
        assert built[1](moved) - built[1](values) == slope * step


@given(indices(), VALUES, st.integers(1, 8))
def test_an_index_along_a_variable_is_its_start_and_steps(
    built: tuple[Index, Callable[[list[int]], int]], values: list[int], count: int
) -> None:
    located = built[0].along(1, count)
    if located is not None:
        first, step = located
        assert not first.depends_on(1)
        for lane in range(count):
            assert evaluate(first, values) + step * lane == built[1]([values[0], lane, values[2]])


def test_a_slope_counts_quotients_in_the_long_run() -> None:
    i, j = Index.variable(0), Index.variable(1)
    assert (i * 3 - j + 5).slope(0) == 3
    assert ((i + j) % 2).slope(0) == 0
    assert ((i * 2 + j) // 4).slope(0) == Fraction(1, 2)
    assert (i - (i // 8) * 8 + j).slope(1) == 1
    assert maximum([i, j]).slope(0) is None
    assert maximum([i, j]).slope(2) == 0


def test_sums_are_equal_in_any_order() -> None:
    i, j = Index.variable(0), Index.variable(1)
    assert i + j == j + i
    assert hash(i + j) == hash(j + i)
    assert (i + j) - i == j
    assert (i * 32 + 31) // 32 == i
    assert (i * 4 + j) // 4 == i + j // 4
    assert (i * 2 + 1) // 8 == i // 4
    assert (i * 6 + j * 4 + 3) // 10 == (i * 3 + j * 2 + 1) // 5


def test_conditions_fold() -> None:
    i = Index.variable(0)
    open_question = Comparison(">=", i)
    assert decide(Comparison("==", i - i)) is True
    assert decide(Connective("any", (open_question, Comparison(">=", Index(0))))) is True
    assert decide(Connective("all", (open_question, Comparison(">=", Index(-1))))) is False
    assert decide(open_question) is None
    assert conjuncts(Connective("any", (open_question,))) is None
    assert conjuncts(Connective("all", (open_question, open_question))) == (open_question,) * 2


@given(VALUES, st.integers(1, 9))
def test_affine_expressions_go_both_ways(values: list[int], divisor: int) -> None:
    d0, s0 = AffineExpr.dimension(0), AffineExpr.symbol(0)
    expression = (d0 * 3 + s0 - 5).ceil_div(divisor) + (d0 - s0) % divisor - s0 // divisor
    index = linear_form(expression, 1)
    assert evaluate(index, values) == expression.eval([values[0]], [values[1]])
    back = index.to_affine(lambda number: number)
    assert back.eval(values, []) == evaluate(index, values)


def test_a_condition_without_its_quotient_holds_for_the_same_values() -> None:
    number = Index.variable(0)
    for sign in (1, -1):
        for constant in (-3, 0, 4):
            index = ((number + 5) // 3) * sign + number * -2 + constant
            linear = without_quotient(index)
            assert linear.coefficient(0) is not None
            for value in range(-20, 20):
                at = {0: Index(value)}
                negative = index.substitute(at).constant < 0
                assert negative == (linear.substitute(at).constant < 0)
