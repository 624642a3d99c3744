"""Predictive commoning: reuse of values stored in the previous iteration.

    for j:                                      %0 = load y[0]
      %1 = load y[j - 1]                        for j iter_args(%1 = %0):
      %2 = a * %1 + ...                 ->        %2 = a * %1 + ...
      store %2, y[j]                              store %2, y[j]
                                                  yield %2

A load has to wait until what was stored before is in the cache, above all where lanes are scattered
in memory; in a register it is there at once (Callahan, Carr and Kennedy, "Improving register
allocation for subscripted variables", PLDI 1990).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation

from ...dialects import affine
from ..loops.alias_analysis import Numbering, Place, PlacedAccess, is_inside
from ..nest.index_expression import Index


@dataclass(frozen=True)
class Forward:
    """A loop-carried reuse: `loads` of `place` read what `store` wrote one iteration before.

    `first` is the place in the first iteration.
    """

    store: Operation
    place: Place
    first: Place
    loads: tuple[Operation, ...]


def forwards(
    loop: affine.ForOp, accesses: Iterable[Sequence[PlacedAccess]], numbering: Numbering
) -> list[Forward]:
    """What can be forwarded in an innermost loop, given its accesses by memref, in order."""
    variable = numbering.index(loop.body.block.args[0])
    lowers = numbering.results(loop.lowerBoundMap, loop.lowerBoundOperands)
    if len(lowers) != 1:
        return []
    (number,) = variable.variables()
    return [
        Forward(
            store.operation,
            place,
            _moved(place, number, lowers[0]),
            tuple(access.operation for access in group if _is_load_of(access, place)),
        )
        for group in accesses
        for store, place in _lasting(group, number, loop.step.value.data, numbering)
        if place.mask is None or not is_inside(place.mask, loop.body.block)
    ]


def _lasting(
    group: Sequence[PlacedAccess], variable: int, step: int, numbering: Numbering
) -> Iterator[tuple[PlacedAccess, Place]]:
    """Stores whose values are still there when the next iteration loads them, and from where."""
    stores = [(number, access) for number, access in enumerate(group) if access.is_store]
    for position, store in stores:
        if not any(variable in each.variables() for each in store.place.subscripts):
            continue
        place = _moved(store.place, variable, Index.variable(variable) - step)
        loads = [n for n, access in enumerate(group) if _is_load_of(access, place)]
        if not loads:
            continue
        others = [(number, other.place) for number, other in stores if number != position]
        is_kept = all(
            (number < position or numbering.is_disjoint(other, store.place))
            and (number > loads[-1] or numbering.is_disjoint(other, place))
            for number, other in others
        )
        if is_kept and (position > loads[-1] or numbering.is_disjoint(store.place, place)):
            yield store, place


def _is_load_of(access: PlacedAccess, place: Place) -> bool:
    return not access.is_store and access.place.is_same(place)


def _moved(place: Place, variable: int, value: Index) -> Place:
    """The place when a variable has another value."""
    subscripts = tuple(each.substitute({variable: value}) for each in place.subscripts)
    return replace(place, subscripts=subscripts)
