"""Conditions of which parts are affine and parts are data: guarded branches, or one truth value."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Generic, Protocol

from .conditions import (
    Condition,
    DataTest,
    Fixed,
    Junction,
    Relation,
    alternatives,
    is_affine,
    junction,
    negation,
    tests_data,
)
from .emitter import Node
from .guards import Guards

_MOST_AT_ONCE = 2
"""How many statements a condition may print again; inside of what is printed again, fewer."""

_MOST_IN_ALL = 64
"""How many statements the conditions of a function may print again."""


def is_mixed(condition: Condition) -> bool:
    """Whether a condition depends both on data and on loop variables or sizes."""
    return tests_data(condition) and is_affine(condition)


class Repetitions:
    """Decides which conditions guard their branches, and which become one truth value.

    if (i > 0 && A[i - 1] > 0) X else Y   ->   if (i > 0) { if (A[i - 1] > 0) X else Y } else Y

    is the better form, but prints Y again: chains of such conditions would grow exponentially.
    Beyond the limit, the truth value is computed first, and decides what the branches store.
    Affine parts of several alternatives do not guard it, so that the limit is higher for them.
    """

    def __init__(self) -> None:
        self._left = _MOST_IN_ALL
        self._times = 1

    @contextmanager
    def of(self, condition: Condition, one: int, other: int) -> Generator[bool]:
        """Whether branches of these many statements may be guarded; meanwhile, they are."""
        ones, others = _copies(condition)
        again = (ones - 1) * one + (others - 1) * other
        most = _MOST_IN_ALL // self._times
        if _are_simple(condition):
            most = min(_MOST_AT_ONCE // self._times, one + other)
        if again > min(most, self._left):
            yield False
            return
        self._left -= again
        factor = max(ones, others)
        self._times *= factor
        try:
            yield True
        finally:
            self._times //= factor


def _copies(condition: Condition) -> tuple[int, int]:
    """How often the branches are printed where affine parts are tested first."""
    if not is_affine(condition):
        return 1, 1
    if not tests_data(condition):
        found, inverse = alternatives(condition), alternatives(negation(condition))
        return 1 if inverse is not None and len(inverse) == 1 else len(found or ()), 1
    assert isinstance(condition, Junction)
    head, rest = affine_first(condition)
    (first, not_first), (second, not_second) = _copies(head), _copies(rest)
    if condition.conjunction:
        return first * second, not_first + first * not_second
    return first + not_first * second, not_first * not_second


def affine_first(condition: Junction) -> tuple[Condition, Condition]:
    """The part that is tested first, an affine one if there is one, and the rest."""
    parts = sorted(condition.parts, key=tests_data)
    return parts[0], junction(condition.conjunction, parts[1:])


def necessary(condition: Condition) -> list[Condition]:
    """Affine conditions that hold wherever a condition does, each of few alternatives."""
    found = _affine_part(condition)
    if isinstance(found, Fixed):
        return []
    parts = found.parts if isinstance(found, Junction) and found.conjunction else (found,)
    return [each for each in parts if _is_simple(each)]


def _is_simple(condition: Condition) -> bool:
    """Whether a branch under a condition is printed once."""
    return not isinstance(condition, Fixed) and _copies(condition) == (1, 1)


def _are_simple(condition: Condition) -> bool:
    """Whether all affine parts guard the others as well where the truth value comes first."""
    if isinstance(condition, Junction) and tests_data(condition):
        return all(map(_are_simple, condition.parts))
    return isinstance(condition, DataTest) or _is_simple(condition)


def _affine_part(condition: Condition) -> Condition:
    if isinstance(condition, DataTest):
        return Fixed(value=True)
    if isinstance(condition, Junction):
        return junction(condition.conjunction, [_affine_part(each) for each in condition.parts])
    return condition


class Tests(Protocol[Node]):
    """Evaluates parts of conditions to truth values."""

    @property
    def guards(self) -> Guards[Node]:
        """The conditions under which elements matter."""
        ...

    def tested(self, test: DataTest, node: Node) -> str:
        """A test of data."""
        ...

    def either(
        self, condition: Condition, one: Callable[[], str], other: Callable[[], str], node: Node
    ) -> str:
        """One of two truth values, by an affine condition; the other one is not computed."""
        ...

    def fixed(self, value: bool) -> str:
        """A truth value that is known."""
        ...


class Truths(Generic[Node]):
    """The truth values of conditions: each part is printed once, under affine ones beside it."""

    def __init__(self, tests: Tests[Node]) -> None:
        self.tests = tests

    def truth(self, condition: Condition, node: Node) -> str:
        """The truth value of a condition."""
        if isinstance(condition, Fixed):
            return self.tests.fixed(condition.value)
        if isinstance(condition, DataTest):
            return self.tests.tested(condition, node)
        if isinstance(condition, Relation) or not tests_data(condition):
            yes, no = (partial(self.tests.fixed, each) for each in (True, False))
            return self.tests.either(condition, yes, no, node)
        affine = [each for each in condition.parts if not tests_data(each)]
        # The others are printed for each alternative of the last one: one with several is enough.
        certain = [each for each in affine if _is_simple(each)]
        certain += [each for each in affine if not _is_simple(each)][:1]
        others = [each for each in condition.parts if each not in certain]
        return self._under(condition.conjunction, certain, others, node)

    def _under(
        self, conjunction: bool, certain: list[Condition], others: list[Condition], node: Node
    ) -> str:
        """The truth of affine parts and others, which matter where the affine ones do not tell."""
        if certain:
            inner = partial(self._under, conjunction, certain[1:], others, node)
            known = partial(self.tests.fixed, not conjunction)
            branches = (inner, known) if conjunction else (known, inner)
            return self.tests.either(certain[0], *branches, node)
        result = self.truth(others[0], node)
        for each in others[1:]:
            rest = partial(self.truth, each, node)
            result = self.tests.guards.junction(conjunction, result, rest, node)
        return result
