"""Reshaped arrays: `A.reshape(-1, 2)` and `A.ravel()`, as views of arrays in row-major order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..text.affine import Affine, quotient
from .views import ONE, ZERO, Reshaped, View, same


class NoReshape(Exception):
    """Why there is no such view, and what to do."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


_REMEDY = "leave out the annotations of the arrays, or write numbers into them"


def reshaped(view: View, shape: Sequence[Affine]) -> tuple[View, list[tuple[Affine, Affine]]]:
    """A view of another shape, and what must be equal for it; raises NoReshape.

    An extent of -1 is what is left.
    """
    shape = _without_unknown(view.extents, shape)
    old, new = _grouped(view.extents, shape)
    equations: list[tuple[Affine, Affine]] = []
    for one, other in zip(old, new, strict=True):
        before, after = _product(one), _product(other)
        if before is None or after is None:
            raise NoReshape("the number of elements is no affine expression of sizes", _REMEDY)
        if not same(before, after):
            equations.append((before, after))
        for extents in (one, other):
            inner = [each for each in extents if each != ONE][1:]
            if any(each.terms for each in inner):
                raise NoReshape("the subscripts would be multiplied by a size", _REMEDY)
    whole = View.whole(view.array, shape)
    return replace(
        view,
        subscripts=whole.subscripts,
        extents=whole.extents,
        reshaped=Reshaped(view, tuple(old), tuple(new)),
    ), equations


def _without_unknown(old: Sequence[Affine], new: Sequence[Affine]) -> tuple[Affine, ...]:
    unknown = [position for position, each in enumerate(new) if each == Affine(constant=-1)]
    if not unknown:
        return tuple(new)
    if len(unknown) > 1:
        raise NoReshape("only one extent may be -1")
    given = [each for position, each in enumerate(new) if position != unknown[0]]
    left = list(old)
    for each in list(given):
        equal = next((one for one in left if same(one, each)), None)
        if equal is not None:
            left.remove(equal)
            given.remove(each)
    whole, part = _product(left), _product(given)
    if whole is None or part is None or part.terms or part.constant < 1:
        raise NoReshape("the extent that is left is no affine expression of sizes", _REMEDY)
    extent = quotient("floordiv", whole, part.constant)
    return (*new[: unknown[0]], extent, *new[unknown[0] + 1 :])


def _product(extents: Sequence[Affine]) -> Affine | None:
    """The product; None where that is not affine."""
    result = ONE
    for each in extents:
        if each.terms and result.terms:
            return None
        result = each.times(result.constant) if each.terms else result.times(each.constant)
    return result


def _grouped(
    old: Sequence[Affine], new: Sequence[Affine]
) -> tuple[list[tuple[Affine, ...]], list[tuple[Affine, ...]]]:
    """The smallest runs of both shapes that have as many elements; the last has what is left."""
    one: list[tuple[Affine, ...]] = []
    other: list[tuple[Affine, ...]] = []
    old, new = tuple(old), tuple(new)
    if _product(old) == ZERO == _product(new):
        return [old], [new]
    while old and new:
        sizes = [(a, b) for a in range(1, len(old) + 1) for b in range(1, len(new) + 1)]
        sizes.sort(key=sum)
        fitting = ((a, b) for a, b in sizes if _fit(old[:a], new[:b]))
        first, second = next(fitting, (len(old), len(new)))
        one.append(old[:first])
        other.append(new[:second])
        old, new = old[first:], new[second:]
    if old or new:  # behind all groups, there are extents of 1, or shapes that do not fit
        one.append(old)
        other.append(new)
    return one, other


def _fit(old: Sequence[Affine], new: Sequence[Affine]) -> bool:
    """Whether extents have as many elements, perhaps where one of them divides the other."""
    before, after = _product(old), _product(new)
    if before is None or after is None:
        return False
    return same(before, after) or _divides(before, new) or _divides(after, old)


def _divides(whole: Affine, extents: Sequence[Affine]) -> bool:
    """Whether an extent is the quotient of the whole by the others: `n` and `(n // 2, 2)`."""
    known = [each for each in extents if not each.terms]
    factor = _product(known)
    if not whole.terms or factor is None or len(known) + 1 != len(extents) or factor == ONE:
        return False
    rest = next(each for each in extents if each.terms)
    return factor.constant > 0 and same(quotient("floordiv", whole, factor.constant), rest)
