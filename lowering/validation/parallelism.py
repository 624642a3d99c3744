"""Parallel loops carry no dependence, and vector loops none that lockstep execution violates.

Two iterations of a parallel loop, in the same iteration of all loops around, must not access one
element if one of them writes it. The lanes of a vector run in lockstep: every operation for all of
them before the next one. So an access of an earlier lane must come before one of a later lane that
it conflicts with in the order of the loop's body, too. Steps of a reduction whose order is free
need not, but no two of one element may be in the lanes of one statement: both would load it first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from ...passes.polyhedral.scop import AccessKind, Statement
from ..nest.nest import For
from .generated import Generated
from .kept_dependences import KeptDependences
from .order import earlier, later, meeting
from .reading import CallSite
from .verdict import Property, ViolatedError, Witness

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, eq=False)
class _Conflict:
    """Pairs of instances whose accesses, given by their positions in the bodies, conflict."""

    places: tuple[int, int]
    array: str
    pairs: isl.Map


class ParallelLoops:
    """The parallel and vector loops of a nest, and their conflicts."""

    def __init__(
        self,
        generated: Generated,
        sites: Sequence[CallSite],
        origins: Mapping[str, Statement],
        kept: KeptDependences,
        context: isl.Set,
    ) -> None:
        self.generated = generated
        self.sites = sites
        self.origins = origins
        self.kept = kept
        self.accesses = {
            statement.name: [
                (access.array.name, access.kind, access.relation.intersect_params(context))
                for access in statement.accesses
            ]
            for statement in generated.scop.statements
        }
        self.known: dict[tuple[str, str], list[_Conflict]] = {}

    def check(self) -> None:
        """Raises ViolatedError."""
        loops = {id(loop): loop for site in self.sites for loop in site.loops}
        for loop in loops.values():
            independent = any(loop is other for other in self.generated.independent)
            vector = any(loop is other for other in self.generated.vectors)
            if loop.loop.parallel or independent or vector:
                in_vectors = vector and not loop.loop.parallel
                for source, target, depth in self._pairs(loop):
                    self._check_pair(loop, source, target, depth, in_vectors=in_vectors)

    def _check_pair(
        self, loop: For, source: CallSite, target: CallSite, depth: int, *, in_vectors: bool
    ) -> None:
        for conflict in self._conflicts(source.statement, target.statement):
            pairs = _executions(source, target, conflict.pairs, depth)
            pairs = earlier(pairs, source, depth)
            if pairs.is_empty():
                continue
            kind = "parallel"
            if in_vectors:
                kind = "vector"
                assert loop.loop.vector is not None
                lanes = _at_most(pairs, depth, (loop.loop.vector - 1) * loop.step)
                pairs = _not_in_lockstep(lanes, source, target, depth + 1, conflict.places)
                free = None
                if not pairs.is_empty():
                    free = self._free_steps(source, target, conflict.array)
                if free is not None:
                    fixed = lanes.subtract(free)
                    pairs = _not_in_lockstep(fixed, source, target, depth + 1, conflict.places)
                    if source is target:
                        pairs = pairs.union(_at_once(lanes.intersect(free), source, depth + 1))
            if not pairs.is_empty():
                shown = pairs.apply_domain(source.instances).apply_range(target.instances)
                message = (
                    f"the {kind} loop {loop.loop.name} carries a dependence through "
                    f"{conflict.array}"
                )
                raise ViolatedError(Property.PARALLELISM, message, Witness.between(shown))

    def _free_steps(self, source: CallSite, target: CallSite, array: str) -> isl.Map | None:
        """The pairs of steps in an array that may run in any order, by values of the loops."""
        ends = [self._step(site, array) for site in (source, target)]
        steps = None if None in ends else self.kept.free_steps(*map(str, ends))
        if steps is None:
            return None
        steps = steps.set_tuple_name(_IN, source.statement)
        steps = steps.set_tuple_name(_OUT, target.statement)
        return source.instances.apply_range(steps).apply_range(target.instances.reverse())

    def _step(self, site: CallSite, array: str) -> str | None:
        """The statement of the program that accumulates at a call, in one element of an array."""
        origin = self.origins.get(site.statement)
        accumulation = origin and self.kept.dependences.accumulations.get(origin.name)
        if origin is None or accumulation is None or origin.is_opaque:
            return None
        operations = [access.op for access in origin.accesses]
        accesses = self.accesses[site.statement]
        ends = accumulation.load.op, accumulation.store.op
        load, store = (accesses[operations.index(each)] for each in ends)
        is_one = load[0] == store[0] == array and load[2].is_equal(store[2])
        return origin.name if is_one else None

    def _pairs(self, loop: For) -> Iterator[tuple[CallSite, CallSite, int]]:
        """The pairs of call sites inside, and the number of loops around."""
        inside = [site for site in self.sites if any(loop is other for other in site.loops)]
        for source in inside:
            depth = next(k for k, other in enumerate(source.loops) if other is loop)
            for target in inside:
                yield source, target, depth

    def _conflicts(self, one: str, other: str) -> list[_Conflict]:
        found = self.known.get((one, other))
        if found is None:
            found = self.known[one, other] = list(self._find_conflicts(one, other))
        return found

    def _find_conflicts(self, one: str, other: str) -> Iterator[_Conflict]:
        for place, (array, kind, elements) in enumerate(self.accesses[one]):
            for position, (others_array, others_kind, others) in enumerate(self.accesses[other]):
                if array == others_array and AccessKind.WRITE in (kind, others_kind):
                    pairs = elements.apply_range(others.reverse())
                    if not pairs.is_empty():
                        yield _Conflict((place, position), array, pairs)


def _executions(source: CallSite, target: CallSite, pairs: isl.Map, depth: int) -> isl.Map:
    """The pairs as values of the loops around the call sites, the same for the outer `depth`."""
    result = source.instances.apply_range(pairs).apply_range(target.instances.reverse())
    for loop in range(depth):
        result = result.equate(_IN, loop, _OUT, loop)
    return result


def _at_most(pairs: isl.Map, loop: int, distance: int) -> isl.Map:
    """The pairs of which the second one is no further away along the loop."""
    local = isl.LocalSpace.from_space(pairs.get_space())
    limit = isl.Constraint.alloc_inequality(local).set_constant_val(isl.Val(distance))
    limit = limit.set_coefficient_val(_IN, loop, isl.Val(1))
    return pairs.add_constraint(limit.set_coefficient_val(_OUT, loop, isl.Val(-1)))


def _not_in_lockstep(
    pairs: isl.Map, source: CallSite, target: CallSite, depth: int, places: tuple[int, int]
) -> isl.Map:
    """The pairs of lanes of which the first one does not come first inside of the vector loop.

    Where ways part at a condition, lanes that take different ones are in no vector. Of a loop with
    a step that begins elsewhere in each lane, the values do not say what runs together.
    """
    common, is_forward = meeting(source, target)
    for loop in range(depth, common):
        if _begins_by_lane(source, loop, depth):
            return pairs
        wrong = later(pairs, source, loop)
        if not wrong.is_empty():
            return wrong
        pairs = pairs.equate(_IN, loop, _OUT, loop)
    if source is target:
        is_forward = places[0] < places[1]
    nothing = isl.Map.empty(pairs.get_space())
    return nothing if is_forward or _at_condition(source, target) else pairs


def _begins_by_lane(site: CallSite, loop: int, depth: int) -> bool:
    """Whether a loop with a step begins elsewhere in each lane of the loop number `depth - 1`."""
    lane, inside = site.loops[depth - 1].variable, site.loops[loop]
    return inside.step != 1 and any(bound.depends_on(lane) for bound in inside.lower)


def _at_once(pairs: isl.Map, site: CallSite, depth: int) -> isl.Map:
    """The pairs of lanes that a call site may run in one vector."""
    for loop in range(depth, len(site.loops)):
        if not _begins_by_lane(site, loop, depth):
            pairs = pairs.equate(_IN, loop, _OUT, loop)
    return pairs


def _at_condition(source: CallSite, target: CallSite) -> bool:
    """Whether the ways to two call sites part at a condition."""
    for step, other in zip(source.steps, target.steps, strict=False):
        if step.number != other.number:
            return step.kind == "branch"
    return False
