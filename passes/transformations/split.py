"""Index-set splitting of a loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import islpy as isl

from ..polyhedral.dependences import Dependence, Dependences
from ..polyhedral.isl_context import coalesced
from ..polyhedral.reductions import find_accumulation
from ..polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, restrict, sequence, statements
from ..polyhedral.scop import Scop, Statement
from ..schedules.affine_sums import AffineSums
from ..schedules.errors import MalformedTransformation
from ..schedules.program_edits import copy_name
from ..schedules.schedule import Schedule, Transformation, option, remember_dependences


@dataclass(frozen=True)
class Split(Transformation):
    """Splits a loop into two that follow each other: values below `at`, and the others.

    Bounds and conditions that hold in only one of them disappear from the other. A statement that
    runs in both is two statements from then on. `at` may move with the loops around, as in
    `split{loops=j at=k+1}` of a loop inside `k`. `split{loops=i at=n-1}`:

        for i in [0, n):            for i in [0, n - 1):
          S0[i]               ->      S0[i]
          if i == n - 1:            for i in [n - 1, n):
            S1[i]                     S0_2[i]
                                      S1[i]
    """

    name: ClassVar[str] = "split"
    symbol: ClassVar[str] = "X"

    at: str = option(
        "first value of the second loop: a sum of integers and multiples of sizes and loops around"
    )

    def resolve(self, schedule: Schedule) -> Split:
        step = super().resolve(schedule)
        if len(step.loops) != 1:
            raise MalformedTransformation("name one loop")
        known = AffineSums.around(schedule, schedule.loop(step.loops[0]))
        return replace(step, at=known.simplified(self.at))

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        loop = schedule.loop(self.loops[0])
        below, above = self._parts(schedule, loop)
        for part, place in ((below, "from"), (above, "below")):
            if not part:
                raise MalformedTransformation(
                    f"every value of {loop.name} is {place} {self.at}: nothing to split"
                )
        for name in loop.schedule:
            if name not in below and name not in above:
                # A statement that never runs stays: the loops around have it, too.
                below[name] = schedule.scop.statement(name).domain
        taken = {statement.name for statement in schedule.scop.statements}
        names: dict[str, str] = {}
        for name in above:
            names[name] = copy_name(name, taken) if name in below else name
            taken.add(names[name])
        first, second = restrict(loop, below), restrict(loop, above)
        assert first is not None and second is not None
        new = sequence((first, _rename(second, names)))
        copies = {name: copy for name, copy in names.items() if name != copy}
        tree = _replace(schedule.tree, loop, new, copies)
        changed = {name: _restricted(schedule.scop.statement(name), below[name]) for name in below}
        for name, copy in names.items():
            domain = above[name].set_tuple_name(copy)
            changed[copy] = _restricted(schedule.scop.statement(name), domain)
        every = {s.name: s for s in schedule.scop.statements} | changed
        scop = replace(
            schedule.scop,
            statements=tuple(every[name] for name in statements(tree)),
            tree=_original_order(schedule.scop.tree, copies),
        )
        remember_dependences(_split_dependences(schedule.dependences, scop, copies))
        return scop, tree

    def _parts(
        self, schedule: Schedule, loop: Loop
    ) -> tuple[dict[str, isl.Set], dict[str, isl.Set]]:
        """The instances below `at` and those from there on, by statement, where there are any."""
        scop, known = schedule.scop, AffineSums.around(schedule, loop)
        parts: tuple[dict[str, isl.Set], dict[str, isl.Set]] = {}, {}
        for name, value in loop.schedule.items():
            domain = scop.statement(name).domain
            at = known.aff(self.at, name, domain.get_space())
            for part, condition in zip(parts, (value.lt_set(at), value.ge_set(at)), strict=True):
                chosen = _without_quotients(coalesced(domain.intersect(condition)))
                if not chosen.intersect_params(scop.context).is_empty():
                    part[name] = chosen
        return parts


def _without_quotients(points: isl.Set) -> isl.Set:
    """The same points without divisions, as those of tile loops, where they need none."""
    simpler = coalesced(points.remove_divs())
    return simpler if simpler.is_equal(points) else points


def _restricted(statement: Statement, domain: isl.Set) -> Statement:
    """The statement with this domain, after which it is called."""
    name = domain.get_tuple_name()
    assert name is not None
    accesses = tuple(
        replace(
            access,
            relation=access.relation.set_tuple_name(isl.dim_type.in_, name).intersect_domain(
                domain
            ),
        )
        for access in statement.accesses
    )
    return replace(statement, name=name, domain=domain, accesses=accesses)


def _split_dependences(old: Dependences, scop: Scop, copies: Mapping[str, str]) -> Dependences:
    """The dependences of the program with copies: the same pairs of instances."""
    accumulations = {
        statement.name: found
        for statement in scop.statements
        if (found := find_accumulation(statement)) is not None
    }
    items = tuple(_split_pairs(old, scop, copies))
    conflicts = {
        array: tuple(_split_pairs(through, scop, copies))
        for array, through in old.conflicts.items()
    }
    return Dependences(scop, items, accumulations, conflicts)


def _split_pairs(
    old: Iterable[Dependence], scop: Scop, copies: Mapping[str, str]
) -> Iterator[Dependence]:
    for dependence in old:
        for source in _both(dependence.source, copies):
            for target in _both(dependence.target, copies):
                relation = (
                    dependence.relation.set_tuple_name(isl.dim_type.in_, source)
                    .set_tuple_name(isl.dim_type.out, target)
                    .intersect_domain(scop.statement(source).domain)
                    .intersect_range(scop.statement(target).domain)
                )
                if not relation.is_empty():
                    yield replace(
                        dependence,
                        source=source,
                        target=target,
                        relation=coalesced(relation),
                        reduction=dependence.reduction and source == target,
                    )


def _both(name: str, copies: Mapping[str, str]) -> tuple[str, ...]:
    return (name, copies[name]) if name in copies else (name,)


def _replace(tree: Tree, loop: Loop, new: Tree, copies: Mapping[str, str]) -> Tree:
    """The tree with `new` in place of `loop`; the loops around it run the copies, too."""
    if tree is loop:
        return new
    match tree:
        case Loop(schedule=schedule, body=body):
            inner = _replace(body, loop, new, copies)
            if inner is body:
                return tree
            added = {copy: _for(schedule[name], copy) for name, copy in copies.items()}
            return replace(tree, schedule={**schedule, **added}, body=inner)
        case Sequence(children):
            parts = tuple(_replace(child, loop, new, copies) for child in children)
            unchanged = all(a is b for a, b in zip(parts, children, strict=True))
            return tree if unchanged else sequence(parts)
        case Leaf():
            return tree


def _original_order(tree: Tree, copies: Mapping[str, str]) -> Tree:
    """The tree in which the copies run where the statements did: no instance is in both."""
    match tree:
        case Leaf(name):
            return Sequence((tree, Leaf(copies[name]))) if name in copies else tree
        case Loop(schedule=schedule, body=body):
            added = {
                copies[name]: _for(aff, copies[name])
                for name, aff in schedule.items()
                if name in copies
            }
            return replace(tree, schedule={**schedule, **added}, body=_original_order(body, copies))
        case Sequence(children):
            return sequence(_original_order(child, copies) for child in children)


def _rename(tree: Tree, names: Mapping[str, str]) -> Tree:
    match tree:
        case Leaf(name):
            return Leaf(names[name])
        case Loop(schedule=schedule, body=body):
            renamed = {names[name]: _for(aff, names[name]) for name, aff in schedule.items()}
            return replace(tree, schedule=renamed, body=_rename(body, names))
        case Sequence(children):
            return Sequence(tuple(_rename(child, names) for child in children))


def _for(aff: isl.Aff, statement: str) -> isl.Aff:
    """The same function of the instances of another statement."""
    # An id that Python makes is another one than that which isl makes of the same name.
    name = isl.Set(f"{{ {statement}[] }}").get_tuple_id()
    return aff.set_tuple_id(isl.dim_type.in_, name)
