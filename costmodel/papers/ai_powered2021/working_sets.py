"""Working sets of dependences: data touched between two uses of an element.

A reuse finds its element in a cache that holds everything that was touched in between. Source:
Tavarageri et al., "AI Powered Compiler Techniques for DL Code Optimization", 2021, section 3.2.
For `C[i][j] += A[i][k] * B[k][j]` as written, `A[0][0]` is used again by the next `j`; in between,
2K + 3 elements are touched, and NK + N + 1 until the last `j`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl
from xdsl.dialects.builtin import FixedBitwidthType

from ....passes.polyhedral.counting import UncountableError, cardinality
from ....passes.polyhedral.dependences import DependenceKind
from ....passes.polyhedral.isl_context import bounded
from ....passes.polyhedral.reuses import Carrier, Group, Path, carriers, groups, paths
from ....passes.polyhedral.schedule_tree import Loop, Tree
from ....passes.polyhedral.scop import Access, Array, Scop
from .box_statements import NotABoxError
from .box_working_sets import BoxProgram

OPERATIONS = 20_000_000
"""What isl may spend on one schedule: a few seconds."""


@dataclass(frozen=True)
class WorkingSet:
    """Distinct elements of all arrays, and their bytes."""

    elements: int
    bytes: int


@dataclass(frozen=True)
class Reuse:
    """A dependence under a schedule: two statements that access the same element.

    `kinds` has more than one entry where these have the same pairs of instances. `carrier` is the
    loop whose iterations it joins, within one iteration of all loops further out; None where one
    iteration of all common loops does both. Of the first source in the order of execution,
    `nearest` is what is touched up to its first target, and `farthest` up to its last one, both
    ends included.
    """

    kinds: tuple[DependenceKind, ...]
    source: str
    target: str
    array: str
    carrier: str | None
    nearest: WorkingSet
    farthest: WorkingSet


def working_sets(
    scop: Scop, tree: Tree, sizes: Mapping[str, int], *, hull: bool = False
) -> tuple[Reuse, ...]:
    """The working sets of all reuses (dependences and read-after-read) when `tree` is the order.

    `sizes` binds all parameters. Exact; where domains and tiles are boxes, without isl. With
    `hull`, others count as the boxes around them. Raises TooComplexError.
    """
    try:
        return tuple(_of_boxes(scop, tree, sizes, hull=hull))
    except NotABoxError:
        with bounded(OPERATIONS):
            return tuple(_Exact(scop, tree, sizes).reuses())


def _of_boxes(scop: Scop, tree: Tree, sizes: Mapping[str, int], *, hull: bool) -> Iterator[Reuse]:
    program = BoxProgram(scop, tree, sizes, hull=hull)
    item = _item_bytes(scop)
    for group in groups(scop, tree):
        for carrier in carriers(program.paths[group.source], program.paths[group.target]):
            found = program.counts(group, carrier)
            if found is not None:
                yield _reuse(group, carrier, [_total(count, item) for count in found])


def exact_working_sets(scop: Scop, tree: Tree, sizes: Mapping[str, int]) -> tuple[Reuse, ...]:
    """As `working_sets`, by isl in any case; raises TooComplexError."""
    with bounded(OPERATIONS):
        return tuple(_Exact(scop, tree, sizes).reuses())


def _reuse(group: Group, carrier: Carrier, found: Sequence[WorkingSet]) -> Reuse:
    nearest, farthest = found
    return Reuse(
        group.kinds, group.source, group.target, group.array, carrier.loop, nearest, farthest
    )


def _item_bytes(scop: Scop) -> dict[str, int]:
    return {array.name: _bytes_of(array) for array in scop.arrays}


def _bytes_of(array: Array) -> int:
    """Bytes of an element; `index` has 8, a boolean takes one."""
    kind = array.element_type
    return max(1, kind.bitwidth // 8) if isinstance(kind, FixedBitwidthType) else 8


def _total(counts: Mapping[str, int], item_bytes: Mapping[str, int]) -> WorkingSet:
    return WorkingSet(
        sum(counts.values()), sum(count * item_bytes[name] for name, count in counts.items())
    )


class _Exact:
    """A program and its order as isl maps, for given sizes."""

    def __init__(self, scop: Scop, tree: Tree, sizes: Mapping[str, int]) -> None:
        self._scop, self._tree, self._sizes = scop, tree, sizes
        self._paths = paths(tree)
        self._depth = max(map(len, self._paths.values()), default=0)
        self._times = {name: self._time(name, path) for name, path in self._paths.items()}
        self._item_bytes = _item_bytes(scop)

    def reuses(self) -> Iterator[Reuse]:
        """All of them."""
        for group in groups(self._scop, self._tree):
            pairs = self._pairs(group)
            for carrier in carriers(self._paths[group.source], self._paths[group.target]):
                found = self._ends(group, pairs, carrier)
                if found is not None:
                    source, *targets = found
                    counts = (self._count(source, target) for target in targets)
                    totals = [_total(count, self._item_bytes) for count in counts]
                    yield _reuse(group, carrier, totals)

    def _pairs(self, group: Group) -> isl.Map:
        """Instances of the source and the target that use the same element, in any order."""
        sources = [self._fixed(access.relation) for access in group.sources]
        targets = [self._fixed(access.relation) for access in group.targets]
        before, after = reduce(isl.Map.union, sources), reduce(isl.Map.union, targets)
        return before.apply_range(after.reverse())

    def _ends(
        self, group: Group, pairs: isl.Map, carrier: Carrier
    ) -> tuple[isl.Set, isl.Set, isl.Set] | None:
        """The times of the first source, and of its first and last target."""
        source, target = self._times[group.source], self._times[group.target]
        timed = pairs.apply_domain(source).apply_range(target)
        timed = timed.intersect(self._carried(carrier.depth))
        if timed.is_empty():
            return None
        first = timed.domain().lexmin()
        targets = timed.intersect_domain(first).range()
        return first, targets.lexmin(), targets.lexmax()

    def _carried(self, depth: int) -> isl.Map:
        """From each time to the later ones that are the same in the first `depth` places."""
        space = isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, self._depth, self._depth)
        order = isl.Map.universe(space)
        for place in range(depth):
            order = order.equate(isl.dim_type.in_, place, isl.dim_type.out, place)
        return order.order_lt(isl.dim_type.in_, depth, isl.dim_type.out, depth)

    def _count(self, source: isl.Set, target: isl.Set) -> dict[str, int]:
        """Different elements of each array from one time to another, both included."""
        later = isl.Map.lex_le(source.get_space())
        between = source.apply(later).intersect(target.apply(later.reverse()))
        counts: dict[str, int] = {}
        for array in self._scop.arrays:
            parts = [
                part
                for statement in self._scop.statements
                for access in statement.accesses
                if access.array is array and statement.name in self._times
                for part in [self._touched(statement.name, access, between)]
            ]
            counts[array.name] = _number(reduce(isl.Set.union, parts)) if parts else 0
        return counts

    def _touched(self, statement: str, access: Access, between: isl.Set) -> isl.Set:
        """Elements; what storage has once for all iterations around it counts once."""
        instances = self._times[statement].intersect_range(between).domain()
        elements = instances.apply(self._fixed(access.relation))
        return elements.project_out(isl.dim_type.set, 0, access.array.scope_depth)

    def _time(self, name: str, path: Path) -> isl.Map:
        """When the instances of a statement run: loops and places in sequences, outermost first."""
        domain = self._scop.statement(name).domain
        space = isl.LocalSpace.from_space(domain.get_space())
        result = isl.Map.from_domain(domain)
        for entry in (*path, *[0] * (self._depth - len(path))):
            if isinstance(entry, Loop):
                aff = entry.schedule[name]
            else:
                aff = isl.Aff.zero_on_domain(space).set_constant_val(isl.Val(str(entry)))
            result = result.flat_range_product(isl.Map.from_aff(aff))
        return self._fixed(result)

    def _fixed(self, relation: isl.Map) -> isl.Map:
        """A relation at the sizes, without parameters."""
        for position in reversed(range(relation.dim(isl.dim_type.param))):
            name = relation.get_dim_name(isl.dim_type.param, position) or ""
            value = isl.Val(str(self._sizes[name])) if name in self._sizes else None
            if value is not None:
                relation = relation.fix_val(isl.dim_type.param, position, value)
            relation = relation.project_out(isl.dim_type.param, position, 1)
        return relation


def _number(points: isl.Set) -> int:
    try:
        return cardinality(points)
    except UncountableError:
        return points.count_val().to_python()
