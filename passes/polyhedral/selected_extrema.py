"""Extrema of floats by comparison: selections of the greater or the lesser of two numbers.

    %c = arith.cmpf ogt, %x, %m
    %r = arith.select %c, %x, %m

They differ from `arith.maximumf` and the like where a number is NaN, and in which of two zeros they
give: what is selected when the comparison does not hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS
from xdsl.ir import Operation, SSAValue

LEAST_VECTORS = 2
"""Vectors of numbers from which on they are accumulated in any order (`lowering.llvm`)."""

_MIRRORED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
_NEGATED = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt"}


@dataclass(frozen=True)
class SelectedExtremum:
    """A selection of `term` where it is greater than `other`, or less, and else of `other`.

    `takes_nan` says whether it gives the term where one of them is NaN, `takes_equal` where both
    are equal, as zeros of either sign are.
    """

    term: SSAValue
    other: SSAValue
    is_maximum: bool
    takes_nan: bool
    takes_equal: bool

    @property
    def symbol(self) -> str:
        """The comparison of the term with the other number that holds where the term is taken."""
        return (">" if self.is_maximum else "<") + ("=" if self.takes_equal else "")

    @property
    def neutral(self) -> float:
        """What changes no extremum of numbers."""
        return -math.inf if self.is_maximum else math.inf

    def is_like(self, other: SelectedExtremum) -> bool:
        """Whether both select in the same way."""
        return (
            self.is_maximum == other.is_maximum
            and self.takes_nan == other.takes_nan
            and self.takes_equal == other.takes_equal
        )


def selected_extremum(operation: Operation, other: SSAValue) -> SelectedExtremum | None:
    """What an operation selects, if it is the extremum of this operand and another one.

    Nothing else asks for the comparison.
    """
    if not isinstance(operation, arith.SelectOp):
        return None
    compared = operation.cond.owner
    if not isinstance(compared, arith.CmpfOp) or not compared.result.has_one_use():
        return None
    numbers = {operation.lhs, operation.rhs}
    if len(numbers) != 2 or numbers != {compared.lhs, compared.rhs} or other not in numbers:
        return None
    (term,) = numbers - {other}
    predicate = CMPF_COMPARISON_OPERATIONS[compared.predicate.value.data]
    relation, takes_nan = predicate[1:], predicate[0] == "u"
    if relation not in _MIRRORED:
        return None
    if compared.lhs is other:
        relation = _MIRRORED[relation]
    if operation.lhs is other:
        relation, takes_nan = _NEGATED[relation], not takes_nan
    return SelectedExtremum(term, other, relation[0] == "g", takes_nan, relation[1] == "e")
