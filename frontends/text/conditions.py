"""Conditions: affine relations, tests of data, and their disjunctive normal form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .affine import Affine, Index

MOST_CONJUNCTIONS = 16
"""Conditions with more alternatives are refused: each is printed once."""


@dataclass(frozen=True)
class Fixed:
    """A condition that is known when the program is translated."""

    value: bool


@dataclass(frozen=True)
class Relation:
    """An affine expression that is not negative, or zero."""

    expression: Affine
    equation: bool


@dataclass(frozen=True)
class DataTest:
    """A test of data; `subject` is what the front end has to say about it."""

    subject: Any
    negated: bool = False


@dataclass(frozen=True)
class Junction:
    """All (`conjunction`) or one of several conditions."""

    conjunction: bool
    parts: tuple[Condition, ...]


Condition: TypeAlias = "Fixed | Relation | DataTest | Junction"


def junction(conjunction: bool, parts: Sequence[Condition]) -> Condition:
    """All or one of several conditions, simplified."""
    kept: list[Condition] = []
    for part in parts:
        if isinstance(part, Fixed):
            if part.value != conjunction:
                return part
        elif isinstance(part, Junction) and part.conjunction == conjunction:
            kept += part.parts
        else:
            kept.append(part)
    if not kept:
        return Fixed(conjunction)
    return kept[0] if len(kept) == 1 else Junction(conjunction, tuple(kept))


def negation(condition: Condition) -> Condition:
    """The opposite."""
    if isinstance(condition, Fixed):
        return Fixed(not condition.value)
    if isinstance(condition, DataTest):
        return DataTest(condition.subject, not condition.negated)
    if isinstance(condition, Junction):
        return junction(not condition.conjunction, [negation(part) for part in condition.parts])
    less = condition.expression.times(-1).plus(Affine(constant=-1))
    if not condition.equation:
        return Relation(less, False)
    more = condition.expression.plus(Affine(constant=-1))
    return Junction(False, (Relation(more, False), Relation(less, False)))


def not_negative(index: Index) -> Condition:
    """That an affine value is not negative."""
    parts = [_simplified(Relation(part, False)) for part in index.parts]
    return junction(index.kind != "max", parts)


def zero(index: Index) -> Condition:
    """That an affine value is zero."""
    if index.affine is not None:
        return _simplified(Relation(index.affine, True))
    return junction(True, [not_negative(index), not_negative(index.times(-1))])


def _simplified(relation: Relation) -> Condition:
    if relation.expression.terms:
        return relation
    constant = relation.expression.constant
    return Fixed(constant == 0 if relation.equation else constant >= 0)


def tests_data(condition: Condition) -> bool:
    """Whether a condition depends on data."""
    if isinstance(condition, Junction):
        return any(tests_data(part) for part in condition.parts)
    return isinstance(condition, DataTest)


def is_affine(condition: Condition) -> bool:
    """Whether a condition depends on loop variables and sizes."""
    if isinstance(condition, Junction):
        return any(is_affine(part) for part in condition.parts)
    return isinstance(condition, Relation)


def alternatives(condition: Condition) -> list[tuple[Relation, ...]] | None:
    """The disjunctive normal form of an affine condition; None where it is too long."""
    if isinstance(condition, Relation):
        return [(condition,)]
    assert isinstance(condition, Junction)
    inner = [alternatives(part) for part in condition.parts]
    result: list[tuple[Relation, ...]] = [()] if condition.conjunction else []
    for each in inner:
        if each is None:
            return None
        if condition.conjunction:
            result = [(*one, *other) for one in result for other in each]
        else:
            result += each
        if len(result) > MOST_CONJUNCTIONS:
            return None
    return result
