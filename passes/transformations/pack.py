"""Packing: copies the part of an array that a loop body uses into a contiguous buffer."""

from __future__ import annotations

from collections.abc import Sequence as List
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

import islpy as isl
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from ..polyhedral.aff_expression import aff_expression
from ..polyhedral.copied_dependences import after_copies, pairs_through
from ..polyhedral.dependences import ARRAY_OPERATIONS, DependenceKind, note_dependences
from ..polyhedral.isl_context import TooComplexError, bounded
from ..polyhedral.scaled_loads import ScaledLoad, multiply, scaled_load, take_products
from ..polyhedral.schedule_tree import Loop, Sequence, Tree, sequence, statements, without_marks
from ..polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ..polyhedral.widened_loads import WidenedLoad, take_widened, widen, widened_load
from ..schedules.buffer_dependences import BufferDependences, Use
from ..schedules.errors import MalformedTransformation
from ..schedules.live_elements import LiveElements
from ..schedules.program_edits import (
    free_name,
    instances_for,
    loops_over,
    make_access,
    make_load,
    make_store,
    named_domain,
    outer_values,
    put_inside,
    same_iteration,
    symbols,
)
from ..schedules.schedule import Schedule, Transformation, option, remember_dependences


@dataclass(frozen=True)
class Pack(Transformation):
    """Packs the part of an array that one iteration of a loop uses into a buffer, used instead.

    The buffer is as large as the box around these elements. What is read of what was there before
    is copied in before the body; what is written is copied back after it, if it is read outside or
    the last value of an argument. The copies are statements `pack_B` and `unpack_B` with loops
    `B0`, `B1` ... over the subscripts. `order` is that of the buffer's
    subscripts: `1,0` transposes. `panels=0,8` cuts the second subscript into panels of 8: its
    quotient by 8 stands in its place, its remainder comes last. With `scaled=true` the buffer holds
    the products with the scalar argument that every use multiplies an element by; with
    `widened=true` 16 bits for each byte, and f32 for f16 and bf16, which every use must extend.
    `reads=S0.2` copies for that read alone, the third that is printed of S0, and leaves all other
    uses as they are. The copies are then just before the first part of the body with such a read;
    the values must be there by then, and may be overwritten after their use (array expansion: a
    version of them for each iteration, so that other steps need not wait for these reads). The
    buffer has no subscripts that the loops around determine. `pack{loops=jt array=B}`:

        for jt:                       for jt:
          for k:                        for B0, B1: P[B0, B1] = B[B0, B1]
            for j in tile jt:     ->    for k:
              S: ... B[k, j]              for j in tile jt:
                                            S: ... P[k, j]
    """

    name: ClassVar[str] = "pack"
    symbol: ClassVar[str] = "B"
    works_in_run_time_tiles: ClassVar[bool] = False

    array: str = option("the array, by name")
    order: tuple[int, ...] = option("subscripts of the array, counted from 0", default=())
    panels: tuple[int, ...] = option("size of panels per subscript, 0 for none", default=())
    scaled: bool = option("pack products with a scalar argument", default=False)
    widened: bool = option("extend bytes to 16 bits, f16 and bf16 to f32", default=False)
    reads: tuple[str, ...] = option(
        "reads to copy for, as S0.2 for the third of S0; else all uses", default=()
    )

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        if len(self.loops) != 1:
            raise MalformedTransformation("name the one loop around whose body to copy")
        loop = schedule.loop(self.loops[0])
        array = self._array(schedule.scop)
        uses = self._uses(schedule.scop, loop)
        packing = _Packing(
            schedule,
            loop,
            array,
            self._layout(schedule, loop, array, uses),
            uses,
            is_selection=bool(self.reads),
            scaled=self.scaled,
            widened=self.widened,
        )
        return packing.program()

    def _uses(self, scop: Scop, loop: Loop) -> list[Use]:
        """What uses the array in the loop, as far as it shall use the copy."""
        inside = set(statements(loop.body))
        uses = [
            (statement, access)
            for statement in scop.statements
            if statement.name in inside
            for access in statement.accesses
            if access.array.name == self.array
        ]
        if not uses:
            raise MalformedTransformation(
                f"{self.array} is not used inside {loop.name}: nothing to copy"
            )
        for statement, access in uses:
            if access.is_opaque:
                raise MalformedTransformation(
                    f"{statement.name} is not affine: which elements of {self.array} it uses is "
                    "not known"
                )
        if not self.reads:
            return uses
        known = {f"{s.name}.{read_number(s, a)}" for s, a in uses if a.kind is AccessKind.READ}
        for read in self.reads:
            if read not in known:
                raise MalformedTransformation(
                    f"there is no read {read} of {self.array} inside {loop.name}; "
                    f"there are {', '.join(sorted(known)) or 'none'}"
                )
        return [
            (statement, access)
            for statement, access in uses
            if access.kind is AccessKind.READ
            and f"{statement.name}.{read_number(statement, access)}" in self.reads
        ]

    def _array(self, scop: Scop) -> Array:
        for array in scop.arrays:
            if array.name == self.array:
                return array
        known = ", ".join(array.name for array in scop.arrays)
        raise MalformedTransformation(f"there is no array {self.array}; the arrays are {known}")

    def _layout(
        self, schedule: Schedule, loop: Loop, array: Array, uses: List[Use]
    ) -> list[AffineExpr]:
        """The subscripts of the buffer, behind the values of the loops around."""
        rank = len(array.shape)
        order = self.order or tuple(range(rank))
        if sorted(order) != list(range(rank)):
            raise MalformedTransformation(
                f"the order must name each of the {rank} subscripts of {array.name} once, from 0"
            )
        panels = self.panels or (0,) * rank
        if len(panels) != rank or min(panels, default=0) < 0:
            raise MalformedTransformation(
                f"give the size of a panel, or 0, for each of the {rank} subscripts of {array.name}"
            )
        fixed = _determined((*schedule.outer(loop), loop), uses)
        kept = [k for k in order if k not in fixed or panels[k]]
        subscripts = [(AffineExpr.dimension(k), panels[k]) for k in kept]
        whole = [x // panel if panel else x for x, panel in subscripts]
        return [*whole, *(x % panel for x, panel in subscripts if panel)]


def _determined(outer: List[Loop], uses: List[Use]) -> set[int]:
    """Subscripts that are one and the same for all uses in an iteration of the loops."""
    elements = reduce(isl.Map.union, (_elements(outer, s, a.relation) for s, a in uses))
    found: set[int] = set()
    rank = elements.dim(isl.dim_type.out)
    for k in range(rank):
        own = elements.project_out(isl.dim_type.out, k + 1, rank - k - 1)
        if own.project_out(isl.dim_type.out, 0, k).is_single_valued():
            found.add(k)
    return found


def _elements(outer: List[Loop], statement: Statement, relation: isl.Map) -> isl.Map:
    """What an access touches, by the values of the loops."""
    return outer_values(outer, statement).reverse().apply_range(relation)


def read_number(statement: Statement, read: Access) -> int:
    """The place of a read among those that are printed of a statement, from 0."""
    places = dict.fromkeys((access.array.name, access.map) for access in statement.reads)
    return list(places).index((read.array.name, read.map))


class _Packing:
    """The program with a buffer for `uses` of `array` in the body of `loop`."""

    def __init__(
        self,
        schedule: Schedule,
        loop: Loop,
        array: Array,
        layout: List[AffineExpr],
        uses: List[Use],
        *,
        is_selection: bool,
        scaled: bool,
        widened: bool,
    ) -> None:
        self.schedule = schedule
        self.loop = loop
        self.array = array
        self.layout = layout
        self.uses = uses
        self.is_selection = is_selection
        self.redirected = {id(access) for _, access in uses}
        self.old = schedule.scop
        self.outer = (*schedule.outer(loop), loop)
        self.products = self._products() if scaled else {}
        self.extended = self._extended() if widened else {}
        self.buffer = Array(
            free_name(f"{array.name}_packed", {a.name for a in self.old.arrays}),
            self._held() if widened else array.element_type,
            (None,) * (len(self.outer) + len(layout)),
            array.value,
            None,
            scope_depth=len(self.outer),
        )

    def _products(self) -> dict[Operation, ScaledLoad]:
        """For each load of the array in the loop the product that it is for: always the same."""
        found = {
            access.op: scaled_load(self.old, statement, access)
            if access.kind is AccessKind.READ
            else None
            for statement, access in self.uses
        }
        products = {load: product for load, product in found.items() if product is not None}
        if len(products) < len(found) or len({p.scalar for p in products.values()}) > 1:
            raise MalformedTransformation(
                f"{self.array.name} is not only used in products with one and the same scalar "
                f"argument inside {self.loop.name}: leave out scaled=true"
            )
        return products

    def _extended(self) -> dict[Operation, WidenedLoad]:
        """For each load of the array in the loop the extensions that it is for: of one kind."""
        found = {
            access.op: widened_load(statement, access) if access.kind is AccessKind.READ else None
            for statement, access in self.uses
        }
        widened = {load: each for load, each in found.items() if each is not None}
        if (
            self.products
            or len(widened) < len(found)
            or len({w.kind for w in widened.values()}) > 1
        ):
            raise MalformedTransformation(
                f"{self.array.name} does not hold bytes that are all extended in one way to more "
                f"than 16 bits, nor f16 or bf16 that are all extended, inside {self.loop.name}: "
                "leave out widened=true"
            )
        return widened

    def _held(self) -> Attribute:
        """The type of the elements of a widened copy."""
        return next(iter(self.extended.values())).held

    def program(self) -> tuple[Scop, Tree]:
        before, behind = self._parts()
        self._check_unchanged(behind)
        copy_in = self._copies("pack", AccessKind.READ)
        copy_out = self._copies("unpack", AccessKind.WRITE)
        added = (*copy_in, *copy_out)
        changed = tuple(map(self._redirect, self.old.statements))
        depth = len(self.outer)
        body = sequence(
            [
                *before,
                *(loops_over(statement, depth) for statement in copy_in),
                *behind,
                *(loops_over(statement, depth) for statement in copy_out),
            ]
        )
        tree = put_inside(self.schedule.tree, self.outer, self.loop.body, body, added)
        scop = replace(
            self.old,
            arrays=(*self.old.arrays, self.buffer),
            statements=(*changed, *added),
            tree=without_marks(tree),
        )
        if self.is_selection:
            if not copy_in:
                raise MalformedTransformation(
                    f"no iteration of {self.loop.name} runs these reads: nothing to copy"
                )
            (copy,) = copy_in
            copies = [
                (s, a.relation, instances_for(self.outer, s, a.relation, copy))
                for s, a in self.uses
            ]
            remember_dependences(
                after_copies(self.schedule.dependences, scop, copies, self.array, self.buffer)
            )
        else:
            with suppress(TooComplexError, isl.Error), bounded(ARRAY_OPERATIONS):
                self._note_dependences(scop, copy_in, copy_out)
        return scop, tree

    def _note_dependences(
        self, scop: Scop, copy_in: List[Statement], copy_out: List[Statement]
    ) -> None:
        """The dependences through buffer and array, as far as they follow from those before."""
        old = self.schedule.dependences
        if old.has_free_steps(self.array.name, (s.name for s, _ in self.uses)):
            return
        found = BufferDependences(old, self.outer, self.uses, self.buffer)
        through = old.conflicts.get(self.array.name)
        if through is not None:
            note_dependences(scop, self.array, found.conflicts(through, copy_in, copy_out))
        note_dependences(scop, self.buffer, found.items(copy_in, copy_out))

    def _parts(self) -> tuple[list[Tree], list[Tree]]:
        """What the body runs before the copies into the buffer, and behind them."""
        body = self.loop.body
        parts: list[Tree] = list(body.children) if isinstance(body, Sequence) else [body]
        if not self.is_selection:
            return [], parts
        users = {statement.name for statement, _ in self.uses}
        first = next(k for k, part in enumerate(parts) if users & set(statements(part)))
        return parts[:first], parts[first:]

    def _check_unchanged(self, behind: List[Tree]) -> None:
        """What selected reads see must have been written when it is copied."""
        if not self.is_selection:
            return
        later = {name for part in behind for name in statements(part)}
        constraints = self.schedule.dependences.constraints
        for item in (*constraints.ordered, *constraints.steps):
            if item.kind is not DependenceKind.FLOW or item.source not in later:
                continue
            reads = [
                (statement, read)
                for statement, read in self.uses
                if (item.target, item.array) == (statement.name, self.array.name)
            ]
            if not reads:
                continue
            inside = same_iteration(self.outer, self.old, item)
            for statement, read in reads:
                pairs = pairs_through(item, self.old, read.relation).intersect(inside)
                self._check_unwritten(pairs, item.source, statement)
        for statement, read in self.uses:
            earlier = statement.accesses[: statement.accesses.index(read)]
            for write in earlier:
                if write.kind is AccessKind.WRITE and write.array is self.array:
                    pairs = write.relation.intersect(read.relation)
                    self._check_unwritten(pairs, statement.name, statement)
            # Its steps may run in any order: what is copied would not be what the next one finds.
            found = self.schedule.dependences.accumulations.get(statement.name)
            if found is not None and found.load.op is read.op:
                raise MalformedTransformation(
                    f"{statement.name} accumulates in what it reads of {self.array.name} there: "
                    "a copy is for other reads, or for all uses"
                )

    def _check_unwritten(self, pairs: isl.Map, writer: str, reader: Statement) -> None:
        if not pairs.is_empty():
            raise MalformedTransformation(
                f"{writer} writes elements of {self.array.name} that {reader.name} reads "
                f"afterwards, in the same iteration of {self.loop.name}: a copy would not see that"
            )

    def _copies(self, prefix: str, kind: AccessKind) -> list[Statement]:
        """The statement that copies one element, if there are accesses of this kind."""
        relations = [
            (statement, access.relation) for statement, access in self.uses if access.kind is kind
        ]
        if not relations:
            return []
        copied = self._copied(kind, relations)
        if copied.is_empty():
            return []
        taken = {statement.name for statement in self.old.statements}
        name = free_name(f"{prefix}_{self.array.name}", taken)
        rank = len(self.array.shape)
        iterators = (
            *(loop.name for loop in self.outer),
            *(f"{self.array.name}{k}" for k in range(rank)),
        )
        footprint = copied.wrap().flatten()
        domain = named_domain(footprint, name, iterators)
        dims = [AffineExpr.dimension(k) for k in range(len(iterators))]
        outer, subscripts = dims[: len(self.outer)], dims[len(self.outer) :]
        source = self.array, self._map(len(dims), subscripts)
        target = self.buffer, self._map(len(dims), [*outer, *self._place(subscripts)])
        if kind is AccessKind.WRITE:
            source, target = target, source
        load = make_load(*source)
        scaled = next(iter(self.products.values()), None)
        computed = [multiply(scaled, load)] if scaled is not None else []
        extended = next(iter(self.extended.values()), None)
        if extended is not None:
            computed = [widen(extended, load)]
        store = make_store([load, *computed][-1], *target)
        accesses = (
            make_access(self.old, AccessKind.READ, *source, domain, load),
            make_access(self.old, AccessKind.WRITE, *target, domain, store),
        )
        return [Statement(name, iterators, domain, accesses, (load, *computed, store))]

    def _copied(self, kind: AccessKind, relations: List[tuple[Statement, isl.Map]]) -> isl.Map:
        """The elements to copy, by the values of the loops around the body."""
        if self.is_selection:
            return reduce(isl.Map.union, (_elements(self.outer, *each) for each in relations))
        live = LiveElements(self.schedule, self.loop, self.array.name)
        return live.before(relations) if kind is AccessKind.READ else live.after(relations)

    def _map(self, dims: int, results: List[AffineExpr]) -> AffineMap:
        return AffineMap(dims, len(self.old.parameters), tuple(results))

    def _place(self, subscripts: List[AffineExpr]) -> list[AffineExpr]:
        return [
            expression.replace_dims_and_symbols(list(subscripts), ()) for expression in self.layout
        ]

    def _redirect(self, statement: Statement) -> Statement:
        """The statement with the buffer in place of the array."""
        if all(id(access) not in self.redirected for access in statement.accesses):
            return statement
        positions = symbols(self.old)
        outer = [aff_expression(loop.schedule[statement.name], positions) for loop in self.outer]
        accesses: list[Access] = []
        for access in statement.accesses:
            if id(access) in self.redirected:
                place = [*outer, *self._place(list(access.map.results))]
                access = make_access(
                    self.old,
                    access.kind,
                    self.buffer,
                    self._map(access.map.num_dims, place),
                    statement.domain,
                    access.op,
                )
            accesses.append(access)
        redirected = replace(statement, accesses=tuple(accesses))
        scaled = [self.products[a.op] for a in accesses if a.op in self.products]
        if scaled:
            return take_products(redirected, scaled)
        extended = [self.extended[a.op] for a in accesses if a.op in self.extended]
        return take_widened(redirected, extended) if extended else redirected
