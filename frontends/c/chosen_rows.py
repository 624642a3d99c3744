"""Delinearisation of subscripts that conditions or data choose: `A[y * w + (x < 0 ? 0 : x)]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..text.affine import Affine, Index
from ..text.affine import Name as Size
from ..text.conditions import negation, tests_data
from ..text.emitter import NotAffine
from .alternatives import implied
from .c_types import IntegerType
from .conditions import Conditions
from .counted_loops import mapped
from .evaluator import Evaluator
from .numbers import is_signed
from .tree import Binary, Call, Cast, Conditional, Expression, Name, Unary, widened
from .values import index_of
from .variables import Variable, Variables

_ONE = Affine(constant=1)


class ChosenRows:
    """Finds rows and columns of elements whose position is not affine in loop variables and sizes.

    The column is proved to lie in its row; the row may be any, also one that data tells.
    `definitions` has what local variables are, which are assigned once.
    """

    def __init__(
        self, expressions: Evaluator, conditions: Conditions, variables: Variables
    ) -> None:
        self.expressions = expressions
        self.conditions = conditions
        self.variables = variables
        self.definitions: dict[Variable, Expression] = {}

    def split(self, index: Expression) -> tuple[Size, list[Expression]] | None:
        """The length of rows, and the row and column of the element at a position.

        None where there is no such length, or the element may be in another row.
        """
        terms = list(_terms(index))
        if not terms or not all(is_signed(each) for _, each in terms):
            return None
        found: set[Size] = set()
        rows: list[tuple[str, Expression]] = []
        columns: list[tuple[str, Expression]] = []
        for sign, term in terms:
            factors = self._factors(term)
            if factors is None:
                columns.append((sign, term))
            else:
                found.add(factors[0])
                rows.append((sign, factors[1]))
        if len(found) != 1 or not columns:
            return None
        (size,) = found
        last = Affine.of(size).plus(_ONE, -1)
        row, column = _sum(rows), _sum(columns)
        return (size, [row, column]) if self._is_within(column, Affine(), last) else None

    def _factors(self, term: Expression) -> tuple[Size, Expression] | None:
        """A size and what is multiplied with it."""
        while isinstance(term, Cast) and _keeps(term):
            term = term.operand
        if not isinstance(term, Binary) or term.operator != "*" or not is_signed(term):
            return None
        for size, other in ((term.left, term.right), (term.right, term.left)):
            found = self._affine(size)
            names = [] if found is None else list(found.names())
            if len(names) == 1 and names[0].symbol and found == Affine.of(names[0]):
                return names[0], other
        return None

    def _affine(self, node: Expression) -> Affine | None:
        index = self._index(node)
        return None if index is None else index.affine

    def _index(self, node: Expression) -> Index | None:
        found = self.expressions.static(node)
        return None if found is None else index_of(found)

    def _is_within(self, node: Expression, low: Affine, high: Affine) -> bool:
        """Whether an integer is always between two others, where it is computed."""
        index = self._index(node)
        if index is not None:
            above = [self._holds(each.plus(low, -1)) for each in index.parts]
            below = [self._holds(high.plus(each, -1)) for each in index.parts]
            if index.kind == "min":
                return all(above) and any(below)
            return any(above) and all(below)
        if isinstance(node, Cast) and _keeps(node):
            return self._is_within(node.operand, low, high)
        if isinstance(node, Name):
            variable = self.variables.of.get(node)
            defined = None if variable is None else self.definitions.get(variable)
            return defined is not None and self._is_within(defined, low, high)
        if isinstance(node, Conditional):
            return self._are_within(node, low, high)
        if isinstance(node, Call) and node.inlined is not None and not node.variables:
            given = dict(zip(node.parameters, node.arguments, strict=True))

            def argument(each: Expression) -> Expression:
                found = given.get(each.symbol) if isinstance(each, Name) else None
                return each if found is None else Cast(each.place, each.type, found, explicit=False)

            return self._is_within(mapped(node.inlined, argument), low, high)
        if isinstance(node, Binary) and node.operator in ("+", "-") and is_signed(node):
            moved = self._affine(node.right)
            if moved is not None:
                factor = -1 if node.operator == "+" else 1
                ends = (each.plus(moved, factor) for each in (low, high))
                return self._is_within(node.left, *ends)
            moved = self._affine(node.left) if node.operator == "+" else None
            if moved is not None:
                ends = (each.plus(moved, -1) for each in (low, high))
                return self._is_within(node.right, *ends)
        return False

    def _are_within(self, node: Conditional, low: Affine, high: Affine) -> bool:
        """Both branches, each where it is taken."""
        domain = self.expressions.domain
        taken: list[Affine] = []
        other: list[Affine] = []
        with suppress(NotAffine), self.expressions.emitter.affine_only():
            condition = self.conditions.condition(node.test)
            if not tests_data(condition):
                taken, other = (implied(each, domain) for each in (condition, negation(condition)))
        with domain.inside(taken):
            if not self._is_within(node.one, low, high):
                return False
        with domain.inside(other):
            return self._is_within(node.other, low, high)

    def _holds(self, expression: Affine) -> bool:
        return self.expressions.domain.holds(expression, assume=False)


def _terms(node: Expression, sign: str = "+") -> Iterator[tuple[str, Expression]]:
    """The terms of a sum."""
    if isinstance(node, Cast) and _keeps(node):
        yield from _terms(node.operand, sign)
    elif isinstance(node, Binary) and node.operator in ("+", "-") and is_signed(node):
        yield from _terms(node.left, sign)
        yield from _terms(node.right, sign if node.operator == "+" else _OPPOSITE[sign])
    else:
        yield sign, node


_OPPOSITE = {"+": "-", "-": "+"}


def _sum(terms: Sequence[tuple[str, Expression]]) -> Expression:
    """A sum in the type of subscripts, which it fits; one term as it is."""
    (sign, first), *rest = terms
    if not rest and sign == "+":
        return first
    result = widened(first)
    if sign == "-":
        result = Unary(first.place, result.type, "-", result)
    for operator, term in rest:
        result = Binary(term.place, result.type, operator, result, widened(term))
    return result


def _keeps(node: Cast) -> bool:
    """Whether a conversion keeps all values of a signed integer."""
    source, target = node.operand.type, node.type
    if not isinstance(source, IntegerType) or not isinstance(target, IntegerType):
        return False
    return source.signed and target.has_all_of(source)
