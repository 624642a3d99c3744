"""Operations whose operands may be combined in any order: exact ones, and with fast math others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.arith import IntegerOverflowAttr
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from ..reduction_steps import COMBINES
from ..reductions import INEXACT
from .terms import Apply, Term

Combination = tuple[str, Attribute]
"""An operation that combines many operands, and their type; differences are sums."""

_NEUTRAL = {"addi": 0, "addf": 0, "muli": 1, "mulf": 1}


@dataclass(frozen=True)
class Reassociation:
    """What may be reassociated; floating-point sums and products only with fast math."""

    fast_math: bool = False

    def combination(self, term: Term) -> Combination | None:
        """What a term combines, if it may do so in any order."""
        if not isinstance(term, Apply):
            return None
        name = self.name(term.name, term.properties)
        return None if name is None else (name, term.type)

    def name(self, operation: str, properties: frozenset[tuple[str, Attribute]]) -> str | None:
        """The combination that an operation of this name is part of."""
        flags = dict(properties).get("overflowFlags")
        if isinstance(flags, IntegerOverflowAttr) and flags.data:
            return None  # in another order, it may overflow
        name = COMBINES.get(operation)
        return name if self.fast_math or name not in INEXACT else None


def operands(
    term: Term, combination: Combination, rules: Reassociation
) -> Iterator[tuple[Term, int]]:
    """What a term combines within its statement, each with its sign: 1, or -1 in a sum."""
    waiting = [(term, 1)]
    while waiting:
        each, sign = waiting.pop()
        if isinstance(each, Apply) and rules.combination(each) == combination:
            left, right = each.operands
            waiting.append((right, -sign if each.name.startswith("arith.sub") else sign))
            waiting.append((left, sign))
        else:
            yield each, sign


def is_neutral(value: object, name: str) -> bool:
    """Whether a constant changes no combination of this name; the sign of zero does not count."""
    return name in _NEUTRAL and value == _NEUTRAL[name]


def constant(term: Term) -> object:
    """The value of a constant; None for other terms."""
    if not isinstance(term, Apply) or term.name != "arith.constant":
        return None
    value = dict(term.properties).get("value")
    return value.value.data if isinstance(value, FloatAttr | IntegerAttr) else None
