"""Features of an innermost loop's body: all its statements together."""

from __future__ import annotations

from typing import NamedTuple

from .loop_context import LoopContext
from .nests import NestedStatement
from .sections import Execution
from .statement_features import NEAR, statement_features


class Body(NamedTuple):
    """The innermost loop of a statement, with all of the statements in it.

    `outer` statements of it have loops of their own inside, so it is no innermost loop; `serial`
    ones hand results from one of its iterations to the next, by themselves. `instructions`, `loads`
    and `stores` are those of all together, as often as unrolling repeats them. `forward` and
    `backward` are the smallest distances, in iterations, from this statement or to it, at which the
    one that is later or earlier in the text is later at an element: 0 where there are none.
    """

    outer: float
    serial: float
    instructions: float
    loads: float
    stores: float
    forward: float
    backward: float


def body(item: NestedStatement, execution: Execution) -> Body:
    """The section `Body`."""
    place = item.place
    position = -1 if place.innermost is None else place.innermost
    serial, instructions, loads, stores = statement_features(place, execution).share
    outer = 0
    forward: list[float] = []
    backward: list[float] = []
    for other, common, is_later in item.neighbours:
        if common <= position:
            continue
        if other.innermost is not None and other.innermost > position:
            outer += 1
            continue
        its = statement_features(other, execution).share
        serial += its.serial
        instructions += its.instructions
        loads += its.loads
        stores += its.stores
        if position < 0:
            continue
        for distance in _distances(place, other, position):
            (forward if (distance > 0) == is_later else backward).append(abs(distance))
    return Body(
        outer,
        serial,
        instructions,
        loads,
        stores,
        min(forward, default=0.0),
        min(backward, default=0.0),
    )


def _distances(place: LoopContext, other: LoopContext, position: int) -> list[float]:
    """By how many iterations of a loop another statement is later at the same element."""
    found: list[float] = []
    for number, access in enumerate(place.profile.accesses):
        step = place.steps[position][number]
        if abs(step) < 1e-6:
            continue
        for second, its_access in enumerate(other.profile.accesses):
            if (
                access.array != its_access.array
                or not (access.is_write or its_access.is_write)
                or abs(step - other.steps[position][second]) > 1e-6
            ):
                continue
            distance = (access.offset - its_access.offset) / step
            if distance and abs(distance) < NEAR and distance % 1 == 0:
                found.append(distance)
    return found
