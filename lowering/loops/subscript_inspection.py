"""Inspector loops: compare subscripts with the extents ahead of the program's own loops.

for i: wrong |= x[i] | (M - 1 - x[i])
if wrong >= 0:  the loops, in which A[x[i]] is not checked
else:           for i: A[x[i]], checked: notes the first one that is outside

Where the program's own loops run in threads, so do these, in strips (`wrong` is a strip's own).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import islpy as isl
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.hints import isa

from ...dialects import affine
from ...dialects.memref import is_memref
from ...passes.machine.target import Target
from ...passes.polyhedral.flattened_rows import flatten_rows
from ...passes.polyhedral.gathers import CHECKED
from ...passes.polyhedral.inspections import inspections
from ...passes.polyhedral.schedule_tree import Leaf, Loop, TileSize, Tree
from ...passes.polyhedral.schedule_tree import Sequence as Parts
from ...passes.polyhedral.scop import Scop, Statement
from ..nest.ast_to_nest import ast_to_nest
from ..nest.build_ast import build_ast
from ..nest.index_expression import Index
from ..nest.nest import For, Nest
from .emit_loops import LoopEmitter
from .emit_statements import StatementEmitter
from .emit_vector_loops import Environment
from .gather_offsets import extent
from .ir_builder import IRBuilder
from .lane_places import Lanes
from .storage import Storage

STRIP = 16384
"""Subscripts that are worth a part of a thread's work: about 5 microseconds."""


class SubscriptInspection:
    """Emits the inspections of a program, for sizes in a `context` and values of its parameters.

    `threads`: more than one may run.
    """

    def __init__(
        self,
        builder: IRBuilder,
        scop: Scop,
        parameters: Mapping[str, Index],
        context: isl.Set,
        scalars: Mapping[SSAValue, SSAValue],
        arguments: Mapping[str, SSAValue],
        target: Target,
        *,
        threads: bool,
    ):
        found = inspections(scop).parts
        widths = {
            name: array.type.get_shape()[-1]
            for name, array in arguments.items()
            if is_memref(array.type) and array.type.get_shape()[-1:] > (0,)
        }
        parts = tuple(
            flatten_rows(
                replace(each.part, domain=each.part.domain.intersect_params(context)), widths
            )
            for each in found
        )
        domains = {part.name: part.domain for part in parts}

        def nest(loops: Callable[[Statement], Tree]) -> Nest:
            ast = build_ast(Parts(tuple(map(loops, parts))), domains, context)
            return ast_to_nest(ast, parameters, builder.new_variable)

        self.noting = nest(_loops)
        self.comparing = nest(_strips) if threads else self.noting
        self.builder, self.target = builder, target
        self.storage = Storage((), arguments)
        self.statements = _PartEmitter(
            builder,
            replace(scop, statements=parts, tree=Parts(tuple(map(_loops, parts)))),
            parameters,
            scalars,
            self.storage,
            {each.part.name: each.subscripts for each in found},
        )

    def emit(
        self, loops: Callable[[], Sequence[SSAValue]], kinds: Sequence[Attribute]
    ) -> Sequence[SSAValue]:
        """Appends the inspections, and the program's own loops for where they find nothing.

        Returns what the loops do, values of some `kinds`; zeros where they do not run.
        """
        cell = self.statements.new_cell()
        self.statements.wrong = cell
        self._emit(self.comparing)
        self.statements.wrong = None
        is_inside = self.statements.compared(cell, "sge")

        def note() -> Sequence[SSAValue]:
            self._emit(self.noting)
            return [self.builder.emit(_zero(kind)).result for kind in kinds]

        then, otherwise = (Region(self._branch(body)) for body in (loops, note))
        return self.builder.emit(scf.IfOp(is_inside, kinds, then, otherwise)).results

    def _branch(self, body: Callable[[], Sequence[SSAValue]]) -> Block:
        results: list[SSAValue] = []
        return self.builder.filled(
            Block(), lambda: results.extend(body()), lambda: scf.YieldOp(*results)
        )

    def _emit(self, nest: Nest) -> None:
        _StripEmitter(self.builder, self.statements, self.storage, self.target).emit(nest, {})


def _zero(kind: Attribute) -> arith.ConstantOp:
    if isa(kind, IntegerType | IndexType):
        return arith.ConstantOp(IntegerAttr(0, kind))
    assert isinstance(kind, AnyFloat)
    return arith.ConstantOp(FloatAttr(0.0, kind))


def _loops(part: Statement) -> Tree:
    """The loops of a statement, none of which another one is in."""
    tree: Tree = Leaf(part.name)
    for position, name in reversed(list(enumerate(part.loops))):
        space = isl.LocalSpace.from_space(part.domain.get_space())
        value = isl.Aff.var_on_domain(space, isl.dim_type.set, position)
        tree = Loop(name, {part.name: value}, tree)
    return tree


def _strips(statement: Statement) -> Tree:
    """The same loops; strips of the outermost one, or its iterations if it has loops in it, run
    in threads.
    """
    tree = _loops(statement)
    if not isinstance(tree, Loop):
        return tree
    if isinstance(tree.body, Loop):
        return replace(tree, parallel=True)
    name = f"{tree.name}_strip"
    value = tree.schedule[statement.name].scale_down_val(isl.Val(STRIP)).floor()
    points = replace(tree, within=TileSize(name, STRIP))
    return Loop(name, {statement.name: value}, points, parallel=True)


class _StripEmitter(LoopEmitter):
    """Iterations of a parallel loop compare in a cell of their own: threads share only its end."""

    def __init__(
        self, builder: IRBuilder, statements: _PartEmitter, storage: Storage, target: Target
    ):
        super().__init__(builder, statements, storage, target)
        self.parts = statements

    def _body(
        self, nest: For, environment: Environment, lanes: Lanes | None, iteration: Index
    ) -> None:
        body = partial(super()._body, nest, environment, lanes, iteration)
        if nest.loop.parallel:
            self.parts.compare_apart(body)
        else:
            body()


class _PartEmitter(StatementEmitter):
    """Emits comparisons in place of gathers, or gathers that are checked, with `wrong` None."""

    def __init__(
        self,
        builder: IRBuilder,
        scop: Scop,
        parameters: Mapping[str, Index],
        scalars: Mapping[SSAValue, SSAValue],
        storage: Storage,
        subscripts: Mapping[str, Mapping[memref.LoadOp, tuple[int, ...]]],
    ):
        super().__init__(builder, scop, parameters, scalars, storage)
        self.looked_up = subscripts
        self.wrong: SSAValue | None = None

    def gather(
        self,
        statement: Statement,
        operation: memref.LoadOp,
        values: Mapping[SSAValue, SSAValue],
        arguments: Mapping[int, Index],
        lanes: Lanes | None,
    ) -> SSAValue:
        array = self.storage.arguments[self.arrays[operation.memref].name]
        subscripts = {
            k: self._operand(statement, operation.indices[k], values, arguments, lanes)
            for k in self.looked_up[statement.name][operation]
        }
        zero = self.builder.constant(0, IndexType())
        if self.wrong is None:
            places = [subscripts.get(k, zero) for k in range(len(operation.indices))]
            load = memref.LoadOp.get(array, places)
            load.attributes[CHECKED] = UnitAttr()
            return self.builder.emit(load).results[0]
        for position, subscript in subscripts.items():
            self._compare(self.wrong, subscript, extent(self.builder, array, position))
        return zero

    def new_cell(self) -> SSAValue:
        """What `wrong` is at first: nothing."""
        cell = self.builder.emit(memref.AllocaOp.get(IndexType(), shape=[])).memref
        self._note_in(self.builder.constant(0, IndexType()), cell)
        return cell

    def compared(self, cell: SSAValue, predicate: Literal["sge", "slt"]) -> SSAValue:
        """What a cell is beside 0: at least where no subscript was found wrong, else less."""
        zero = self.builder.constant(0, IndexType())
        return self.builder.emit(arith.CmpiOp(self._wrong_in(cell), zero, predicate)).result

    def compare_apart(self, body: Callable[[], None]) -> None:
        """Emits comparisons in a cell of their own, which `wrong` learns from if there is need."""
        shared = self.wrong
        assert shared is not None, "what is noted is noted in order"
        self.wrong = self.new_cell()
        body()
        is_outside = self.compared(self.wrong, "slt")
        self.wrong = shared

        def tell() -> None:
            self._note_in(self.builder.constant(-1, IndexType()), shared)

        self.builder.when(is_outside, tell)

    def _wrong_in(self, cell: SSAValue) -> SSAValue:
        attribute, operands = self.builder.map([])
        return self.builder.emit(affine.LoadOp(cell, operands, attribute)).result

    def _note_in(self, value: SSAValue, cell: SSAValue) -> None:
        attribute, operands = self.builder.map([])
        self.builder.emit(affine.StoreOp(value, cell, operands, attribute))

    def _compare(self, wrong: SSAValue, subscript: SSAValue, size: SSAValue) -> None:
        """Makes `wrong` negative where the subscript is, or is not below the size."""
        one = self.builder.constant(1, IndexType())
        last = self.builder.emit(arith.SubiOp(size, one)).result
        found = self._wrong_in(wrong)
        rest = self.builder.emit(arith.SubiOp(last, subscript)).result
        for each in (subscript, rest):
            found = self.builder.emit(arith.OrIOp(found, each)).result
        self._note_in(found, wrong)
