"""Simplification of nests: dead code, decided conditions, redundant bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from .index_expression import Comparison, Condition, Connective, Index, conjuncts
from .nest import Block, Call, For, Guard, Nest, Once, TileSplit


def simplify(nest: Nest, assumptions: Sequence[Index]) -> Nest:
    """The nest where none of the facts is negative."""
    match nest:
        case For():
            body = simplify(nest.body, assumptions)
            if body == Block(()) or any(
                is_implied(low - high, assumptions) for low in nest.lower for high in nest.upper
            ):
                return Block(())
            lower = _tightest("max", nest.lower, assumptions)
            return replace(
                nest, lower=lower, upper=_tightest("min", nest.upper, assumptions), body=body
            )
        case Once():
            return replace(nest, body=simplify(nest.body, assumptions))
        case Block(parts):
            simple = [simplify(part, assumptions) for part in parts]
            return Block(tuple(part for part in simple if part != Block(())))
        case Guard(condition, then, otherwise):
            verdict = _verdict(condition, assumptions)
            if verdict is None:
                return Guard(
                    condition, simplify(then, assumptions), simplify(otherwise, assumptions)
                )
            return simplify(then if verdict else otherwise, assumptions)
        case TileSplit(condition, full, partial):
            verdict = _verdict(condition, assumptions)
            if verdict is True:
                return simplify(full, assumptions)
            return TileSplit(
                condition if verdict is None else Connective("any", ()),
                Block(()) if verdict is False else simplify(full, assumptions),
                simplify(partial, assumptions),
            )
        case Call():
            return nest


def is_implied(index: Index, assumptions: Sequence[Index], steps: int = 2) -> bool:
    """Whether the index is not negative: so many facts times positive numbers, plus some more."""
    if index.is_constant:
        return index.constant >= 0
    return steps > 0 and any(
        is_implied(rest, assumptions, steps - 1)
        for fact in assumptions
        if (rest := _without(index, fact)) is not None
    )


def _without(index: Index, fact: Index) -> Index | None:
    """The index less a multiple of the fact by which one of its terms disappears.

    Both may be multiplied by positive numbers before, which does not change a sign. None where the
    multiple is negative.
    """
    for atom, coefficient in fact.terms:
        own = next((c for a, c in index.terms if a == atom), 0)
        if own * coefficient > 0:
            return index * abs(coefficient) - fact * abs(own)
    return None


def _verdict(condition: Condition, assumptions: Sequence[Index]) -> bool | None:
    comparisons = conjuncts(condition)
    if comparisons is None:
        return None
    verdicts = [_compared(comparison, assumptions) for comparison in comparisons]
    if False in verdicts:
        return False
    return True if all(verdicts) else None


def _compared(comparison: Comparison, assumptions: Sequence[Index]) -> bool | None:
    left = comparison.left
    is_less = is_implied(-left - 1, assumptions)
    if comparison.kind == ">=":
        return True if is_implied(left, assumptions) else False if is_less else None
    return False if is_less or is_implied(left - 1, assumptions) else None


def _tightest(
    kind: Literal["max", "min"], bounds: Sequence[Index], assumptions: Sequence[Index]
) -> tuple[Index, ...]:
    """The bounds without those that another one is known to exceed."""
    kept = list(bounds)
    for bound in bounds:
        others = [other for other in kept if other is not bound]
        if any(is_implied(o - bound if kind == "max" else bound - o, assumptions) for o in others):
            kept = others
    return tuple(kept)
