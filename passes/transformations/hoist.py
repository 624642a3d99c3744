"""Hoisting of loop-invariant recurrences: what every line computes alike is computed once."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

import islpy as isl
from xdsl.ir.affine import AffineExpr, AffineMap

from ..polyhedral.aff_expression import aff_expression
from ..polyhedral.dependences import DependenceKind
from ..polyhedral.equivalence.equivalence import compare
from ..polyhedral.equivalence.last_writers import LastWriters, written
from ..polyhedral.identifiers import dimension_names
from ..polyhedral.isl_context import coalesced
from ..polyhedral.schedule_tree import (
    Leaf,
    Loop,
    Tree,
    loops_around,
    restrict,
    sequence,
    statements,
    without_marks,
)
from ..polyhedral.schedule_tree import Sequence as Parts
from ..polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ..schedules.errors import MalformedTransformation
from ..schedules.program_edits import (
    as_base,
    check_as_written,
    cloned,
    copy_name,
    copy_statement,
    free_name,
    induction_variable,
    loops_over,
    make_access,
    named_domain,
    only_statement,
    program_order,
    same_iteration,
    symbols,
    variables_of,
)
from ..schedules.schedule import Schedule, Transformation, option

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

OPERATIONS = 3_000_000
"""What isl may spend on the proof."""


@dataclass(frozen=True)
class Hoist(Transformation):
    """Computes a recurrence once that is the same in all iterations of loops around it.

    The recurrence is the statement with all whose results it needs; none of them has other values
    in other iterations of these loops. It moves in front of the program, with arrays of its own
    that have no subscripts for the loops (loop-invariant code motion and array contraction).
    Elements of an argument that the program leaves behind are copied there at the end. Legal where
    the new program is proved to compute the same. `hoist{statements=S0}`:

        for i:                                 for j: P[j] = f(P[j - 1])
          for j:                               for i:
            S0: p[i, j] = f(p[i, j - 1])  ->     for j:
            S1: q[i, j] = g(q[i, j - 1],           S1: q[i, j] = g(q[i, j - 1], P[j])
                            p[i, j])           for i: for j: p[i, j] = P[j]
    """

    name: ClassVar[str] = "hoist"
    symbol: ClassVar[str] = "HI"
    works_in_run_time_tiles: ClassVar[bool] = False

    loops: tuple[str, ...] = option("none: the statement says what moves", default=())
    statements: tuple[str, ...] = option("one statement of the recurrence", default=())

    @property
    def subject(self) -> str:
        return f"hoist of {', '.join(self.statements)}"

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        name = only_statement(schedule, self.loops, self.statements)
        scop = _Hoisting(schedule, invariant(schedule, name)).program()
        found = compare(schedule.scop, scop, operations=OPERATIONS, replaces=True)
        if not found.is_proved:
            raise MalformedTransformation(
                f"it is not proved that the program stays the same: {found.reason}"
            )
        return as_base(scop), scop.tree


@dataclass(frozen=True)
class Invariant:
    """A recurrence that is the same in all iterations of some loops around it.

    `kept` has the positions of the other induction variables of its statements, `subscripts` the
    subscripts of its arrays that are functions of these alone.
    """

    kept: Mapping[str, tuple[int, ...]]
    subscripts: Mapping[str, tuple[int, ...]]


def invariant(schedule: Schedule, name: str) -> Invariant:
    """What computes the values of a statement, as an invariant; raises MalformedTransformation."""
    scop = schedule.scop
    if scop.opaque_statements:
        raise MalformedTransformation("parts of the program are not affine")
    members = _sources(schedule, name)
    around = {member: loops_around(schedule.tree, member) for member in members}
    for member, loops in around.items():
        check_as_written(scop.statement(member), loops)
    arrays = {a.array.name for member in members for a in scop.statement(member).writes}
    kept = {id(loop) for loop in _carried(schedule, members, around)}
    _check_differs(name, around, kept)  # What is observed takes long to find.
    kept |= {id(loop) for loop in _observed(schedule, members, around)}
    accesses = [
        (access, around[member])
        for member in members
        for access in scop.statement(member).accesses
        if access.array.name in arrays
    ]
    subscripts = dict.fromkeys(arrays, frozenset[int]())
    while True:
        found = dict(subscripts)
        for access, loops in accesses:
            moving = [variables_of([each]) for each in access.map.results]
            used = {k for k, each in enumerate(moving) if any(id(loops[v]) in kept for v in each)}
            found[access.array.name] |= used
        for access, loops in accesses:
            for k in found[access.array.name]:
                kept |= {id(loops[v]) for v in variables_of([access.map.results[k]])}
        if found == subscripts:
            break
        subscripts = found
    positions = {
        member: tuple(k for k, loop in enumerate(loops) if id(loop) in kept)
        for member, loops in around.items()
    }
    _check_differs(name, around, kept)
    rest = {name: tuple(sorted(each)) for name, each in subscripts.items()}
    return Invariant(positions, rest)


def _check_differs(name: str, around: Mapping[str, Sequence[Loop]], kept: Set[int]) -> None:
    """Raises MalformedTransformation where a statement differs between iterations of all loops."""
    if any(all(id(loop) in kept for loop in loops) for loops in around.values()):
        raise MalformedTransformation(f"no loop around {name} has it alike in all iterations")


def _sources(schedule: Schedule, name: str) -> list[str]:
    """A statement, and all whose results it needs, in program order."""
    found, waiting = {name}, [name]
    while waiting:
        target = waiting.pop()
        for dependence in schedule.dependences:
            is_flow = dependence.kind is DependenceKind.FLOW and dependence.target == target
            if is_flow and dependence.source not in found:
                found.add(dependence.source)
                waiting.append(dependence.source)
    return [each for each in statements(schedule.tree) if each in found]


def _carried(
    schedule: Schedule, members: Sequence[str], around: Mapping[str, Sequence[Loop]]
) -> Iterator[Loop]:
    """The loops from one iteration of which to another values go."""
    for dependence in schedule.dependences:
        ends = dependence.source, dependence.target
        if dependence.kind is not DependenceKind.FLOW or not set(ends) <= set(members):
            continue
        for loop in around[ends[0]]:
            if any(loop is other for other in around[ends[1]]):
                same = same_iteration([loop], schedule.scop, dependence)
                if not dependence.relation.is_subset(same):
                    yield loop


def _observed(
    schedule: Schedule,
    members: Sequence[str],
    around: Mapping[str, Sequence[Loop]],
) -> Iterator[Loop]:
    """The loops whose iterations differ in what is read of arguments, or in other values."""
    for member in members:
        statement = schedule.scop.statement(member)
        used = [*statement.indices.values()]
        for read in statement.reads:
            computed = _instances_reading(schedule, statement, read, members)
            if not statement.domain.is_subset(computed):
                used += read.map.results
        for expression in used:
            yield from (around[member][k] for k in variables_of([expression]))


def _instances_reading(
    schedule: Schedule, statement: Statement, read: Access, sources: Container[str]
) -> isl.Set:
    """The instances of a statement that read there what some of `sources` has written."""
    return reduce(
        isl.Set.union,
        (
            dependence.relation.intersect(
                write.relation.apply_range(read.relation.reverse())
            ).range()
            for dependence in schedule.dependences
            if dependence.kind is DependenceKind.FLOW
            and (dependence.target, dependence.array) == (statement.name, read.array.name)
            and dependence.source in sources
            for write in schedule.scop.statement(dependence.source).writes
            if write.array is read.array
        ),
        isl.Set.empty(statement.domain.get_space()),
    )


class _Hoisting:
    """The program with an invariant in front of it."""

    def __init__(self, schedule: Schedule, found: Invariant) -> None:
        self.schedule = schedule
        self.old = schedule.scop
        self.found = found
        self.taken = {statement.name for statement in self.old.statements}
        self.names: dict[str, str] = {}
        for member in found.kept:
            self.names[member] = copy_name(member, self.taken)
            self.taken.add(self.names[member])
        known = {array.name for array in self.old.arrays}
        self.arrays: dict[str, Array] = {}
        for name, subscripts in found.subscripts.items():
            array = next(each for each in self.old.arrays if each.name == name)
            own = free_name(f"{name}_hoisted", known)
            known.add(own)
            shape = (None,) * len(subscripts)
            self.arrays[name] = Array(own, array.element_type, shape, array.value, None)

    def program(self) -> Scop:
        """The program; raises MalformedTransformation where there is none."""
        old, found = self.old, self.found
        first = [self._hoisted(old.statement(name)) for name in found.kept]
        rest = [self._redirected(each) for each in old.statements if each.name not in found.kept]
        last = [copy for name in found.subscripts for copy in self._ends(name)]
        before = restrict(self.schedule.tree, found.kept)
        within = restrict(self.schedule.tree, {each.name for each in rest})
        assert before is not None, "there are statements to hoist"
        parts = [self._moved(before), within, *(loops_over(each, 0) for each in last)]
        tree = without_marks(sequence([part for part in parts if part is not None]))
        ordered = program_order(old, tree, [*first, *rest, *last])
        used = {access.array.name for each in ordered for access in each.accesses}
        arrays = [
            array
            for array in old.arrays
            if array.name not in found.subscripts
            or not array.is_local
            or any(array is each for each in old.returns)
            or array.name in used
        ]
        arrays += self.arrays.values()
        return replace(old, arrays=tuple(arrays), statements=ordered, tree=tree)

    def _hoisted(self, old: Statement) -> Statement:
        """A statement of the invariant, with the induction variables that it keeps."""
        name, kept = self.names[old.name], self.found.kept[old.name]
        gone = sorted(set(range(len(old.loops))) - set(kept), reverse=True)
        domain = old.domain
        for position in gone:
            domain = domain.project_out(_SET, position, 1)
        iterators = tuple(old.loops[k] for k in kept)
        domain = named_domain(domain, name, iterators)
        dims: list[AffineExpr] = [AffineExpr.constant(0)] * len(old.loops)
        for position, k in enumerate(kept):
            dims[k] = AffineExpr.dimension(position)
        own_symbols = [AffineExpr.symbol(k) for k in range(len(self.old.parameters))]

        def moved(expression: AffineExpr) -> AffineExpr:
            return expression.replace_dims_and_symbols(dims, own_symbols)

        own = cloned(old)
        accesses: list[Access] = []
        for access in old.accesses:
            array, results = self._place(access)
            map_ = AffineMap(len(kept), len(own_symbols), tuple(map(moved, results)))
            accesses.append(make_access(self.old, access.kind, array, map_, domain, own[access.op]))
        indices = {key: moved(expression) for key, expression in old.indices.items()}
        body = tuple(own.values())
        source = self._first(old, kept)
        return Statement(name, iterators, domain, tuple(accesses), body, indices, source)

    def _first(self, old: Statement, kept: Sequence[int]) -> tuple[Statement, AffineMap] | None:
        """The first instances with the values of the variables that are kept, if known."""
        names = dimension_names(len(old.loops))
        own = ", ".join(names[k] for k in kept)
        parameters = list(symbols(self.old))
        rest = isl.Map(f"{{ {old.name}[{', '.join(names)}] -> [{own}] }}")
        context = self.old.context
        first = rest.intersect_domain(old.domain).reverse().intersect_params(context).lexmin()
        values = isl.PwMultiAff.from_map(coalesced(first))
        pieces = [values.get_pw_aff(k).coalesce().get_pieces() for k in range(len(names))]
        if any(len(each) != 1 for each in pieces):
            return None
        results = tuple(aff_expression(each[0][1], symbols(self.old)) for each in pieces)
        return old, AffineMap(len(kept), len(parameters), results)

    def _place(self, access: Access) -> tuple[Array, Sequence[AffineExpr]]:
        """Where an element of an array of the invariant is now."""
        results = access.map.results
        if access.array.name not in self.arrays:
            return access.array, results
        kept = self.found.subscripts[access.array.name]
        return self.arrays[access.array.name], [results[k] for k in kept]

    def _moved(self, tree: Tree) -> Tree:
        """The loops around the invariant that it keeps."""
        match tree:
            case Leaf(name):
                return Leaf(self.names[name])
            case Parts(children):
                return Parts(tuple(self._moved(child) for child in children))
            case Loop():
                body = self._moved(tree.body)
                schedule: dict[str, isl.Aff] = {}
                for name in statements(tree.body):
                    position = _place_of(self.schedule.tree, name, tree.name)
                    if position in self.found.kept[name]:
                        hoisted = self._hoisted(self.old.statement(name))
                        number = self.found.kept[name].index(position)
                        schedule[hoisted.name] = induction_variable(hoisted, number)
                return Loop(tree.name, schedule, body) if schedule else body

    def _redirected(self, statement: Statement) -> Statement:
        """A statement with the reads of the invariant that are now elsewhere."""
        accesses = tuple(
            self._redirect(statement, access)
            if access.kind is AccessKind.READ and access.array.name in self.arrays
            else access
            for access in statement.accesses
        )
        return replace(statement, accesses=accesses)

    def _redirect(self, statement: Statement, read: Access) -> Access:
        covered = _instances_reading(self.schedule, statement, read, self.found.kept)
        if covered.is_empty():
            return read
        if not statement.domain.is_subset(covered):
            raise MalformedTransformation(
                f"{statement.name} reads of {read.array.name} also what other statements write"
            )
        array, results = self._place(read)
        map_ = AffineMap(read.map.num_dims, read.map.num_symbols, tuple(results))
        return make_access(self.old, AccessKind.READ, array, map_, statement.domain, read.op)

    def _ends(self, name: str) -> Iterator[Statement]:
        """The statement that copies to an array what the program leaves there of the invariant."""
        old = next(each for each in self.old.arrays if each.name == name)
        elements = written(self.old, old)
        if elements is None or (old.is_local and all(old is not e for e in self.old.returns)):
            return
        writers = LastWriters(self.old, [(old, elements)])
        left = [
            source.relation.domain()
            for source in writers.sources(writers.ends[0])
            if source.relation.get_tuple_name(_OUT) in self.found.kept
        ]
        if not left:
            return
        own = free_name(f"end_{name}", self.taken)
        self.taken.add(own)
        rank = len(old.shape)
        iterators = tuple(f"{name}{k}" for k in range(rank))
        domain = named_domain(reduce(isl.Set.union, left).reset_tuple_id(), own, iterators)
        count = len(self.old.parameters)
        place = AffineMap(rank, count, tuple(AffineExpr.dimension(k) for k in range(rank)))
        kept = self.found.subscripts[name]
        origin = AffineMap(rank, count, tuple(AffineExpr.dimension(k) for k in kept))
        source = self.arrays[name], origin
        yield copy_statement(self.old, own, iterators, domain, source, (old, place))


def _place_of(tree: Tree, statement: str, loop: str) -> int:
    """The position of a loop around a statement."""
    return [each.name for each in loops_around(tree, statement)].index(loop)
