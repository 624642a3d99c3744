"""Affine scheduling by isl's ILP scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import islpy as isl

from ..polyhedral.dependences import DependenceKind
from ..polyhedral.isl_scheduler import (
    ALGORITHMS,
    FUSIONS,
    NoSchedule,
    SchedulerOptions,
    SchedulerProblem,
    SchedulerTimeOut,
    begin,
    solve,
)
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, sequence
from ..polyhedral.scop import Scop
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Transformation, option

LONGEST = 600
"""Seconds: schedules come from files of others, too."""

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True)
class AffineSchedule(Transformation):
    """Replaces the order of the whole program by an optimal affine one, in tilable bands.

    Minimises the distances of dependences band by band (Bondhugula et al., "A practical automatic
    polyhedral parallelizer and locality optimizer", PLDI 2008; Verdoolaege's isl). A loop has the
    name of the iterator that it adds to those further out. `affine-schedule{fusion=maximal}`:

        for i:                  for i:
          S0[i]                   S0[i]
        for i:          ->        S1[i]
          S1[i]
    """

    name: ClassVar[str] = "affine-schedule"
    symbol: ClassVar[str] = "A"

    loops: tuple[str, ...] = option("none: the whole program is scheduled", default=())
    fusion: str = option("minimal, balanced or maximal", default="balanced")
    algorithm: str = option("isl (Pluto's objective) or feautrier", default="isl")
    outer_parallel: bool = option("prefer outer loops without dependences", default=False)
    seconds: int = option("give up after this time", default=10)

    def rewrite(self, schedule: Schedule) -> Tree:
        if self.loops:
            raise MalformedTransformation("it takes no loops: it schedules the whole program")
        if schedule.tree is not schedule.scop.tree:
            raise MalformedTransformation("it must come first: it replaces the whole order")
        for value, known in ((self.fusion, FUSIONS), (self.algorithm, ALGORITHMS)):
            if value not in known:
                raise MalformedTransformation(f"{value!r} is none of {', '.join(known)}")
        if not 1 <= self.seconds <= LONGEST:
            raise MalformedTransformation(
                f"the scheduler may take 1 to {LONGEST} seconds, not {self.seconds}"
            )
        options = SchedulerOptions(self.fusion, self.algorithm, self.outer_parallel)
        try:
            text = solve(_problem(schedule), options, self.seconds)
        except NoSchedule:
            raise MalformedTransformation(
                "isl's scheduler finds no schedule; choose another fusion"
            ) from None
        except SchedulerTimeOut:
            raise MalformedTransformation(
                f"the scheduler gave no answer in {self.seconds} s; choose another fusion"
            ) from None
        root = isl.Schedule(text).get_root()
        return _Converter(schedule.scop).tree(root.child(0), root.domain_get_domain(), ())


def begin_affine_schedules(schedule: Schedule, fusions: Sequence[str]) -> None:
    """Starts to solve what affine schedules with these fusions ask for, in this order."""
    begin(_problem(schedule), [SchedulerOptions(fusion) for fusion in fusions])


def _problem(schedule: Schedule) -> SchedulerProblem:
    scop, dependences = schedule.scop, schedule.dependences
    flow = [d.relation for d in dependences if d.kind is DependenceKind.FLOW]
    proximity = reduce(
        lambda union, relation: union.union(isl.UnionMap.from_map(relation)),
        flow,
        isl.UnionMap.empty(scop.context.get_space()),
    )
    return SchedulerProblem(
        str(scop.context),
        str(scop.domain),
        str(_simplified(dependences.relation, scop)),
        str(_simplified(proximity, scop)),
    )


def _simplified(relation: isl.UnionMap, scop: Scop) -> isl.UnionMap:
    """The relation without bounds of targets, in stencils: where all pairs are near each other.

    There these add next to nothing to the bounds of the sources, but isl's time grows steeply with
    the number of constraints. The result contains the relation: no schedule gets wrong by it.
    """
    parts = relation.get_map_list()
    if all(_is_near(parts.get_at(number)) for number in range(parts.n_map())):
        return relation.gist_range(scop.domain)
    return relation


def _is_near(relation: isl.Map) -> bool:
    """Whether distances exist, and are bounded by a number whatever the sizes are."""
    if relation.dim(_IN) != relation.dim(_OUT):
        return False
    distances = relation.reset_tuple_id(_IN).reset_tuple_id(_OUT).deltas()
    return distances.project_out_all_params().is_bounded()


class _Converter:
    """isl's schedule tree -> ours, without the statements that isl finds to run never."""

    def __init__(self, scop: Scop):
        self.scop = scop

    def tree(self, node: isl.ScheduleNode, domain: isl.UnionSet, outer: tuple[str, ...]) -> Tree:
        match str(node.get_type()).rpartition(".")[2]:
            case "band":
                return self._band(node, domain, outer, 0)
            case "sequence" | "set":
                children = [node.child(position) for position in range(node.n_children())]
                inside = [domain.intersect(child.filter_get_filter()) for child in children]
                self._check_covered(domain, inside)
                parts = zip(children, inside, strict=True)
                return sequence([self.tree(child.child(0), part, outer) for child, part in parts])
            case "leaf":
                return sequence([Leaf(name) for name in self._names(domain)])
            case kind:
                raise AssertionError(f"isl's scheduler made a {kind} node")

    def _check_covered(self, domain: isl.UnionSet, parts: Sequence[isl.UnionSet]) -> None:
        """Raises MalformedTransformation where isl has lost instances, as it does at times."""
        rest = reduce(isl.UnionSet.subtract, parts, domain)
        names = [name for part in parts for name in self._names(part)]
        wrong = self._names(rest) or [name for name in names if names.count(name) > 1]
        if wrong:
            raise MalformedTransformation(
                f"isl's scheduler loses instances of '{wrong[0]}'; choose another fusion"
            )

    def _band(
        self, node: isl.ScheduleNode, domain: isl.UnionSet, outer: tuple[str, ...], member: int
    ) -> Tree:
        names = self._names(domain)
        if not names:
            return sequence(())
        band = node.band_get_partial_schedule()
        if member == node.band_n_member():
            return self.tree(node.child(0), domain, outer)
        function = band.get_at(member)
        schedule = {name: self._aff(function, name) for name in names}
        name = self._loop_name(schedule, outer)
        return Loop(name, schedule, self._band(node, domain, (*outer, name), member + 1))

    def _names(self, domain: isl.UnionSet) -> list[str]:
        parts: list[isl.Set] = []
        domain.foreach_set(parts.append)
        present = {part.get_tuple_name() for part in parts if not part.is_empty()}
        return [s.name for s in self.scop.statements if s.name in present]

    def _aff(self, function: isl.UnionPwAff, name: str) -> isl.Aff:
        space = self.scop.statement(name).domain.get_space()
        value = function.extract_pw_aff(space.from_domain().add_dims(isl.dim_type.out, 1))
        pieces: list[isl.Aff] = []
        value.foreach_piece(lambda _, aff: pieces.append(aff))
        assert len(pieces) == 1, "isl's scheduler makes affine functions"
        return pieces[0].align_params(space.params())

    def _loop_name(self, schedule: dict[str, isl.Aff], outer: tuple[str, ...]) -> str:
        for name, aff in schedule.items():
            iterators = self.scop.statement(name).loops
            used = [
                iterator
                for position, iterator in enumerate(iterators)
                if iterator not in outer
                and not aff.get_coefficient_val(isl.dim_type.in_, position).is_zero()
            ]
            if len(used) == 1:
                return used[0]
        return next(f"c{k}" for k in range(len(outer), 99) if f"c{k}" not in outer)
