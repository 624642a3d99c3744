"""Accesses of the program, and where the generated statements perform them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from ...passes.polyhedral.scop import AccessKind, Scop, Statement
from .correspondence import Correspondence
from .order import Event
from .reading import CallSite

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, eq=False)
class Use:
    """An access of the program, as performed by a generated statement.

    It is access number `position` of `statement`, a part of statement `origin` of the program.
    `elements` is what the program accesses, `{ S0[i, j] -> A[x] }`, and `place` where the generated
    statement does, in `array`: `{ S0[i, j] -> A_packed[p] }`.
    """

    statement: str
    origin: str
    position: int
    is_write: bool
    array: str
    elements: isl.Map
    place: isl.Map
    is_moved: bool
    events: tuple[Event, ...]

    @property
    def element_array(self) -> str:
        """The array of the program."""
        return self.elements.get_tuple_name(_OUT) or ""


def uses_of(
    scop: Scop,
    correspondence: Correspondence,
    sites: Mapping[str, Sequence[CallSite]],
    context: isl.Set,
) -> list[Use]:
    """What the generated statements that are parts of the program access."""
    return [
        _use(statement, correspondence.origins[statement.name], position, sites, context)
        for statement in scop.statements
        if statement.name in correspondence.origins
        for position in range(len(statement.accesses))
    ]


def _use(
    statement: Statement,
    origin: Statement,
    position: int,
    sites: Mapping[str, Sequence[CallSite]],
    context: isl.Set,
) -> Use:
    own, other = statement.accesses[position], origin.accesses[position]
    place = own.relation.intersect_params(context).set_tuple_name(_IN, origin.name)
    return Use(
        statement.name,
        origin.name,
        position,
        own.kind is AccessKind.WRITE,
        own.array.name,
        other.relation.intersect_domain(place.domain()),
        place,
        own.array.name != other.array.name or own.map.results != other.map.results,
        events_of(sites[statement.name], origin.name),
    )


def events_of(sites: Sequence[CallSite], name: str) -> tuple[Event, ...]:
    """What call sites do for the instances of a statement of the program, which they run."""
    return tuple(Event(site, site.instances.set_tuple_name(_OUT, name)) for site in sites)
