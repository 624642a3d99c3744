"""Trip counts of skewed loops, whose iterators are sums of program iterators.

The values that some loops take together are the image of the domain under their functions. Of a box
it is a zonotope, whose volume is the sum, over all choices of as many iterators as there are
independent functions, of the determinant of their slopes times their numbers of values. Per set of
these values the same number of instances is left: iterations of the loops multiply to instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import prod

from ...passes.polyhedral.schedule_tree import Loop
from .linear import LinearForm

Row = tuple[float, ...]

_NOTHING = 1e-9


def iterations(
    lengths: Row, loops: Sequence[Loop], forms: Sequence[LinearForm]
) -> Iterator[tuple[float, Row]]:
    """Per loop: how many values it takes on average, and those left of each iterator inside.

    `lengths` are the numbers of values of the iterators. A vector leaves its lanes inside.
    """
    basis: tuple[Row, ...] = ()
    known = 1.0
    for number, (loop, form) in enumerate(zip(loops, forms, strict=True)):
        extended, values = _extend(basis, known, form.slopes, lengths)
        count = max(1.0, values / known)
        lanes = min(count, float(loop.vector or 1))
        if values > known:
            if lanes > 1.0:
                *others, last = extended
                extended = (*others, tuple([slope / lanes for slope in last]))
                values /= lanes
            basis, known = extended, max(values, known)
        yield count, _left(basis, known, lengths, forms[number + 1 :])


def _extend(
    basis: tuple[Row, ...], known: float, row: Row, lengths: Row
) -> tuple[tuple[Row, ...], float]:
    """The functions that tell most of the iterations apart, the new one last, and their values.

    A loop over what others determine up to a tile takes the place of one of these.
    """
    extended = (*basis, row)
    values = _values(extended, lengths)
    if values > _NOTHING:
        return extended, values
    choices = [(*basis[:n], *basis[n + 1 :], row) for n in range(len(basis))]
    best = max(choices, key=lambda rows: _values(rows, lengths), default=basis)
    values = _values(best, lengths)
    return (best, values) if values > known else (basis, known)


@lru_cache(maxsize=1 << 14)
def _values(rows: tuple[Row, ...], lengths: Row) -> float:
    """How many values functions take together; 0 where one of them follows from the others."""
    if len(rows) > len(lengths):
        return 0.0
    if len(rows) == 1:
        used = [
            (abs(slope), length) for slope, length in zip(rows[0], lengths, strict=True) if slope
        ]
        if len(used) > 1:
            return 1.0 + sum(slope * (length - 1.0) for slope, length in used)
    return sum(
        abs(_determinant([[row[d] for d in chosen] for row in rows]))
        * prod(lengths[d] for d in chosen)
        for chosen in combinations(range(len(lengths)), len(rows))
    )


def _determinant(matrix: Sequence[Sequence[float]]) -> float:
    if not matrix:
        return 1.0
    first, *rest = matrix
    return sum(
        (-1.0) ** column
        * value
        * _determinant([[*row[:column], *row[column + 1 :]] for row in rest])
        for column, value in enumerate(first)
        if value
    )


def _left(basis: tuple[Row, ...], known: float, lengths: Row, inside: Sequence[LinearForm]) -> Row:
    """The numbers of values of the iterators that are left, whose product is that of the instances.

    Along a sum, one iterator follows from the others: those that loops inside take first are free.
    """
    left = list(lengths)
    taken_part = [d for d in range(len(lengths)) if any(row[d] for row in basis)]
    for d in taken_part:
        alone = tuple(float(d == other) for other in range(len(lengths)))
        _, values = _extend(basis, known, alone, lengths)
        left[d] = min(lengths[d], max(1.0, values / known))
    free = dict.fromkeys(d for form in inside for d, _ in form.terms)
    last = [d for d in taken_part if d not in free]
    last += [d for d in reversed(free) if d in taken_part]
    excess = prod(left) / max(1.0, prod(lengths) / known)
    for d in last:
        if excess <= 1.0:
            break
        taken = min(excess, left[d])
        left[d] /= taken
        excess /= taken
    return tuple(left)
