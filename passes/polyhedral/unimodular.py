"""Total unimodularity of accesses: where dataflow analysis needs no integer division.

Dataflow analysis asks for the last instance of a statement that accesses what a later instance
does: a parametric integer program in the induction variables of the statement. If each constraint
has at most two of these, with coefficients 1 and -1 once some of them have been negated, the matrix
is totally unimodular (Heller and Tompkins, 1956): every vertex is integral for all values of the
parameters, and so the solution has neither cuts nor integer divisions.

    for i, j: A[n - i][i - j] = ...              unimodular
    for i step 2: A[i] = ...                     not: i = 2 * floor(i / 2)
    for i, j: A[i + j][i - j] = ...              not: the subscripts determine 2 * i
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import islpy as isl
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineSymExpr

from .linear_terms import linear_terms
from .schedule_tree import Tree, leaves
from .scop import Array, Scop, Statement

Row = Sequence[tuple[int, int]]
"""A constraint: the induction variables in it, by position, with their coefficients."""


class _DivisionError(Exception):
    """A constraint contains an integer division."""


@dataclass
class UnimodularStatements:
    """Whether all statements that access an array are unimodular, by array."""

    scop: Scop
    _bounds: dict[str, bool | list[Row]] = field(
        default_factory=dict[str, "bool | list[Row]"], init=False
    )

    def have(self, array: Array, order: Tree) -> bool:
        """Whether they are for an array; `order` has the statements that access it."""
        try:
            for leaf, around in leaves(order):
                statement = self.scop.statement(leaf.statement)
                rows = [*self._of_domain(statement), *_subscripts(statement, array)]
                values = [_row(loop.schedule[leaf.statement], isl.dim_type.in_) for loop in around]
                if not _is_network([*rows, *values]) or any(len(row) > 1 for row in values):
                    return False
        except _DivisionError:
            return False
        return True

    def _of_domain(self, statement: Statement) -> list[Row]:
        rows = self._bounds.get(statement.name)
        if rows is None:
            try:
                rows = list(_bounds(statement))
            except _DivisionError:
                rows = False
            self._bounds[statement.name] = rows
        if isinstance(rows, bool):
            raise _DivisionError
        return rows


def _is_network(rows: Iterable[Row]) -> bool:
    """Whether each row has coefficients 1 and -1 alone once some variables have been negated."""
    signs: dict[int, tuple[int, int]] = {}

    def root(variable: int) -> tuple[int, int]:
        sign = 1
        while variable in signs:
            variable, relative = signs[variable]
            sign *= relative
        return variable, sign

    for row in rows:
        if len(row) > 2 or any(abs(coefficient) != 1 for _, coefficient in row):
            return False
        if len(row) == 2:
            (first, first_sign), (second, second_sign) = (root(variable) for variable, _ in row)
            product = -row[0][1] * row[1][1] * first_sign * second_sign
            if first != second:
                signs[first] = second, product
            elif product < 0:
                return False
    return True


def _bounds(statement: Statement) -> Iterator[Row]:
    for part in statement.domain.get_basic_sets():
        if part.dim(isl.dim_type.div):
            raise _DivisionError
        for constraint in part.get_constraints():
            yield _row(constraint, isl.dim_type.set)


def _row(expression: isl.Constraint | isl.Aff, kind: isl.dim_type) -> Row:
    if expression.dim(isl.dim_type.div):
        raise _DivisionError
    return [
        (position, coefficient)
        for position in range(expression.dim(kind))
        if (coefficient := expression.get_coefficient_val(kind, position).to_python())
    ]


def _subscripts(statement: Statement, array: Array) -> Iterator[Row]:
    for access in statement.accesses:
        if access.array is array:
            for subscript in access.map.results:
                yield list(_variables(subscript))


def _variables(subscript: AffineExpr) -> Iterator[tuple[int, int]]:
    terms, _ = linear_terms(subscript)
    for term, coefficient in terms.items():
        if isinstance(term, AffineDimExpr):
            yield term.position, coefficient
        elif not isinstance(term, AffineSymExpr):
            raise _DivisionError
