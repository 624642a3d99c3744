"""Every instance of a statement runs exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import islpy as isl

from .order import Event
from .verdict import Property, ViolatedError, Witness


def check_coverage(name: str, domain: isl.Set, events: Sequence[Event]) -> None:
    """Raises ViolatedError unless the call sites run the domain, each instance once."""
    ranges = [event.instances.range() for event in events]
    missing = domain
    for instances in ranges:
        _none("runs, but is no instance of the program", name, instances.subtract(domain))
        missing = missing.subtract(instances)
    _none("never runs", name, missing)
    for event in events:
        if not event.instances.is_injective():
            _none("runs more than once", name, _repeated(event.instances))
    for one, other in combinations(ranges, 2):
        _none("runs more than once", name, one.intersect(other))


def _repeated(instances: isl.Map) -> isl.Set:
    """The instances that a call runs for several values of the loops around."""
    same = instances.apply_range(instances.reverse())
    different = same.subtract(isl.Map.identity(same.get_space()))
    return instances.intersect_domain(different.domain()).range()


def _none(what: str, name: str, instances: isl.Set) -> None:
    if not instances.is_empty():
        message = f"an instance of {name} {what}"
        raise ViolatedError(Property.COVERAGE, message, Witness.among(instances))
