"""Sign analysis of indices, from the bounds of the surrounding loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .index_expression import (
    Atom,
    Choice,
    Comparison,
    Condition,
    Connective,
    Extremum,
    Index,
    Quotient,
    Variable,
    conjuncts,
)
from .nest import For

# So many bounds are put in for variables before a proof is given up; it needs a handful as a rule.
MOST_STEPS = 100


@dataclass(frozen=True)
class Range:
    """Bounds of a loop variable: none of `least` is larger than it, none of `most` smaller.

    Both are indices over the variables of loops further out.
    """

    variable: int
    least: list[Index]
    most: list[Index]


def ranges_of(
    loops: Sequence[For], met: Sequence[Condition], failed: Sequence[Condition]
) -> list[Range]:
    """The ranges of the variables in the bodies of `loops`, outermost first, innermost first.

    Conditions around the place are `met` or `failed`; where a loop runs, its bounds leave room.
    """
    ranges = [
        Range(loop.variable, [*loop.lower], [end - 1 for end in loop.upper])
        for loop in reversed(loops)
        if loop.size is None
    ]
    facts = [most - least for own in ranges for least in own.least for most in own.most]
    facts += [fact for condition in met for fact in _facts(condition, holds=True)]
    facts += [fact for condition in failed for fact in _facts(condition, holds=False)]
    for fact in facts:
        _narrow(ranges, fact)
    return ranges


def decided(condition: Condition, ranges: Sequence[Range]) -> bool | None:
    """Whether a condition holds, or fails, for all values in the ranges; None where it depends."""
    parts = conjuncts(condition)
    if parts is None:
        return None
    if all(part.kind == ">=" and is_never_negative(part.left, ranges) for part in parts):
        return True
    fails = any(
        is_never_negative(part.left * -1 - 1, ranges)
        or (part.kind == "==" and is_never_negative(part.left - 1, ranges))
        for part in parts
    )
    return False if fails else None


def is_never_negative(index: Index, ranges: Sequence[Range]) -> bool:
    """Whether the index is at least 0 for all values in the ranges, innermost variables first.

    Sound, not complete: an index whose sense of direction along a variable never changes has its
    least value at an end, and a multiple of `d` quotients by `d` is near that of the numerators.
    """
    return _Search(ranges).succeeds(index)


class _Search:
    def __init__(self, ranges: Sequence[Range]) -> None:
        self.ranges = ranges
        self.left = MOST_STEPS

    def succeeds(self, index: Index) -> bool:
        if index.is_constant:
            return index.constant >= 0
        self.left -= 1
        return self.left >= 0 and any(self.succeeds(smaller) for smaller in self._smaller(index))

    def _smaller(self, index: Index) -> Iterator[Index]:
        """Indices of which none is larger, with one variable or quotient less."""
        for own in self.ranges:
            direction = _direction(index, own.variable)
            if direction is None:
                break
            if direction:
                for end in own.least if direction > 0 else own.most:
                    yield index.substitute({own.variable: end})
                return
        for atom, factor in index.terms:
            if isinstance(atom, Quotient) and factor % atom.divisor == 0:
                multiple = factor // atom.divisor
                rest = 0 if factor < 0 else atom.divisor - 1
                yield index - Index.of(atom) * factor + (atom.numerator - rest) * multiple
                return


def _facts(condition: Condition, *, holds: bool) -> Iterator[Index]:
    """What is not negative where a condition holds, or where it does not."""
    match condition:
        case Comparison(">=", left):
            yield left if holds else -left - 1
        case Comparison("==", left) if holds:
            yield from (left, -left)
        case Connective(kind, operands) if (kind == "all") == holds or len(operands) == 1:
            for operand in operands:
                yield from _facts(operand, holds=holds)
        case _:
            pass


def _narrow(ranges: Sequence[Range], fact: Index) -> None:
    """Adds what a fact says about the innermost variable in it."""
    for own in ranges:
        factor = fact.coefficient(own.variable)
        if factor is None:
            return
        if factor:
            rest = fact - Index.variable(own.variable) * factor
            if factor > 0:
                own.least.append(-(rest // factor))
            else:
                own.most.append(rest // -factor)
            return


def _direction(index: Index, variable: int) -> int | None:
    """1 where the index never falls when the variable grows, -1 where it never rises, 0 for both.

    None where it may do either.
    """
    signs = {
        sign if sign is None or factor > 0 else -sign
        for atom, factor in index.terms
        if (sign := _direction_of_atom(atom, variable)) != 0
    }
    if not signs:
        return 0
    return signs.pop() if len(signs) == 1 else None


def _direction_of_atom(atom: Atom, variable: int) -> int | None:
    match atom:
        case Variable(number):
            return int(number == variable)
        case Quotient(numerator):
            return _direction(numerator, variable)
        case Extremum(operands=operands):
            signs = {_direction(operand, variable) for operand in operands} - {0}
            return None if len(signs) > 1 else signs.pop() if signs else 0
        case Choice():
            return None if variable in Index.of(atom).variables() else 0
