"""Accesses of an in-place sweep with one row per lane: which vectors hold what each of them reads.

Lane `l` of the store of iteration `s` is the element `base + pitch * l + s`: rows in the lanes,
each some columns behind the one before. Sweeps to the left have `- s`. An access at a constant
distance from it is `lag` iterations ahead in the row `rows` lanes below: it reads that vector with
its lanes moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation

from ...dialects.memref import is_memref
from ...dialects.vector import is_vector
from ..loops.alias_analysis import Place, PlacedAccess
from ..nest.index_expression import Index

FARTHEST = 8
"""Rows are so many times as long as a vector at least, so that no two lanes meet nearby."""


@dataclass(frozen=True)
class DiagonalLoad:
    """A load of what the store writes `lag` iterations later (or -`lag` earlier), `rows` below."""

    operation: Operation
    place: Place
    rows: int
    lag: int

    @property
    def is_new(self) -> bool:
        """Whether it reads what an earlier iteration has stored."""
        return self.lag < 0


@dataclass(frozen=True)
class Diagonal:
    """The accesses of a loop to an array that it updates: one store, and loads nearby.

    `pitch` is the distance of neighbouring lanes, in elements, and `down` the same in subscripts.
    """

    store: PlacedAccess
    loads: tuple[DiagonalLoad, ...]
    pitch: int
    down: tuple[int, ...]

    @property
    def place(self) -> Place:
        """What the store writes."""
        return self.store.place

    @property
    def width(self) -> int:
        """Lanes."""
        return self.place.width

    def lags(self, rows: int, *, is_new: bool) -> list[int]:
        """The lags of loads that many rows below, of old or of new values."""
        return [each.lag for each in self.loads if (each.rows, each.is_new) == (rows, is_new)]


def diagonal(
    group: Sequence[PlacedAccess], variable: int, block: Block, most: int
) -> Diagonal | None:
    """The accesses of a block to one memref as a diagonal; None where they are none.

    `variable` is that of the loop, of steps of 1. Lags are `most` iterations at most.
    """
    stores = [access for access in group if access.is_store]
    if len(stores) != 1:
        return None
    (store,) = stores
    place = store.place
    pitch = _pitch(place)
    step = _step(place, variable)
    if pitch is None or abs(pitch) < FARTHEST * place.width or abs(step) != 1:
        return None
    assert is_memref(place.memref.type)
    shape = place.memref.type.get_shape()
    if DYNAMIC_INDEX in shape[1:]:
        return None
    strides = [prod(shape[position + 1 :]) for position in range(len(shape))]
    order = {operation: position for position, operation in enumerate(block.ops)}
    loads: list[DiagonalLoad] = []
    for access in group:
        if access is store:
            continue
        distance = _distance(access.place, place, strides)
        if distance is None or access.place.mask is not None:
            return None
        rows = round(distance / pitch)
        lag = step * (distance - rows * pitch)
        is_late = lag == 0 and order[access.operation] > order[store.operation]
        if abs(rows) > 1 or abs(lag) > most or is_late:
            return None
        loads.append(DiagonalLoad(access.operation, access.place, rows, lag))
    return Diagonal(store, tuple(loads), pitch, _decomposed(pitch, strides))


def _pitch(place: Place) -> int | None:
    """The distance of neighbouring lanes, where it is the same for all of a whole vector."""
    if not is_vector(place.type) or place.offsets is None or place.mask is not None:
        return None
    first, second, *_ = place.offsets
    pitch = second - first
    is_even = all(offset == pitch * lane for lane, offset in enumerate(place.offsets))
    return pitch if is_even else None


def _step(place: Place, variable: int) -> int:
    """By how many columns each iteration of a loop goes on; 0 where it leaves the row."""
    *outer, last = place.subscripts
    is_in_row = all(each.coefficient(variable) == 0 for each in outer)
    return (last.coefficient(variable) or 0) if is_in_row else 0


def _distance(one: Place, other: Place, strides: Sequence[int]) -> int | None:
    """The elements from one place to another with the same lanes, where it is constant."""
    if (one.type, one.offsets) != (other.type, other.offsets):
        return None
    pairs = zip(one.subscripts, other.subscripts, strict=True)
    result = Index()
    for (a, b), stride in zip(pairs, strides, strict=True):
        result += (a - b) * stride
    return result.constant if result.is_constant else None


def _decomposed(distance: int, strides: Sequence[int]) -> tuple[int, ...]:
    """A distance in elements as the shortest steps of subscripts."""
    steps: list[int] = []
    for stride in strides:
        steps.append(round(distance / stride))
        distance -= steps[-1] * stride
    return tuple(steps)
