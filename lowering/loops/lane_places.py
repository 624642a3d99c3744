"""Places of accesses in memory, in the lanes of a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ...dialects.memref import is_memref
from ..nest.index_expression import Index


@dataclass(frozen=True)
class Lanes:
    """Adjacent iterations executed as one vector.

    `mask` (vector of i1), when given, says which lanes are iterations of the loop: those from the
    largest of `first` on, below the least of `end`. The variable is made anew for every vector; it
    does not tell two vectors apart.

    In control flow that only some lanes take, `around` are those that come to it, and `inside` the
    variables of its loops.
    """

    variable: int = field(compare=False)
    width: int
    mask: SSAValue | None = None
    first: tuple[Index, ...] = field(default=(), compare=False)
    end: tuple[Index, ...] = field(default=(), compare=False)
    around: Lanes | None = field(default=None, compare=False)
    inside: frozenset[int] = field(default=frozenset(), compare=False)


@dataclass(frozen=True)
class Place:
    """Subscripts of an access in the first lane, and their stride from lane to lane.

    Without `lanes` it is one element, the same for all lanes.
    """

    first: tuple[Index, ...]
    steps: tuple[int, ...] = ()
    lanes: Lanes | None = None

    @property
    def is_contiguous(self) -> bool:
        """Whether neighbouring lanes are neighbouring elements of a row."""
        return self.steps[-1:] == (1,) and not any(self.steps[:-1])


def locate(subscripts: list[Index], lanes: Lanes | None) -> Place:
    """The place of an access; one element where all lanes have the same."""
    if lanes is None:
        return Place(tuple(subscripts))
    place = along_lanes(subscripts, lanes)
    assert place is not None, "checked by can_use_lanes"
    return place if any(place.steps) else Place(place.first)


def along_lanes(subscripts: list[Index], lanes: Lanes) -> Place | None:
    """Subscripts that are linear in the lane; None where one is not."""
    located = [subscript.along(lanes.variable, lanes.width) for subscript in subscripts]
    known = [pair for pair in located if pair is not None]
    if len(known) < len(located):
        return None
    return Place(tuple(first for first, _ in known), tuple(step for _, step in known), lanes)


def elements_to(memref: SSAValue, subscripts: Sequence[Index]) -> Index | None:
    """How many elements lie before one; None when that depends on a dynamic extent."""
    assert is_memref(memref.type)
    shape = memref.type.get_shape()
    if DYNAMIC_INDEX in shape[1:]:
        return None
    pitches = [prod(shape[position + 1 :]) for position in range(len(shape))]
    return sum((s * pitch for s, pitch in zip(subscripts, pitches, strict=True)), Index())


def stride_in(memref: SSAValue, steps: Sequence[int]) -> int | None:
    """Elements between neighbouring lanes; None when that depends on a dynamic extent.

    `steps` are those of the subscripts from lane to lane; arrays are row-major.
    """
    assert is_memref(memref.type)
    elements: int | None = 1
    result = 0
    for extent, step in zip(reversed(memref.type.get_shape()), reversed(steps), strict=True):
        if step and elements is None:
            return None
        result += step * (elements or 0)
        elements = None if elements is None or extent == DYNAMIC_INDEX else elements * extent
    return result
