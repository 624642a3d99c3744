"""Where a piece of the program runs: loop bounds and conditions around it, for proofs with isl."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

import islpy as isl

from ...passes.polyhedral.isl_context import ISL_LOCK, coalesced
from ..text.affine import Affine, Index, Name
from ..text.isl_text import text_of
from .c_types import LONG, IntegerType


class Domain:
    """Affine expressions that are known not to be negative.

    `assumptions` are those over sizes alone that a call has to check.
    """

    def __init__(self) -> None:
        self.assumptions: list[Affine] = []
        self._known: list[Affine] = []
        self._symbols: dict[Name, IntegerType] = {}
        self._proved: dict[tuple[Affine, tuple[Affine, ...], tuple[Affine, ...]], bool] = {}

    def declare(self, symbol: Name, kind: IntegerType) -> None:
        """A size, which lies in its type."""
        self._symbols[symbol] = kind

    @contextmanager
    def inside(self, conditions: Sequence[Affine]) -> Generator[None]:
        """Inside of a loop or condition: these are not negative."""
        before = len(self._known)
        self._known += conditions
        try:
            yield
        finally:
            del self._known[before:]

    def holds(self, expression: Affine, *, assume: bool) -> bool:
        """Whether an expression is never negative; `assume` may restrict the sizes for it."""
        if not expression.terms:
            return expression.constant >= 0
        if any(_follows(expression, each) for each in (*self._known, *self.assumptions)):
            return True
        key = expression, tuple(self._known), tuple(self.assumptions)
        if key not in self._proved:
            self._proved[key] = self._is_proved(expression)
        return self._proved[key] or (assume and self._assume(expression))

    def excludes(self, conditions: Sequence[Affine]) -> bool:
        """Whether several expressions are never all not negative."""
        names = list(dict.fromkeys(one for each in conditions for one in self._names(each)))
        spelled = {name: f"x{position}" for position, name in enumerate(names)}
        with ISL_LOCK:
            return self._set(names, spelled, conditions).is_empty()

    def _is_proved(self, expression: Affine, more: Sequence[Affine] = ()) -> bool:
        names = self._names(expression)
        spelled = {name: f"x{position}" for position, name in enumerate(names)}
        with ISL_LOCK:
            here = self._set(names, spelled, more)
            bad = [expression.times(-1).plus(_ONE, -1)]
            return here.intersect(_set(names, spelled, bad)).is_empty()

    def _assume(self, expression: Affine) -> bool:
        """Restricts the sizes so that the expression is not negative; False where that is void."""
        names = self._names(expression)
        spelled = {name: f"x{position}" for position, name in enumerate(names)}
        with ISL_LOCK:
            here = self._set(names, spelled, [])
            bad = here.intersect(_set(names, spelled, [expression.times(-1).plus(_ONE, -1)]))
            good = coalesced(here.params().subtract(bad.params()).gist(here.params()))
            positive = [Affine.of(name).plus(_ONE, -1) for name in names if name.symbol]
            if good.intersect(_set(names, spelled, positive).params()).is_empty():
                return False  # no size is positive then, as for `-n` of an unsigned size
            if not (found := _constraints(good, spelled)):
                return False
        self.assumptions += [each for each in found if each not in self.assumptions]
        return True

    def in_type(self, index: Index, kind: IntegerType, *, assume: bool) -> bool:
        """Whether an integer lies in a type; 64 bits are enough for all that are affine."""
        for part in index.parts:
            if not all(self.holds(each, assume=assume) for each in _limits(part, kind)):
                return False
        return True

    def is_long(self, index: Index) -> bool:
        """Whether an integer has 64 bits, as all that it is computed from."""
        return all(
            self._is_proved(
                each, [end for name in part.names() for end in _ends(Affine.of(name), LONG)]
            )
            for part in index.parts
            for each in _ends(part, LONG)
        )

    def _names(self, expression: Affine) -> list[Name]:
        names = dict.fromkeys(expression.names())
        for each in (*self._known, *self.assumptions):
            names |= dict.fromkeys(each.names())
        return list(names)

    def _set(
        self, names: Sequence[Name], spelled: Mapping[Name, str], more: Sequence[Affine]
    ) -> isl.Set:
        limits = [
            each
            for name, kind in self._symbols.items()
            if name in spelled
            for each in _limits(Affine.of(name), kind)
        ]
        return _set(names, spelled, [*self._known, *self.assumptions, *limits, *more])


_ONE = Affine(constant=1)


def _follows(expression: Affine, known: Affine) -> bool:
    """Whether an expression is at least one that is not negative, by a constant."""
    difference = expression.plus(known, -1)
    return not difference.terms and difference.constant >= 0


def _limits(value: Affine, kind: IntegerType) -> list[Affine]:
    if kind.width >= 64:
        return [] if kind.signed else [value]
    return _ends(value, kind)


def _ends(value: Affine, kind: IntegerType) -> list[Affine]:
    low = value.plus(Affine(constant=kind.lowest), -1)
    return [low, Affine(constant=kind.highest).plus(value, -1)]


def _set(
    names: Sequence[Name], spelled: Mapping[Name, str], conditions: Sequence[Affine]
) -> isl.Set:
    symbols = [spelled[name] for name in names if name.symbol]
    loops = [spelled[name] for name in names if not name.symbol]
    lines = " and ".join(f"{text_of(each, spelled)} >= 0" for each in conditions) or "1 = 1"
    return isl.Set(f"[{', '.join(symbols)}] -> {{ [{', '.join(loops)}] : {lines} }}")


def _constraints(good: isl.Set, spelled: Mapping[Name, str]) -> list[Affine] | None:
    """A set of sizes as expressions that are not negative; None where it is no such set."""
    pieces = good.get_basic_sets()
    if len(pieces) != 1 or pieces[0].dim(isl.dim_type.div):
        return None
    names = {text: name for name, text in spelled.items()}
    found: list[Affine] = []
    for constraint in pieces[0].get_constraints():
        result = Affine(constant=int(constraint.get_constant_val().to_str()))
        for position in range(constraint.dim(isl.dim_type.param)):
            factor = int(constraint.get_coefficient_val(isl.dim_type.param, position).to_str())
            name = names[constraint.get_dim_name(isl.dim_type.param, position) or ""]
            result = result.plus(Affine.of(name), factor)
        found.append(result)
        if constraint.is_equality():
            found.append(result.times(-1))
    return found
