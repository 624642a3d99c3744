"""Copy the part of an array that a loop body uses into a contiguous buffer."""

from __future__ import annotations

from collections.abc import Sequence as List
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar

import islpy as isl
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from ...dialects import affine
from ..polyhedral.aff_expression import aff_expression
from ..polyhedral.affine_text import to_text
from ..polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ..schedule import Schedule
from ..schedule_tree import (
    Leaf,
    Loop,
    Tree,
    rebuild,
    replace_node,
    sequence,
    statements,
    without_marks,
)
from ..transformation import MalformedTransformation, Transformation, option


@dataclass(frozen=True)
class Pack(Transformation):
    """Copies what one iteration of a loop uses of an array into a buffer, used instead.

    The buffer is as large as the box around these elements. What is read is copied in before the
    body, what is written is copied back after it; the copies are statements `pack_B` and
    `unpack_B` with loops `B0`, `B1` ... over the subscripts. `order` is that of the buffer's
    subscripts: `1,0` transposes. `panels=0,8` cuts the second subscript into panels of 8: its
    quotient by 8 stands in its place, its remainder comes last.
    `pack{loops=jt array=B}`:

        for jt:                       for jt:
          for k:                        for B0, B1: P[B0, B1] = B[B0, B1]
            for j in tile jt:     ->    for k:
              S: ... B[k, j]              for j in tile jt:
                                            S: ... P[k, j]
    """

    name: ClassVar[str] = "pack"

    array: str = option("the array, by name")
    order: tuple[int, ...] = option("subscripts of the array, counted from 0", default=())
    panels: tuple[int, ...] = option("size of panels per subscript, 0 for none", default=())

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        if len(self.loops) != 1:
            raise MalformedTransformation("name the one loop around whose body to copy")
        loop = schedule.loop(self.loops[0])
        array = self._array(schedule.scop)
        return _Packing(schedule, loop, array, self._layout(array)).program()

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
    """The Scop with a buffer for `array` in the body of `loop`."""

    def __init__(self, schedule: Schedule, loop: Loop, array: Array, layout: List[AffineExpr]):
        self.schedule = schedule
        self.loop = loop
        self.array = array
        self.layout = layout
        self.old = schedule.scop
        self.symbols = {p.name: k for k, p in enumerate(self.old.parameters)}
        self.outer = (*schedule.outer(loop), loop)
        self.buffer = Array(
            self._free(f"{array.name}_packed", {a.name for a in self.old.arrays}),
            array.element_type,
            (None,) * (len(self.outer) + len(layout)),
            array.value,
            None,
            scope_depth=len(self.outer),
        )

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
        copies = [
            self._copy(prefix, kind, [use for use in uses if use[1].kind is kind])
            for prefix, kind in (("pack", AccessKind.READ), ("unpack", AccessKind.WRITE))
            if any(access.kind is kind for _, access in uses)
        ]
        changed = tuple(
            self._redirect(statement) if statement.name in inside else statement
            for statement in self.old.statements
        )
        tree = self._tree(copies)
        scop = replace(
            self.old,
            arrays=(*self.old.arrays, self.buffer),
            statements=(*changed, *(statement for statement, _, _ in copies)),
            tree=without_marks(tree),
        )
        return scop, tree

    def _copy(
        self, prefix: str, kind: AccessKind, uses: List[tuple[Statement, Access]]
    ) -> tuple[Statement, Tree, AccessKind]:
        """The statement that copies one element, and its loops over the elements."""
        taken = {statement.name for statement in self.old.statements}
        name = self._free(f"{prefix}_{self.array.name}", taken)
        footprint = reduce(
            isl.Map.union,
            (
                self._outer_values(statement).reverse().apply_range(a.relation)
                for statement, a in uses
            ),
        )
        depth, rank = len(self.outer), len(self.array.shape)
        domain = footprint.wrap().flatten().set_tuple_name(name).coalesce()
        iterators = tuple(
            [loop.name for loop in self.outer] + [f"{self.array.name}{k}" for k in range(rank)]
        )
        domain = _named(domain, iterators)
        dims = [AffineExpr.dimension(k) for k in range(depth + rank)]
        element = AffineMap(depth + rank, len(self.symbols), tuple(dims[depth:]))
        place = AffineMap(
            depth + rank, len(self.symbols), (*dims[:depth], *self._place(dims[depth:]))
        )
        source, target = (self.array, self.buffer), (element, place)
        if kind is AccessKind.WRITE:
            source, target = source[::-1], target[::-1]
        load = affine.LoadOp.create(
            operands=[source[0].value],
            properties={"map": AffineMapAttr(target[0])},
            result_types=[self.array.element_type],
        )
        store = affine.StoreOp.create(
            operands=[load.results[0], source[1].value],
            properties={"map": AffineMapAttr(target[1])},
        )
        accesses = (
            self._access(AccessKind.READ, source[0], target[0], domain, load),
            self._access(AccessKind.WRITE, source[1], target[1], domain, store),
        )
        statement = Statement(name, iterators, domain, accesses, (load, store))
        local = isl.LocalSpace.from_space(domain.get_space())
        loops = tuple(
            Loop(
                iterators[depth + k],
                {name: isl.Aff.var_on_domain(local, isl.dim_type.set, depth + k)},
                Leaf(name),
            )
            for k in range(rank)
        )
        return statement, rebuild(loops, Leaf(name)), kind

    def _outer_values(self, statement: Statement) -> isl.Map:
        """The values of the loops around the buffer: `{ S0[i, j] -> [it, jt] }`."""
        result = isl.Map.from_domain(statement.domain)
        for loop in self.outer:
            result = result.flat_range_product(isl.Map.from_aff(loop.schedule[statement.name]))
        return result

    def _place(self, subscripts: List[AffineExpr]) -> list[AffineExpr]:
        return [
            expression.replace_dims_and_symbols(list(subscripts), ()) for expression in self.layout
        ]

    def _access(
        self,
        kind: AccessKind,
        array: Array,
        map_: AffineMap,
        domain: isl.Set,
        op: Operation,
    ) -> Access:
        names = [f"i{k}" for k in range(map_.num_dims)]
        results = ", ".join(
            to_text(expression, names, list(self.symbols)) for expression in map_.results
        )
        relation = isl.Map(
            f"[{', '.join(self.symbols)}] -> "
            f"{{ {domain.get_tuple_name()}[{', '.join(names)}] -> {array.name}[{results}] }}"
        )
        return Access(kind, array, map_, relation.intersect_domain(domain), op)

    def _redirect(self, statement: Statement) -> Statement:
        """The statement with the buffer in place of the array."""
        if all(access.array != self.array for access in statement.accesses):
            return statement
        outer = [aff_expression(loop.schedule[statement.name], self.symbols) for loop in self.outer]
        accesses: list[Access] = []
        for access in statement.accesses:
            if access.array != self.array:
                accesses.append(access)
                continue
            place = (*outer, *self._place(list(access.map.results)))
            map_ = AffineMap(access.map.num_dims, access.map.num_symbols, place)
            accesses.append(
                self._access(access.kind, self.buffer, map_, statement.domain, access.op)
            )
        return replace(statement, accesses=tuple(accesses))

    def _tree(self, copies: List[tuple[Statement, Tree, AccessKind]]) -> Tree:
        before = [tree for _, tree, kind in copies if kind is AccessKind.READ]
        after = [tree for _, tree, kind in copies if kind is AccessKind.WRITE]
        body = sequence([*before, self.loop.body, *after])
        tree: Tree = body
        for depth in reversed(range(len(self.outer))):
            loop = self.outer[depth]
            schedule = dict(loop.schedule)
            for statement, _, _ in copies:
                local = isl.LocalSpace.from_space(statement.domain.get_space())
                schedule[statement.name] = isl.Aff.var_on_domain(local, isl.dim_type.set, depth)
            inner = self.outer[depth + 1] if depth + 1 < len(self.outer) else None
            below = tree if inner is None else replace_node(loop.body, inner, tree)
            tree = replace(loop, schedule=schedule, body=below)
        return replace_node(self.schedule.tree, self.outer[0], tree)

    @staticmethod
    def _free(base: str, taken: set[str]) -> str:
        candidates = (base if number == 1 else f"{base}{number}" for number in range(1, 1000))
        return next(name for name in candidates if name not in taken)


def _named(domain: isl.Set, names: tuple[str, ...]) -> isl.Set:
    for position, name in enumerate(names):
        domain = domain.set_dim_name(isl.dim_type.set, position, name)
    return domain
