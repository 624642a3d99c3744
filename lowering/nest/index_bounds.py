"""Whether an index is never negative in a nest of loops, by their bounds alone."""

from __future__ import annotations

from collections.abc import Sequence

from .index_expression import Atom, Choice, Extremum, Index, Quotient, Variable
from .nest import For

# So many bounds are put in for variables before isl is asked; a proof needs a handful as a rule.
MOST_STEPS = 100


def is_never_negative(index: Index, loops: Sequence[For]) -> bool:
    """Whether the index is at least 0 wherever the bodies of these loops, outermost first, run.

    Sound, not complete: an index with a sign that never changes along a loop has its least value at
    an end of it, and a multiple of `d` quotients by `d` is within `d - 1` of the numerators.
    """
    return _Search(loops).succeeds(index)


class _Search:
    def __init__(self, loops: Sequence[For]) -> None:
        self.loops = [loop for loop in reversed(loops) if loop.size is None]
        self.left = MOST_STEPS

    def succeeds(self, index: Index) -> bool:
        if index.is_constant:
            return index.constant >= 0
        self.left -= 1
        return self.left >= 0 and any(self.succeeds(least) for least in self._least(index))

    def _least(self, index: Index) -> list[Index]:
        """Indices of which none is larger, from either of the two rules."""
        for loop in self.loops:
            direction = _direction(index, loop.variable)
            if direction is None:
                break
            if direction:
                ends = loop.lower if direction > 0 else [end - 1 for end in loop.upper]
                return [index.substitute({loop.variable: end}) for end in ends]
        for atom, factor in index.terms:
            if isinstance(atom, Quotient) and factor % atom.divisor == 0:
                multiple = factor // atom.divisor
                rest = 0 if factor < 0 else atom.divisor - 1
                return [index - Index.of(atom) * factor + (atom.numerator - rest) * multiple]
        return []


def _direction(index: Index, variable: int) -> int | None:
    """1 where the index never falls when the variable grows, -1 where it never rises, 0 for both.

    None where it may do either.
    """
    signs = {
        sign * (1 if factor > 0 else -1) if sign is not None else None
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
