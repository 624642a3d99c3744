"""Alternatives of affine conditions, of which those are left out that never hold at their place."""

from __future__ import annotations

from ..text.affine import Affine
from ..text.conditions import Condition, Fixed, Relation, alternatives
from .domain import Domain

Alternative = tuple[Relation, ...]


def possible(condition: Condition, domain: Domain) -> list[Alternative] | None:
    """The alternatives that the loops and conditions around do not exclude; None for too many.

    `x != 0` with 0 <= x   ->   `x >= 1`
    """
    found = [] if isinstance(condition, Fixed) else alternatives(condition)
    if found is None or len(found) < 2:
        return found
    return [each for each in found if not domain.excludes(relations_of(each))]


def relations_of(alternative: Alternative) -> list[Affine]:
    """Expressions that are not negative where an alternative holds."""
    found = [each.expression for each in alternative]
    return found + [each.expression.times(-1) for each in alternative if each.equation]


def implied(condition: Condition, domain: Domain) -> list[Affine]:
    """What is not negative where a condition holds; nothing where it has several alternatives."""
    found = possible(condition, domain)
    return relations_of(found[0]) if found is not None and len(found) == 1 else []
