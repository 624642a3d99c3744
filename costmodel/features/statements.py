"""What is known of a statement before any schedule: operations, accesses, dependences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from math import gcd, prod
from typing import NamedTuple

import islpy as isl
import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ...passes.default.facts import Facts, bytes_of, coefficients
from ...passes.polyhedral.context import TooComplexError, bounded
from ...passes.polyhedral.dependences import DependenceKind, Dependences
from ...passes.polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ...passes.schedule import Schedule
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

_LATENCIES = {
    "additions": 2.5,
    "multiplications": 3.0,
    "divisions": 14.0,
    "functions": 40.0,
    "comparisons": 5.0,
    "integer_multiplications": 3.0,
    "integer_divisions": 18.0,
    _OTHER: 1.0,
}
"""Cycles from the operands of an operation to its result."""

PERIODS = (4096, 65536)
"""Bytes after which addresses fall into the same set of the caches of levels 1 and 2."""

_ADDED = ("pack_", "unpack_")
"""Statements that schedules add."""

_UNBOUNDED = float(1 << 40)


class Operations(NamedTuple):
    """How many operations of each kind one instance executes, besides loads and stores."""

    additions: float = 0.0
    multiplications: float = 0.0
    divisions: float = 0.0
    functions: float = 0.0
    comparisons: float = 0.0
    integer_multiplications: float = 0.0
    integer_divisions: float = 0.0
    others: float = 0.0


@dataclass(frozen=True)
class AccessProfile:
    """Loads (or stores) of one element, counted once.

    `strides` are elements per iterator, `offset` the element at the origin, `array` is the number
    of the array, `size` the bytes of an element.
    """

    is_write: bool
    array: int
    strides: tuple[float, ...]
    offset: float
    size: int


@dataclass(frozen=True)
class Carried:
    """From an instance to a later one that needs its result: by how much the iterators differ."""

    distance: tuple[float, ...]
    reduction: bool


@dataclass(frozen=True)
class Boxes:
    """The groups of accesses with the same coefficients, for footprints.

    Rows of `coefficients` are subscripts, absolute values; `spread` is by how much constants
    differ, `extents` the shape of the array; the subscripts of a group begin at one of `starts`;
    `last` are the positions of last subscripts. `places` (2 x rows) is how many steps of a
    subscript begin in different sets of the caches of level 1 and 2. `counts` is how many accesses
    a group has, `iterators` (groups x iterators) which iterators it depends on. `arrays` (groups x
    arrays) tells which array each group is in.
    """

    coefficients: np.ndarray
    spread: np.ndarray
    extents: np.ndarray
    starts: np.ndarray
    last: np.ndarray
    sizes: np.ndarray
    places: np.ndarray
    counts: np.ndarray
    iterators: np.ndarray
    arrays: np.ndarray


@dataclass(frozen=True)
class StatementProfile:
    """A statement at given sizes, without a schedule.

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
    facts: Facts,
    dependences: Dependences,
    arrays: Mapping[str, int],
    schedule: Schedule,
    domains: Domains,
) -> StatementProfile:
    """Everything about a statement that no step changes; `arrays` are numbers by name."""
    shape = {a.array.name: _shape(a.array, facts, {}) for a in statement.accesses}
    element = min((a.array.element_type for a in statement.accesses), key=bytes_of, default=None)
    spans, low, high, links, orders = domains.of(
        statement.domain, exact=not statement.name.startswith(_ADDED)
    )
    instances = prod(spans)
    box = prod(h - w + 1 for w, h in zip(low, high, strict=True))
    chain, own_chain = _chains(statement)
    operations = _operations(statement)
    accesses = tuple(_access_profiles(statement, scop, facts.sizes, shape, arrays))
    accumulation = dependences.accumulations.get(statement.name)
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
        _boxes(statement, scop, facts.sizes, shape, arrays),
        chain,
        own_chain,
        tuple(_carried(statement, dependences, facts.sizes)),
        sum(operations) + len(accesses),
        accumulation is not None and (schedule.reassociate or accumulation.reassociable),
    )


def with_kept(
    profile: StatementProfile,
    statement: Statement,
    scop: Scop,
    facts: Facts,
    arrays: Mapping[str, int],
    kept: Iterable[tuple[str, int, float]],
) -> StatementProfile:
    """The same statement where storage keeps dimensions of local arrays: name, position, extent."""
    extents: dict[str, dict[int, float]] = {}
    for name, position, extent in kept:
        extents.setdefault(name, {})[position] = extent
    shape = {
        a.array.name: _shape(a.array, facts, extents.get(a.array.name, {}))
        for a in statement.accesses
    }
    return replace(
        profile,
        accesses=tuple(_access_profiles(statement, scop, facts.sizes, shape, arrays)),
        boxes=_boxes(statement, scop, facts.sizes, shape, arrays),
    )


def _shape(
    array: Array, facts: Facts, kept: Mapping[int, float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The extents of an array, and by how many elements a step of each subscript moves.

    Dimensions that storage contracts, and are not `kept`, do not move. A buffer has no extents yet:
    its rows are taken to be a few cache lines apart.
    """
    extents = [float(extent) for extent in facts.extents(array)]
    strides = [0.0] * len(extents)
    step = 1.0
    for position in reversed(range(len(extents))):
        extents[position] = kept.get(position, extents[position])
        if array.shape[position] is not None or position in kept:
            strides[position] = step
            step *= extents[position]
        elif position >= array.scope_depth and array.scope_depth:
            extents[position] = _UNBOUNDED
            strides[position] = step
            step *= 72.0
    return tuple(extents), tuple(strides)


def _symbols(scop: Scop, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple([sizes.get(parameter.name, 0) for parameter in scop.parameters])


def _offsets(access: Access, scop: Scop, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return _at_origin(access.map, _symbols(scop, sizes))


@lru_cache(maxsize=4096)
def _at_origin(subscripts: AffineMap, symbols: tuple[int, ...]) -> tuple[int, ...]:
    return subscripts.eval([0] * subscripts.num_dims, symbols)


def _access_profiles(
    statement: Statement,
    scop: Scop,
    sizes: Mapping[str, int],
    shapes: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]],
    arrays: Mapping[str, int],
) -> Iterator[AccessProfile]:
    seen: set[tuple[object, ...]] = set()
    for access in statement.accesses:
        rows = coefficients(access.map)
        offsets = _offsets(access, scop, sizes)
        key = (access.kind, access.array.name, rows, offsets)
        if key in seen:
            continue
        seen.add(key)
        steps = shapes[access.array.name][1]
        depth = len(statement.loops)
        strides = tuple(
            [
                float(sum([row[d] * step for row, step in zip(rows, steps, strict=True)]))
                for d in range(depth)
            ]
        )
        yield AccessProfile(
            access.kind is AccessKind.WRITE,
            arrays[access.array.name],
            strides,
            float(sum([offset * step for offset, step in zip(offsets, steps, strict=True)])),
            bytes_of(access.array.element_type),
        )


def _boxes(
    statement: Statement,
    scop: Scop,
    sizes: Mapping[str, int],
    shapes: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]],
    arrays: Mapping[str, int],
) -> Boxes:
    groups: dict[tuple[str, tuple[tuple[int, ...], ...]], list[tuple[int, ...]]] = {}
    bytes_per_array: dict[str, int] = {}
    for access in statement.accesses:
        key = (access.array.name, coefficients(access.map))
        groups.setdefault(key, []).append(_offsets(access, scop, sizes))
        bytes_per_array[access.array.name] = bytes_of(access.array.element_type)
    depth = len(statement.loops)
    rows: list[Sequence[float]] = []
    spread: list[float] = []
    extents: list[float] = []
    starts: list[int] = []
    places: list[tuple[float, ...]] = []
    for (name, coefficient_rows), offsets in groups.items():
        starts.append(len(rows))
        if not coefficient_rows:  # a scalar: one subscript that is always 0
            coefficient_rows, offsets = ((0,) * depth,), [(0,)]
        shape = shapes[name][0] or (1.0,)
        steps = shapes[name][1] or (0.0,)
        for position, row in enumerate(coefficient_rows):
            rows.append([abs(c) for c in row])
            constants = [offset[position] for offset in offsets]
            spread.append(max(constants) - min(constants))
            extents.append(max(1.0, shape[position]))
            step = int(steps[position]) * bytes_per_array[name]
            places.append(tuple(period / gcd(step, period) for period in PERIODS))
    member = np.zeros((len(groups), len(arrays)))
    iterators = np.zeros((len(groups), depth))
    for group, (name, coefficient_rows) in enumerate(groups):
        member[group, arrays[name]] = 1.0
        for row in coefficient_rows:
            iterators[group] = np.maximum(iterators[group], [c != 0 for c in row])
    return Boxes(
        np.array(rows, dtype=float).reshape(len(rows), depth),
        np.array(spread, dtype=float),
        np.array(extents, dtype=float),
        np.array(starts, dtype=int),
        np.array([*starts[1:], len(rows)], dtype=int) - 1,
        np.array([bytes_per_array[name] for name, _ in groups], dtype=float),
        np.array(places, dtype=float).reshape(len(rows), len(PERIODS)).T,
        np.array([len(set(offsets)) for offsets in groups.values()], dtype=float),
        iterators,
        member,
    )


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
                distances = _fix_parameters(dependence.relation, sizes).deltas()
                points = [] if distances.is_empty() else _corners(distances)
        except (TooComplexError, isl.Error):
            continue
        for point in points:
            if point not in seen:
                seen.add(point)
                yield Carried(point, dependence.reduction)


def _fix_parameters(relation: isl.Map, sizes: Mapping[str, int]) -> isl.Map:
    """The relation for given values of parameters, without these parameters."""
    for name, value in sizes.items():
        position = relation.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            relation = relation.fix_val(isl.dim_type.param, position, isl.Val(str(value)))
            relation = relation.project_out(isl.dim_type.param, position, 1)
    return relation


def _corners(distances: isl.Set) -> list[tuple[float, ...]]:
    return [_coordinates(distances.lexmin()), _coordinates(distances.lexmax())]


def _coordinates(points: isl.Set) -> tuple[float, ...]:
    point = points.sample_point()
    return tuple(
        float(point.get_coordinate_val(isl.dim_type.set, position).to_python())
        for position in range(points.dim(isl.dim_type.set))
    )
