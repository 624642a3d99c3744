"""Copy the part of an array that a loop body uses into a contiguous buffer."""

from __future__ import annotations

from collections.abc import Sequence as List
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from ...dialects import affine
from ..live_elements import LiveElements
from ..polyhedral.aff_expression import aff_expression
from ..polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ..program_edits import (
    free_name,
    loops_over,
    make_access,
    named_domain,
    put_inside,
    symbols,
)
from ..scaled_loads import ScaledLoad, multiply, scaled_load, take_products
from ..schedule import Schedule
from ..schedule_tree import Loop, Tree, sequence, statements, without_marks
from ..transformation import MalformedTransformation, Transformation, option


@dataclass(frozen=True)
class Pack(Transformation):
    """Copies what one iteration of a loop uses of an array into a buffer, used instead.

    The buffer is as large as the box around these elements. What is read of what was there before
    is copied in before the body; what is written is copied back after it, if it is read outside or
    not written again by later iterations. The copies are statements `pack_B` and `unpack_B` with
    loops `B0`, `B1` ... over the subscripts. `order` is that of the buffer's
    subscripts: `1,0` transposes. `panels=0,8` cuts the second subscript into panels of 8: its
    quotient by 8 stands in its place, its remainder comes last. With `scaled=true` the buffer holds
    the products with the scalar argument that every use multiplies an element by.
    `pack{loops=jt array=B}`:

        for jt:                       for jt:
          for k:                        for B0, B1: P[B0, B1] = B[B0, B1]
            for j in tile jt:     ->    for k:
              S: ... B[k, j]              for j in tile jt:
                                            S: ... P[k, j]
    """

    name: ClassVar[str] = "pack"
    symbol: ClassVar[str] = "B"

    array: str = option("the array, by name")
    order: tuple[int, ...] = option("subscripts of the array, counted from 0", default=())
    panels: tuple[int, ...] = option("size of panels per subscript, 0 for none", default=())
    scaled: bool = option("pack products with a scalar argument", default=False)

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        if len(self.loops) != 1:
            raise MalformedTransformation("name the one loop around whose body to copy")
        loop = schedule.loop(self.loops[0])
        array = self._array(schedule.scop)
        return _Packing(schedule, loop, array, self._layout(array), scaled=self.scaled).program()

    def _array(self, scop: Scop) -> Array:
        for array in scop.arrays:
            if array.name == self.array:
                return array
        known = ", ".join(array.name for array in scop.arrays)
        raise MalformedTransformation(f"there is no array {self.array}; the arrays are {known}")

    def _layout(self, array: Array) -> list[AffineExpr]:
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
        subscripts = [(AffineExpr.dimension(k), panels[k]) for k in order]
        whole = [x // panel if panel else x for x, panel in subscripts]
        return [*whole, *(x % panel for x, panel in subscripts if panel)]


class _Packing:
    """The program with a buffer for `array` in the body of `loop`."""

    def __init__(
        self,
        schedule: Schedule,
        loop: Loop,
        array: Array,
        layout: List[AffineExpr],
        *,
        scaled: bool,
    ) -> None:
        self.schedule = schedule
        self.loop = loop
        self.array = array
        self.layout = layout
        self.old = schedule.scop
        self.outer = (*schedule.outer(loop), loop)
        self.buffer = Array(
            free_name(f"{array.name}_packed", {a.name for a in self.old.arrays}),
            array.element_type,
            (None,) * (len(self.outer) + len(layout)),
            array.value,
            None,
            scope_depth=len(self.outer),
        )
        self.products = self._products() if scaled else {}

    def _products(self) -> dict[Operation, ScaledLoad]:
        """For each load of the array in the loop the product that it is for: always the same."""
        inside = set(statements(self.loop.body))
        found = {
            access.op: scaled_load(self.old, statement, access)
            if access.kind is AccessKind.READ
            else None
            for statement in self.old.statements
            if statement.name in inside
            for access in statement.accesses
            if access.array == self.array
        }
        products = {load: product for load, product in found.items() if product is not None}
        if len(products) < len(found) or len({p.scalar for p in products.values()}) > 1:
            raise MalformedTransformation(
                f"{self.array.name} is not only used in products with one and the same scalar "
                f"argument inside {self.loop.name}: leave out scaled=true"
            )
        return products

    def program(self) -> tuple[Scop, Tree]:
        inside = set(statements(self.loop.body))
        uses = [
            (statement, access)
            for statement in self.old.statements
            if statement.name in inside
            for access in statement.accesses
            if access.array == self.array
        ]
        if not uses:
            raise MalformedTransformation(
                f"{self.array.name} is not used inside {self.loop.name}: nothing to copy"
            )
        copy_in = self._copies("pack", AccessKind.READ, uses)
        copy_out = self._copies("unpack", AccessKind.WRITE, uses)
        added = (*copy_in, *copy_out)
        changed = tuple(
            self._redirect(statement) if statement.name in inside else statement
            for statement in self.old.statements
        )
        depth = len(self.outer)
        body = sequence(
            [
                *(loops_over(statement, depth) for statement in copy_in),
                self.loop.body,
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
        return scop, tree

    def _copies(
        self, prefix: str, kind: AccessKind, uses: List[tuple[Statement, Access]]
    ) -> list[Statement]:
        """The statement that copies one element, if there are accesses of this kind."""
        relations = [
            (statement, access.relation) for statement, access in uses if access.kind is kind
        ]
        if not relations:
            return []
        live = LiveElements(self.schedule, self.loop, self.array.name)
        is_read = kind is AccessKind.READ
        copied = live.before(relations) if is_read else live.after(relations)
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
        load = affine.LoadOp.create(
            operands=[source[0].value],
            properties={"map": AffineMapAttr(source[1])},
            result_types=[self.array.element_type],
        )
        scaled = next(iter(self.products.values()), None)
        computed = [multiply(scaled, load)] if scaled is not None else []
        store = affine.StoreOp.create(
            operands=[[load, *computed][-1].results[0], target[0].value],
            properties={"map": AffineMapAttr(target[1])},
        )
        accesses = (
            make_access(self.old, AccessKind.READ, *source, domain, load),
            make_access(self.old, AccessKind.WRITE, *target, domain, store),
        )
        return [Statement(name, iterators, domain, accesses, (load, *computed, store))]

    def _map(self, dims: int, results: List[AffineExpr]) -> AffineMap:
        return AffineMap(dims, len(self.old.parameters), tuple(results))

    def _place(self, subscripts: List[AffineExpr]) -> list[AffineExpr]:
        return [
            expression.replace_dims_and_symbols(list(subscripts), ()) for expression in self.layout
        ]

    def _redirect(self, statement: Statement) -> Statement:
        """The statement with the buffer in place of the array."""
        if all(access.array != self.array for access in statement.accesses):
            return statement
        positions = symbols(self.old)
        outer = [aff_expression(loop.schedule[statement.name], positions) for loop in self.outer]
        accesses: list[Access] = []
        for access in statement.accesses:
            if access.array == self.array:
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
        return take_products(redirected, scaled) if scaled else redirected
