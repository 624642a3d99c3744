"""Array expansion: privatises a local array along loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import ClassVar

from xdsl.ir.affine import AffineMap

from ..polyhedral.aff_expression import aff_expression
from ..polyhedral.dependences import DependenceKind
from ..polyhedral.schedule_tree import Loop, Tree, loops, statements
from ..polyhedral.scop import Access, Array, Scop, Statement
from ..schedules.errors import IllegalTransformation, MalformedTransformation
from ..schedules.program_edits import free_name, make_access, same_iteration, symbols
from ..schedules.schedule import Schedule, Steps, Transformation, option
from ..schedules.violation import Reason, Violation


@dataclass(frozen=True)
class Expand(Transformation):
    """Expands a local array, so that iterations of loops do not share its elements.

    The values of the loops become leading subscripts. Then no anti or output dependence through
    the array orders these iterations. Legal where no value of the array is read in another
    iteration than it was written. `expand{loops=i array=x}`:

        for i:                  for i:
          x = A[i]        ->      x[i] = A[i]
          B[i] = x * x            B[i] = x[i] * x[i]
    """

    name: ClassVar[str] = "expand"
    symbol: ClassVar[str] = "E"
    works_in_run_time_tiles: ClassVar[bool] = False

    array: str = option("a local array, by name")

    @property
    def subject(self) -> str:
        return f"expand of {self.array} by {', '.join(self.loops)}"

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        members = self._members(schedule)
        array = self._array(schedule.scop)
        inside = set(statements(members[-1]))
        users = {s.name for s in schedule.scop.statements if _uses(s, array)}
        if not users & inside:
            raise MalformedTransformation(f"{array.name} is not used inside {members[-1].name}")
        for statement in schedule.scop.statements:
            if any(a.is_opaque and a.array is array for a in statement.accesses):
                raise MalformedTransformation(
                    f"{statement.name} is not affine: which elements of {array.name} it uses is "
                    "not known"
                )
        violation = self._violation(schedule, members, array, inside)
        if violation is not None:
            raise IllegalTransformation(self.subject, violation, steps=partial(str, schedule))
        taken = {other.name for other in schedule.scop.arrays}
        name = free_name(f"{array.name}_expanded", taken) if users - inside else array.name
        expanded = replace(
            array,
            name=name,
            shape=(None,) * len(members) + array.shape,
            scope_depth=array.scope_depth + len(members),
        )
        kept = [a for a in schedule.scop.arrays if a is not array or users - inside]
        scop = replace(
            schedule.scop,
            arrays=(*kept, expanded),
            statements=tuple(
                _redirect(schedule.scop, s, array, expanded, members) if s.name in inside else s
                for s in schedule.scop.statements
            ),
        )
        return scop, schedule.tree

    def _members(self, schedule: Schedule) -> list[Loop]:
        """The loops, outermost first."""
        found = schedule.find_loops(self.loops)
        if not found:
            raise MalformedTransformation("name at least one loop")
        for number, loop in enumerate(found):
            if any(loop is other for other in found[:number]):
                raise MalformedTransformation(f"loop {loop.name} is named twice")
        members = sorted(found, key=lambda loop: len(schedule.outer(loop)))
        for outer, inner in pairwise(members):
            if all(loop is not inner for loop in loops(outer)):
                raise MalformedTransformation(f"loop {inner.name} is not inside {outer.name}")
        return members

    def _array(self, scop: Scop) -> Array:
        found = next((array for array in scop.arrays if array.name == self.array), None)
        if found is None:
            known = ", ".join(array.name for array in scop.arrays if array.is_local) or "none"
            raise MalformedTransformation(
                f"there is no array {self.array}; the local arrays are {known}"
            )
        if not found.is_local:
            raise MalformedTransformation(
                f"{self.array} is an argument, whose last values the caller sees; "
                "only local arrays can be expanded"
            )
        if any(returned is found for returned in scop.returns):
            raise MalformedTransformation(f"the last value of {self.array} is returned")
        return found

    def _violation(
        self, schedule: Schedule, members: list[Loop], array: Array, inside: set[str]
    ) -> Violation | None:
        """A value that would be read from another element than it was written to."""
        for dependence in schedule.dependences:
            if dependence.array != array.name or dependence.kind is not DependenceKind.FLOW:
                continue
            ends = {dependence.source in inside, dependence.target in inside}
            if ends == {False}:
                continue
            pairs = dependence.relation
            if ends == {True}:
                pairs = pairs.subtract(same_iteration(members, schedule.scop, dependence))
            if not pairs.is_empty():
                return Violation(dependence, pairs, Reason.ELSEWHERE, members[-1].name)
        return None


def _uses(statement: Statement, array: Array) -> bool:
    return any(access.array is array for access in statement.accesses)


def _redirect(
    scop: Scop, statement: Statement, old: Array, new: Array, members: list[Loop]
) -> Statement:
    """The statement with the new array in place of the old one."""
    leading = [aff_expression(loop.schedule[statement.name], symbols(scop)) for loop in members]

    def redirected(access: Access) -> Access:
        map_ = access.map
        place = (*leading, *map_.results)
        expanded = AffineMap(map_.num_dims, map_.num_symbols, place)
        return make_access(scop, access.kind, new, expanded, statement.domain, access.op)

    accesses = tuple(redirected(a) if a.array is old else a for a in statement.accesses)
    return replace(statement, accesses=accesses)


def expanded(schedule: Schedule, illegal: Transformation) -> Iterator[Steps]:
    """The step after each iteration of its loops has been given local arrays of its own."""
    arrays = (array.name for array in schedule.scop.arrays if array.is_local)
    steps = [Expand(illegal.loops, name) for name in arrays]
    legal = tuple(step for step in steps if schedule.legal(step))
    for step in legal:
        yield (step, illegal)
    yield (*legal, illegal)
