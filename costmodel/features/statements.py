"""Statement profiles: operations, accesses and dependences, independent of the schedule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import NamedTuple

import islpy as isl
import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue

from ...passes.estimate.program_statistics import ProgramStatistics, bytes_of
from ...passes.machine.target_files import reference_machine
from ...passes.polyhedral.counting import fix_parameters
from ...passes.polyhedral.dependences import DependenceKind, Dependences
from ...passes.polyhedral.isl_context import TooComplexError, bounded
from ...passes.polyhedral.scop import Scop, Statement
from ...passes.schedules.schedule import Schedule
from ...support.cached_property import cached_property
from .access_profiles import AccessProfile, Boxes, profile_accesses
from .domains import Domains, Orders

_CLASSES = {
    "addf": "additions",
    "subf": "additions",
    "negf": "additions",
    "fma": "multiplications",
    "mulf": "multiplications",
    "divf": "divisions",
    "sqrt": "divisions",
    "remf": "divisions",
    "exp": "functions",
    "tanh": "functions",
    "powf": "functions",
    "log": "functions",
    "sin": "functions",
    "cos": "functions",
    "maximumf": "comparisons",
    "minimumf": "comparisons",
    "maxnumf": "comparisons",
    "minnumf": "comparisons",
    "absf": "comparisons",
    "cmpf": "comparisons",
    "muli": "integer_multiplications",
    "divsi": "integer_divisions",
    "divui": "integer_divisions",
    "floordivsi": "integer_divisions",
    "ceildivsi": "integer_divisions",
    "remsi": "integer_divisions",
    "remui": "integer_divisions",
}
_OTHER = "others"

_LATENCIES = reference_machine().latencies

_ADDED = ("pack_", "unpack_")
"""Statements that schedules add."""


class Operations(NamedTuple):
    """Operation counts of one instance by kind, without loads and stores."""

    additions: float = 0.0
    multiplications: float = 0.0
    divisions: float = 0.0
    functions: float = 0.0
    comparisons: float = 0.0
    integer_multiplications: float = 0.0
    integer_divisions: float = 0.0
    others: float = 0.0


@dataclass(frozen=True)
class Carried:
    """Distance vector of a loop-carried flow dependence."""

    distance: tuple[float, ...]
    reduction: bool


@dataclass(frozen=True)
class StatementProfile:
    """Schedule-independent profile of a statement at given sizes.

    `spans` are average numbers of values per iterator, `low` and `high` their extreme values,
    `orders` tells the spans in other orders of the loops, `box` how many times larger the box
    around the domain is than the domain, `links` the pairs of iterators of which one bounds the
    other. `chain` and `own_chain` are the cycles from any load, or from a load of an array that is
    also stored to, to the store. `instructions` is how long the body is, `reassociable` whether the
    steps of a sum may run in any order.
    """

    name: str
    spans: tuple[float, ...]
    instances: float
    low: tuple[float, ...]
    high: tuple[float, ...]
    orders: Orders | None
    box: float
    links: frozenset[tuple[int, int]]
    operations: Operations
    is_float: bool
    element_bytes: int
    lanes: int
    accesses: tuple[AccessProfile, ...]
    boxes: Boxes
    chain: float
    own_chain: float
    carried: tuple[Carried, ...]
    instructions: float
    reassociable: bool

    @cached_property
    def strides(self) -> tuple[tuple[float, ...], ...]:
        """The strides of all accesses, per iterator."""
        return tuple(
            tuple(access.strides[d] for access in self.accesses) for d in range(len(self.spans))
        )

    def spans_in(self, order: Sequence[int]) -> tuple[float, ...]:
        """The `spans` where loops over the iterators are in this order, outermost first."""
        if self.orders is None or all(one < other for one, other in pairwise(order)):
            return self.spans
        return self.orders.spans(tuple(order))

    @cached_property
    def loaded(self) -> frozenset[int]:
        """The numbers of the arrays that it loads from."""
        return frozenset(each.array for each in self.accesses if not each.is_write)

    @cached_property
    def stored(self) -> frozenset[int]:
        """The numbers of the arrays that it stores to."""
        return frozenset(each.array for each in self.accesses if each.is_write)

    @cached_property
    def kinds(self) -> tuple[tuple[bool, int], ...]:
        """Of each access, whether it stores, and the bytes of an element."""
        return tuple((each.is_write, each.size) for each in self.accesses)

    @cached_property
    def reads(self) -> int:
        """Different elements that an instance loads."""
        return sum(not access.is_write for access in self.accesses)

    @cached_property
    def writes(self) -> int:
        """Different elements that an instance stores."""
        return sum(access.is_write for access in self.accesses)


def profile_statement(
    statement: Statement,
    scop: Scop,
    statistics: ProgramStatistics,
    dependences: Dependences,
    arrays: Mapping[str, int],
    schedule: Schedule,
    domains: Domains,
) -> StatementProfile:
    """Everything about a statement that no step changes; `arrays` are numbers by name."""
    element = min((a.array.element_type for a in statement.accesses), key=bytes_of, default=None)
    spans, low, high, links, orders = domains.of(
        statement.domain, exact=not statement.name.startswith(_ADDED)
    )
    instances = prod(spans)
    box = prod(h - w + 1 for w, h in zip(low, high, strict=True))
    chain, own_chain = _chains(statement)
    operations = _operations(statement)
    accesses, boxes = profile_accesses(statement, scop, statistics, arrays)
    return StatementProfile(
        statement.name,
        spans,
        instances,
        low,
        high,
        orders,
        min(100.0, box / instances) if instances else 1.0,
        links,
        operations,
        isinstance(element, AnyFloat),
        bytes_of(element) if element is not None else 8,
        schedule.target.lanes(element) if element is not None else 1,
        accesses,
        boxes,
        chain,
        own_chain,
        tuple(_carried(statement, dependences, statistics.sizes)),
        sum(operations) + len(accesses),
        _is_reassociable(statement, dependences, schedule),
    )


def with_kept(
    profile: StatementProfile,
    statement: Statement,
    scop: Scop,
    statistics: ProgramStatistics,
    arrays: Mapping[str, int],
    kept: Iterable[tuple[str, int, float]],
) -> StatementProfile:
    """The same statement where storage keeps dimensions of local arrays: name, position, extent."""
    accesses, boxes = profile_accesses(statement, scop, statistics, arrays, kept)
    return replace(profile, accesses=accesses, boxes=boxes)


def in_changed_program(
    profile: StatementProfile,
    statement: Statement,
    statistics: ProgramStatistics,
    dependences: Dependences,
    array_count: int,
    schedule: Schedule,
) -> StatementProfile:
    """The same statement in a program that differs elsewhere."""
    member = np.zeros((len(profile.boxes.arrays), array_count))
    known = min(array_count, profile.boxes.arrays.shape[1])
    member[:, :known] = profile.boxes.arrays[:, :known]
    return replace(
        profile,
        boxes=replace(profile.boxes, arrays=member),
        carried=tuple(_carried(statement, dependences, statistics.sizes)),
        reassociable=_is_reassociable(statement, dependences, schedule),
    )


def _is_reassociable(statement: Statement, dependences: Dependences, schedule: Schedule) -> bool:
    accumulation = dependences.accumulations.get(statement.name)
    return accumulation is not None and (schedule.reassociate or accumulation.reassociable)


def _varying(statement: Statement) -> Iterator[Operation]:
    """The operations whose results differ from instance to instance, loads among them."""
    values = set[SSAValue](statement.indices)
    loads = {access.op for access in statement.reads}
    for operation in statement.body:
        if operation in loads or any(operand in values for operand in operation.operands):
            values.update(operation.results)
            yield operation


def _class(operation: Operation) -> str:
    return _CLASSES.get(operation.name.rpartition(".")[2], _OTHER)


def _operations(statement: Statement) -> Operations:
    accesses = {access.op for access in statement.accesses}
    counts = dict.fromkeys(Operations._fields, 0.0)
    for operation in _varying(statement):
        if operation not in accesses:
            counts[_class(operation)] += 1.0
    return Operations(**counts)


def _chains(statement: Statement) -> tuple[float, float]:
    """Cycles on the longest way to a store: from any load, and from one of what is stored to."""
    written = {access.array.name for access in statement.writes}
    own = {access.op for access in statement.reads if access.array.name in written}
    loads = {access.op for access in statement.reads}
    any_way: dict[SSAValue, float] = {}
    own_way: dict[SSAValue, float] = {}
    longest = longest_own = 0.0
    for operation in statement.body:
        if operation in loads:
            any_way[operation.results[0]] = 0.0
            if operation in own:
                own_way[operation.results[0]] = 0.0
            continue
        ways = [any_way[operand] for operand in operation.operands if operand in any_way]
        own_ways = [own_way[operand] for operand in operation.operands if operand in own_way]
        if not operation.results:
            longest = max(longest, *ways, 0.0)
            longest_own = max(longest_own, *own_ways, 0.0)
            continue
        latency = _LATENCIES[_class(operation)]
        for result in operation.results:
            if ways:
                any_way[result] = max(ways) + latency
            if own_ways:
                own_way[result] = max(own_ways) + latency
    return longest, longest_own


def _carried(
    statement: Statement, dependences: Dependences, sizes: Mapping[str, int]
) -> Iterator[Carried]:
    """A few distances of each flow dependence of a statement on itself."""
    seen: set[tuple[float, ...]] = set()
    for dependence in dependences:
        if (
            dependence.kind is not DependenceKind.FLOW
            or dependence.source != statement.name
            or dependence.target != statement.name
        ):
            continue
        try:
            with bounded():
                distances = fix_parameters(dependence.relation, sizes).deltas()
                points = [] if distances.is_empty() else _corners(distances)
        except (TooComplexError, isl.Error):
            continue
        for point in points:
            if point not in seen:
                seen.add(point)
                yield Carried(point, dependence.reduction)


def _corners(distances: isl.Set) -> list[tuple[float, ...]]:
    return [_coordinates(distances.lexmin()), _coordinates(distances.lexmax())]


def _coordinates(points: isl.Set) -> tuple[float, ...]:
    point = points.sample_point()
    return tuple(
        float(point.get_coordinate_val(isl.dim_type.set, position).to_python())
        for position in range(points.dim(isl.dim_type.set))
    )
