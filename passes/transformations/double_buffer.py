"""Double buffering: arrays in turn, instead of arrays that are copied to each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

import islpy as isl
from xdsl.ir.affine import AffineExpr, AffineMap

from ..polyhedral.affine_text import to_text
from ..polyhedral.equivalence.equivalence import compare
from ..polyhedral.isl_context import coalesced
from ..polyhedral.schedule_tree import (
    Loop,
    Sequence,
    Tree,
    replace_node,
    sequence,
    statements,
    without_marks,
)
from ..polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ..schedules.errors import MalformedTransformation
from ..schedules.phases import Phases
from ..schedules.program_edits import (
    as_base,
    copy_statement,
    free_name,
    loops_over,
    named_domain,
    program_order,
    symbols,
)
from ..schedules.schedule import Schedule, Transformation, option

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out

OPERATIONS = 10_000_000
"""What isl may spend on the proof; two planes of a stencil need a tenth of it."""


@dataclass(frozen=True)
class DoubleBuffer(Transformation):
    """Uses two arrays in turn where a loop computes one from the other and copies it back.

    The loop is unrolled by two: even iterations read the array and write a buffer, odd ones read
    the buffer and write the array (Allen and Kennedy, "Optimizing Compilers for Modern
    Architectures", 2001, 8.3: elimination of copies by unrolling). The statement `copy` is gone.
    What is read of the buffer before it is written is copied there before the loop, and what the
    last iteration leaves there is copied back. Where the array is copied to an older one before, as
    in `U0[i] = U1[i]; U1[i] = U2[i]`, that copy is gone as well if what is computed may overwrite
    the oldest. Legal where the new program is proved to compute the same.
    `double-buffer{loops=t copy=S1}`:

        for t in [0, n):             P[borders] = A[borders]
          S0: B[i] = f(A)            for t in [0, ceil(n / 2)):
          S1: A[i] = B[i]      ->      S0: P[i] = f(A)
                                       if 2 t + 1 < n: S0_2: A[i] = f(P)
                                     if n mod 2 == 1: A[i] = P[i]
                                     B[i] = A[i]
    """

    name: ClassVar[str] = "double-buffer"
    symbol: ClassVar[str] = "DB"
    works_in_run_time_tiles: ClassVar[bool] = False

    copy: str = option("the statement that copies back, by default the first one", default="")

    def resolve(self, schedule: Schedule) -> DoubleBuffer:
        step = super().resolve(schedule)
        if len(step.loops) != 1:
            raise MalformedTransformation("name the one loop that copies back")
        loop = schedule.loop(step.loops[0])
        found = [copy.statement.name for copy in copies_back(schedule.scop, loop)]
        if self.copy in found:
            return step
        known = ", ".join(found) or "none does"
        if self.copy or not found:
            raise MalformedTransformation(
                f"a statement inside {loop.name} must copy an array to another one, as in "
                f"A[i] = B[i]: {known}"
            )
        return replace(step, copy=found[0])

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        loop = schedule.loop(self.loops[0])
        copy = next(c for c in copies_back(schedule.scop, loop) if c.statement.name == self.copy)
        reason = ""
        for chain in rotations(schedule.scop, loop, copy):
            scop = _Rotation(schedule, loop, chain).program()
            found = compare(schedule.scop, scop, operations=OPERATIONS, replaces=True)
            if found.is_proved:
                return as_base(scop), scop.tree
            reason = found.reason
        raise MalformedTransformation(
            f"it is not proved that {copy.target.array.name} and a buffer can take turns: {reason}"
        )


@dataclass(frozen=True)
class CopyBack:
    """A statement `target = source`, and the subscripts of an element in both: their differences.

    The element `x` of the array that is read goes to `x + offsets`.
    """

    statement: Statement
    source: Access
    target: Access
    offsets: tuple[int, ...]


def copies_back(scop: Scop, loop: Loop) -> Iterator[CopyBack]:
    """The statements in a loop that copy elements of an array to another one of its shape."""
    for name in statements(loop.body):
        statement = scop.statement(name)
        match statement.accesses, statement.body:
            case (source, target), (load, store):
                is_copy = load is source.op and store is target.op
                if is_copy and store.operands[0] is load.results[0]:
                    offsets = _offsets(source, target)
                    if offsets is not None:
                        yield CopyBack(statement, source, target, offsets)
            case _:
                pass


def _offsets(source: Access, target: Access) -> tuple[int, ...] | None:
    """Where elements go; None where that is not the same distance for all."""
    one, other = source.array, target.array
    if one is other or not target.map.results or one.element_type != other.element_type:
        return None
    if source.is_opaque or target.is_opaque or len(one.shape) != len(other.shape):
        return None
    offsets = tuple(b - a for a, b in zip(source.constants, target.constants, strict=True))
    moves = source.relation.reverse().apply_range(target.relation)
    moves = moves.reset_tuple_id(_IN).reset_tuple_id(_OUT)
    wanted = isl.Set(f"{{ [{', '.join(map(str, offsets))}] }}")
    return offsets if moves.deltas().is_subset(wanted) else None


def rotations(scop: Scop, loop: Loop, copy: CopyBack) -> Iterator[list[CopyBack]]:
    """Copies that go together, the newest array first; as many as there are to begin with."""
    chain = [copy]
    while (older := _older(scop, loop, chain)) is not None:
        chain.append(older)
    for length in range(len(chain), 0, -1):
        yield chain[:length]


def _older(scop: Scop, loop: Loop, chain: list[CopyBack]) -> CopyBack | None:
    """The copy of the last target of a chain to an array that nothing else in the loop writes."""
    order = statements(loop.body)
    last = chain[-1]
    known = {name for copy in chain for name in (copy.source.array.name, copy.target.array.name)}
    for copy in copies_back(scop, loop):
        target = copy.target.array
        is_next = copy.source.array is last.target.array and not any(copy.offsets)
        is_before = order.index(copy.statement.name) < order.index(last.statement.name)
        writers = [name for name in order for a in scop.statement(name).writes if a.array is target]
        if is_next and is_before and target.name not in known and len(writers) == 1:
            return copy
    return None


class _Rotation:
    """The program in which arrays take turns instead of copies in a loop, from one to the next.

    At iteration `t`, an array of age `a` has what iteration `t - a` has computed: 0 is the array
    that is computed, 1 is the one that it is copied to, 2 the one that this is copied to before.
    What iteration `t` computes is in array `(t + 1) mod count` of those that take turns. An instant
    in the loop is the number of an iteration, and of a part of its body.
    """

    def __init__(self, schedule: Schedule, loop: Loop, chain: list[CopyBack]) -> None:
        self.schedule = schedule
        self.old = schedule.scop
        self.loop = loop
        self.chain = chain
        self.count = count = max(2, len(chain))
        self.array, self.source = chain[0].target.array, chain[0].source.array
        self.ages = {self.source.name: 0} | {
            copy.target.array.name: age for age, copy in enumerate(chain, 1)
        }
        gone = {copy.statement.name for copy in chain}
        self.inside = [name for name in statements(loop.body) if name not in gone]
        self.slots = [self.array]
        for _ in range(1, count):
            known = {array.name for array in (*self.old.arrays, *self.slots)}
            name = free_name(f"{self.array.name}_buffer", known)
            shape = (None,) * len(self.array.shape)
            buffer = Array(name, self.array.element_type, shape, self.array.value, None)
            self.slots.append(buffer)

    def program(self) -> Scop:
        """The program; raises MalformedTransformation where there is none."""
        phases = Phases(self.schedule, self.loop, self.count, self.inside)
        if not self.inside:
            raise MalformedTransformation(f"{self.loop.name} does nothing but copy")
        self.taken, self.first = phases.taken, phases.first
        self.clones = [
            phases.copies(
                phase, lambda name, access, results, p=phase: self._place(p, name, access, results)
            )
            for phase in range(self.count)
        ]
        trees = [phases.part(phase, copies) for phase, copies in enumerate(self.clones)]
        before, behind = self._begin(), self._end()
        new = sequence(
            [
                *(loops_over(statement, 0) for statement in before),
                phases.around([tree for tree in trees if tree is not None]),
                *(loops_over(statement, 0) for statement in behind),
            ]
        )
        tree = without_marks(replace_node(self.schedule.tree, self.loop, new))
        clones = [clone for copies in self.clones for clone in copies]
        ordered = program_order(self.old, tree, [*clones, *before, *behind])
        used = {access.array.name for s in ordered for access in s.accesses}
        arrays = [
            array
            for array in self.old.arrays
            if array.name not in self.ages or not array.is_local or array.name in used
        ]
        arrays += self.slots[1:]
        return replace(self.old, arrays=tuple(arrays), statements=ordered, tree=tree)

    def _place(
        self, phase: int, name: str, access: Access, results: list[AffineExpr]
    ) -> tuple[Array, list[AffineExpr]]:
        array = access.array
        age = self.ages.get(array.name)
        if age is None:
            return array, results
        if age == 0:
            offsets = self.chain[0].offsets
            results = [r + offset for r, offset in zip(results, offsets, strict=True)]
        is_copied = age > 0 and self._is_behind(name, self.chain[age - 1])
        return self.slots[(phase + 1 - age + is_copied) % self.count], results

    def _is_behind(self, name: str, copy: CopyBack) -> bool:
        """Whether a statement is behind a copy in the body of the loop."""
        order = statements(self.loop.body)
        return order.index(name) > order.index(copy.statement.name)

    def _begin(self) -> list[Statement]:
        """The statements that copy to buffers what is read there before it is written."""
        result: list[Statement] = []
        for slot in self.slots[1:]:
            writes = self._instants(slot, AccessKind.WRITE)
            for age, copy in enumerate(self.chain, 1):
                reads = self._instants(slot, AccessKind.READ, (0, 1) if age == 1 else (age,))
                if reads is None:
                    continue
                if writes is not None:
                    reads = reads.subtract(writes.apply_range(_later(reads)))
                elements = coalesced(reads.domain())
                result += self._copy("begin", elements, copy.target.array, slot)
        return result

    def _end(self) -> list[Statement]:
        """The statements that copy last values to the arrays where the program has them."""
        result: list[Statement] = []
        for age in range(len(self.chain), 1, -1):
            if self._is_observed(self.chain[age - 1].target.array):
                result += self._older_end(age)
        if self._is_observed(self.array):
            written = [self._instants(slot, AccessKind.WRITE) for slot in self.slots]
            for number, slot in enumerate(self.slots[1:], 1):
                last = written[number]
                if last is None:
                    continue
                for other in (*written[:number], *written[number + 1 :]):
                    if other is not None:
                        last = last.subtract(other.apply_range(_later(other).reverse()))
                result += self._copy("end", coalesced(last.domain()), slot, self.array)
        if self._is_observed(self.source):
            elements = [
                access.relation.range()
                for name in self.inside
                for access in self.old.statement(name).writes
                if access.array is self.source
            ]
            if elements:
                every = coalesced(reduce(isl.Set.union, elements))
                result += self._copy("end", every, self.array, self.source, self.chain[0].offsets)
        return result

    def _older_end(self, age: int) -> list[Statement]:
        """The statements that copy to an older array what its last copies have left there."""
        copy = self.chain[age - 1]
        domain = copy.statement.domain
        names = ", ".join(f"i{k}" for k in range(domain.dim(isl.dim_type.set)))
        time = isl.Map(f"{{ {copy.statement.name}[{names}] -> [i0] }}")
        last = copy.target.relation.reverse().apply_range(time).lexmax()
        parameters = list(symbols(self.old))
        begin = to_text(self.first, (), parameters)
        result: list[Statement] = []
        for phase in range(self.count):
            instants = isl.Set(
                f"[{', '.join(parameters)}] -> "
                f"{{ [t'] : (t' - ({begin}) - {phase}) mod {self.count} = 0 }}"
            )
            elements = coalesced(last.intersect_range(instants).domain().reset_tuple_id())
            slot = self.slots[(phase + 2 - age) % self.count]
            writes = self._instants(slot, AccessKind.WRITE)
            written = elements
            if slot is not self.array and writes is not None:
                written = coalesced(elements.intersect(writes.domain().reset_tuple_id()))
            rest = coalesced(elements.subtract(written))
            result += self._copy("end", written, slot, copy.target.array)
            result += self._copy("end", rest, self.array, copy.target.array)
        return result

    def _is_observed(self, array: Array) -> bool:
        """Whether something sees what an array has when the loop has ended."""
        around = {*self.inside, *(copy.statement.name for copy in self.chain)}
        return not array.is_local or any(
            access.array is array
            for statement in self.old.statements
            if statement.name not in around
            for access in statement.accesses
        )

    def _instants(
        self, slot: Array, kind: AccessKind, ages: tuple[int, ...] | None = None
    ) -> isl.Map | None:
        """When elements are accessed as those of some ages: `{ [x] -> [iteration, part] }`."""
        body = self.loop.body
        parts = body.children if isinstance(body, Sequence) else (body,)
        number = {name: k for k, part in enumerate(parts) for name in statements(part)}
        found: list[isl.Map] = []
        for phase, copies in enumerate(self.clones):
            for old, clone in zip(self.inside, copies, strict=True):
                names = ", ".join(f"i{k}" for k in range(len(clone.loops)))
                iteration = f"{self.count} * i0 + {phase}"
                instant = isl.Map(f"{{ {clone.name}[{names}] -> [{iteration}, {number[old]}] }}")
                accesses = zip(self.old.statement(old).accesses, clone.accesses, strict=True)
                found += [
                    access.relation.reset_tuple_id(_OUT).reverse().apply_range(instant)
                    for before, access in accesses
                    if access.array is slot and access.kind is kind
                    if ages is None or self.ages[before.array.name] in ages
                ]
        return coalesced(reduce(isl.Map.union, found)) if found else None

    def _copy(
        self,
        prefix: str,
        elements: isl.Set,
        source: Array,
        target: Array,
        offsets: tuple[int, ...] | None = None,
    ) -> list[Statement]:
        """A statement `target[x] = source[x + offsets]` for elements of the target."""
        if elements.intersect_params(self.old.context).is_empty():
            return []
        offsets = offsets or (0,) * len(target.shape)
        name = free_name(f"{prefix}_{target.name}", self.taken)
        self.taken.add(name)
        rank = len(offsets)
        iterators = tuple(f"{target.name}{k}" for k in range(rank))
        domain = named_domain(elements.reset_tuple_id(), name, iterators)
        dims = [AffineExpr.dimension(k) for k in range(rank)]
        count = len(self.old.parameters)
        place = AffineMap(rank, count, tuple(dims))
        moved = tuple(dim + offset for dim, offset in zip(dims, offsets, strict=True))
        origin = AffineMap(rank, count, moved)
        return [
            copy_statement(self.old, name, iterators, domain, (source, origin), (target, place))
        ]


def _later(instants: isl.Map) -> isl.Map:
    """From each instant to all later ones."""
    return isl.Map.lex_lt(instants.get_space().range())
