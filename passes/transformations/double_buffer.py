"""Double buffering: two arrays in turn, instead of one that is copied back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

import islpy as isl
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ...dialects import affine
from ..polyhedral.aff_expression import aff_expression
from ..polyhedral.affine_text import to_text
from ..polyhedral.equivalence.equivalence import compare
from ..polyhedral.isl_context import coalesced
from ..polyhedral.schedule_tree import (
    Leaf,
    Loop,
    Sequence,
    Tree,
    replace_node,
    restrict,
    sequence,
    statements,
    without_marks,
)
from ..polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ..schedules.errors import MalformedTransformation
from ..schedules.program_edits import (
    copy_name,
    free_name,
    loops_over,
    make_access,
    named_domain,
    symbols,
)
from ..schedules.schedule import Schedule, Transformation, option

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

OPERATIONS = 10_000_000
"""What isl may spend on the proof; two planes of a stencil need a tenth of it."""


@dataclass(frozen=True)
class DoubleBuffer(Transformation):
    """Uses two arrays in turn where a loop computes one from the other and copies it back.

    The loop is unrolled by two: even iterations read the array and write a buffer, odd ones read
    the buffer and write the array (Allen and Kennedy, "Optimizing Compilers for Modern
    Architectures", 2001, 8.3: elimination of copies by unrolling). The statement `copy` is gone.
    What is read of the buffer before it is written is copied there before the loop, and what the
    last iteration leaves there is copied back. Legal where the new program is proved to compute
    the same. `double-buffer{loops=t copy=S1}`:

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
        scop = _Doubling(schedule, loop, copy).program()
        found = compare(schedule.scop, scop, operations=OPERATIONS, replaces=True)
        if not found.is_proved:
            raise MalformedTransformation(
                f"it is not proved that {copy.target.array.name} and a buffer can take turns: "
                f"{found.reason}"
            )
        return replace(scop, base=scop), scop.tree


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


class _Doubling:
    """The program with a buffer that takes turns with the target of a copy in a loop.

    Of each statement in the loop there are two: for even iterations and for odd ones, counted from
    the first. An instant in the loop is the number of an iteration, and of a part of its body.
    """

    def __init__(self, schedule: Schedule, loop: Loop, copy: CopyBack) -> None:
        self.schedule = schedule
        self.old = schedule.scop
        self.loop = loop
        self.copy = copy
        self.array, self.source = copy.target.array, copy.source.array
        self.inside = [name for name in statements(loop.body) if name != copy.statement.name]
        self.taken = {statement.name for statement in self.old.statements}
        self.buffer = Array(
            free_name(f"{self.array.name}_buffer", {array.name for array in self.old.arrays}),
            self.array.element_type,
            (None,) * len(self.array.shape),
            self.array.value,
            None,
        )

    def program(self) -> Scop:
        """The program; raises MalformedTransformation where there is none."""
        self._check()
        first = self._first()
        clones = [[self._clone(name, first, phase) for name in self.inside] for phase in (0, 1)]
        parts = [self._part(phase, first, clones[phase]) for phase in (0, 1)]
        functions = {c.name: _variable(c.domain) for phase in clones for c in phase}
        doubled = Loop(self.loop.name, functions, sequence(parts))
        before, behind = self._begin(clones), self._end(clones)
        new = sequence(
            [
                *(loops_over(statement, 0) for statement in before),
                doubled,
                *(loops_over(statement, 0) for statement in behind),
            ]
        )
        tree = without_marks(replace_node(self.schedule.tree, self.loop, new))
        changed = {clone.name: clone for phase in clones for clone in phase}
        known = {s.name: s for s in (*self.old.statements, *before, *behind)} | changed
        ordered = tuple(known[name] for name in statements(tree))
        arrays = (*self.old.arrays, self.buffer)
        is_used = any(a.array is self.source for s in ordered for a in s.accesses)
        if self.source.is_local and not is_used:
            arrays = tuple(array for array in arrays if array is not self.source)
        return replace(self.old, arrays=arrays, statements=ordered, tree=tree)

    def _check(self) -> None:
        name = self.loop.name
        if self.schedule.outer(self.loop) or self.loop.run_time_size is not None:
            raise MalformedTransformation(f"{name} must be an outermost loop")
        if not self.inside:
            raise MalformedTransformation(f"{name} does nothing but copy")
        if self.old.opaque_statements:
            raise MalformedTransformation("parts of the program are not affine")
        for statement, value in self.loop.schedule.items():
            domain = self.old.statement(statement).domain
            if not domain.dim(_SET) or not value.plain_is_equal(_variable(domain)):
                raise MalformedTransformation(
                    f"{name} must be the first loop around {statement} in the program, as it is "
                    "written there"
                )

    def _first(self) -> AffineExpr:
        """The first value of the loop."""
        values = None
        for name in self.loop.schedule:
            domain = self.old.statement(name).domain.intersect_params(self.old.context)
            own = domain.project_out(_SET, 1, domain.dim(_SET) - 1).reset_tuple_id()
            values = own if values is None else values.union(own)
        assert values is not None, "a loop has statements"
        pieces = coalesced(values.dim_min(0).gist(values.params())).get_pieces()
        if len(pieces) != 1:
            raise MalformedTransformation(f"{self.loop.name} must begin at one value")
        return aff_expression(pieces[0][1], symbols(self.old))

    def _phases(self, old: str, new: str, first: AffineExpr, phase: int) -> isl.MultiAff:
        """The instances of a statement by those of its copy: `{ new[t] -> old[2 t + phase] }`."""
        parameters = list(symbols(self.old))
        names = [f"i{k}" for k in range(len(self.old.statement(old).loops))]
        values = [f"{to_text(first, (), parameters)} + 2 * i0 + {phase}", *names[1:]]
        return isl.MultiAff(
            f"[{', '.join(parameters)}] -> "
            f"{{ {new}[{', '.join(names)}] -> {old}[{', '.join(values)}] }}"
        )

    def _clone(self, name: str, first: AffineExpr, phase: int) -> Statement:
        """A statement in the iterations of one phase, with the arrays that it uses there."""
        old = self.old.statement(name)
        new = self._name(name, phase)
        moved = self._phases(name, new, first, phase)
        domain = named_domain(old.domain.preimage_multi_aff(moved), new, old.loops)
        value = first + AffineExpr.dimension(0) * 2 + phase
        dims = [value, *(AffineExpr.dimension(k) for k in range(1, len(old.loops)))]
        own_symbols = [AffineExpr.symbol(k) for k in range(len(self.old.parameters))]
        body = old.body
        if phase:
            # Operations of its own: a store tells which statement a part of one is of.
            values: dict[SSAValue, SSAValue] = {}
            body = tuple(operation.clone(values) for operation in old.body)
        own = dict(zip(old.body, body, strict=True))
        accesses = tuple(
            self._access(replace(a, op=own[a.op]), old, domain, dims, phase) for a in old.accesses
        )
        indices = {
            key: expression.replace_dims_and_symbols(dims, own_symbols)
            for key, expression in old.indices.items()
        }
        return Statement(new, old.loops, domain, accesses, body, indices)

    def _name(self, name: str, phase: int) -> str:
        if not phase:
            return name
        new = copy_name(name, self.taken)
        self.taken.add(new)
        return new

    def _access(
        self, access: Access, old: Statement, domain: isl.Set, dims: list[AffineExpr], phase: int
    ) -> Access:
        own_symbols = [AffineExpr.symbol(k) for k in range(len(self.old.parameters))]
        results = [r.replace_dims_and_symbols(dims, own_symbols) for r in access.map.results]
        array = access.array
        if array is self.source:
            results = [r + offset for r, offset in zip(results, self.copy.offsets, strict=True)]
        if array is self.array or array is self.source:
            is_next = array is self.source or self._is_behind(old.name)
            array = self.buffer if phase != is_next else self.array
        place = AffineMap(len(dims), len(own_symbols), tuple(results))
        return make_access(self.old, access.kind, array, place, domain, access.op)

    def _is_behind(self, name: str) -> bool:
        """Whether a statement is behind the copy in the body of the loop."""
        order = statements(self.loop.body)
        return order.index(name) > order.index(self.copy.statement.name)

    def _part(self, phase: int, first: AffineExpr, clones: list[Statement]) -> Tree:
        """The body of the loop in one phase."""
        rest = restrict(self.loop.body, self.inside)
        assert rest is not None, "there are other statements"
        names = dict(zip(self.inside, (clone.name for clone in clones), strict=True))
        moved = {old: self._phases(old, new, first, phase) for old, new in names.items()}
        return _renamed(rest, names, moved)

    def _begin(self, clones: list[list[Statement]]) -> list[Statement]:
        """The statement that copies to the buffer what is read there before it is written."""
        reads = self._instants(clones, self.buffer, AccessKind.READ)
        writes = self._instants(clones, self.buffer, AccessKind.WRITE)
        if reads is None:
            return []
        if writes is not None:
            reads = reads.subtract(writes.apply_range(_later(reads)))
        elements = coalesced(reads.domain())
        return self._copy("begin", elements, self.array, self.buffer, (0,) * len(self.array.shape))

    def _end(self, clones: list[list[Statement]]) -> list[Statement]:
        """The statements that copy last values to the arrays where the program has them."""
        result: list[Statement] = []
        in_buffer = self._instants(clones, self.buffer, AccessKind.WRITE)
        in_array = self._instants(clones, self.array, AccessKind.WRITE)
        zeros = (0,) * len(self.array.shape)
        if in_buffer is not None and self._is_observed(self.array):
            if in_array is not None:
                in_buffer = in_buffer.subtract(in_array.apply_range(_later(in_array).reverse()))
            last = coalesced(in_buffer.domain())
            result += self._copy("end", last, self.buffer, self.array, zeros)
        if self._is_observed(self.source):
            written = [
                access.relation.range()
                for name in self.inside
                for access in self.old.statement(name).writes
                if access.array is self.source
            ]
            if written:
                elements = coalesced(reduce(isl.Set.union, written))
                offsets = tuple(self.copy.offsets)
                result += self._copy("end", elements, self.array, self.source, offsets)
        return result

    def _is_observed(self, array: Array) -> bool:
        """Whether something sees what an array has when the loop has ended."""
        around = {*self.inside, self.copy.statement.name}
        return not array.is_local or any(
            access.array is array
            for statement in self.old.statements
            if statement.name not in around
            for access in statement.accesses
        )

    def _instants(
        self, clones: list[list[Statement]], array: Array, kind: AccessKind
    ) -> isl.Map | None:
        """When elements are accessed: `{ [x] -> [iteration, part] }`."""
        body = self.loop.body
        parts = body.children if isinstance(body, Sequence) else (body,)
        number = {name: k for k, part in enumerate(parts) for name in statements(part)}
        found: list[isl.Map] = []
        for phase, members in enumerate(clones):
            for old, clone in zip(self.inside, members, strict=True):
                names = [f"i{k}" for k in range(len(clone.loops))]
                instant = isl.Map(
                    f"{{ {clone.name}[{', '.join(names)}] -> [2 * i0 + {phase}, {number[old]}] }}"
                )
                found += [
                    access.relation.reset_tuple_id(_OUT).reverse().apply_range(instant)
                    for access in clone.accesses
                    if access.array is array and access.kind is kind
                ]
        return coalesced(reduce(isl.Map.union, found)) if found else None

    def _copy(
        self,
        prefix: str,
        elements: isl.Set,
        source: Array,
        target: Array,
        offsets: tuple[int, ...],
    ) -> list[Statement]:
        """A statement `target[x] = source[x + offsets]` for elements of the target."""
        if elements.intersect_params(self.old.context).is_empty():
            return []
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
        load = affine.LoadOp.create(
            operands=[source.value],
            properties={"map": AffineMapAttr(origin)},
            result_types=[source.element_type],
        )
        store = affine.StoreOp.create(
            operands=[load.results[0], target.value], properties={"map": AffineMapAttr(place)}
        )
        accesses = (
            make_access(self.old, AccessKind.READ, source, origin, domain, load),
            make_access(self.old, AccessKind.WRITE, target, place, domain, store),
        )
        return [Statement(name, iterators, domain, accesses, (load, store))]


def _variable(domain: isl.Set) -> isl.Aff:
    """The first induction variable."""
    return isl.Aff.var_on_domain(isl.LocalSpace.from_space(domain.get_space()), _SET, 0)


def _later(instants: isl.Map) -> isl.Map:
    """From each instant to all later ones."""
    return isl.Map.lex_lt(instants.get_space().range())


def _renamed(tree: Tree, names: Mapping[str, str], moved: Mapping[str, isl.MultiAff]) -> Tree:
    """The tree for copies of its statements, of other instances."""
    match tree:
        case Leaf(name):
            return Leaf(names[name])
        case Loop(schedule=schedule, body=body):
            values = {
                names[name]: value.pullback_multi_aff(moved[name])
                for name, value in schedule.items()
            }
            return replace(tree, schedule=values, body=_renamed(body, names, moved))
        case Sequence(children):
            return Sequence(tuple(_renamed(child, names, moved) for child in children))
