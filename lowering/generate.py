"""Schedule -> loop IR, for known sizes."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.hints import isa

from ..dialects import affine
from ..passes.polyhedral.context import ISL_LOCK
from ..passes.polyhedral.scop import Array, Scop
from ..passes.schedule import Schedule
from ..passes.schedule_tree import statements
from .ast_to_nest import ast_to_nest
from .emit_loops import LoopEmitter
from .emit_statements import StatementEmitter
from .ir_builder import IRBuilder
from .isl_ast import build_ast
from .storage import Storage, place_local_arrays


def generate(schedule: Schedule, sizes: Mapping[str, int]) -> func.FuncOp:
    """The scheduled program as loop IR with all parameters bound.

    `sizes` gives a value for every parameter of the Scop and for every other dynamic dimension by
    which an array's shape is named. The result has the argument list of the original function,
    with static memref shapes.
    """
    with ISL_LOCK:
        return _generate(schedule, sizes)


def _generate(schedule: Schedule, sizes: Mapping[str, int]) -> func.FuncOp:
    scop = schedule.scop
    parameters = {parameter.name: sizes[parameter.name] for parameter in scop.parameters}
    context = _fixed(scop.context, parameters)
    entry = Block(arg_types=_argument_types(scop, sizes))
    for new, old in zip(entry.args, scop.func.args, strict=True):
        new.name_hint = old.name_hint
    builder = IRBuilder(entry)
    storage = Storage(
        place_local_arrays(scop, schedule.tree, context),
        {a.name: entry.args[a.argument] for a in scop.arrays if a.argument is not None},
        parameters,
    )
    scalars: dict[SSAValue, SSAValue] = dict(zip(scop.func.args, entry.args, strict=True))
    emitter = LoopEmitter(
        builder, StatementEmitter(builder, scop, parameters, scalars, storage), storage
    )
    domains = {s.name: s.domain.intersect_params(context) for s in scop.statements}
    with storage.allocated(builder, None):
        if statements(schedule.tree):
            ast = build_ast(schedule.tree, domains, context)
            emitter.emit(ast_to_nest(ast, parameters, builder.new_variable), {})
        results = [_returned(builder, storage, array) for array in scop.returns]
    builder.emit(func.ReturnOp(*results))
    kind = ([*entry.arg_types], [result.type for result in results])
    return func.FuncOp(scop.name, kind, Region(entry))


def _returned(builder: IRBuilder, storage: Storage, array: Array) -> SSAValue:
    attribute, operands = builder.map([])
    return builder.emit(affine.LoadOp(storage.memref(array), operands, attribute)).result


def _fixed(context: isl.Set, parameters: Mapping[str, int]) -> isl.Set:
    for position, value in enumerate(parameters.values()):
        context = context.fix_val(isl.dim_type.param, position, isl.Val(value))
    return context


def _argument_types(scop: Scop, sizes: Mapping[str, int]) -> list[Attribute]:
    shapes = {array.argument: array.shape for array in scop.arrays if array.argument is not None}
    result: list[Attribute] = []
    for position, argument in enumerate(scop.func.args):
        kind = argument.type
        if isa(kind, MemRefType[Attribute]) and position in shapes:
            shape = [_extent(extent, sizes) for extent in shapes[position]]
            kind = MemRefType(kind.element_type, shape)
        result.append(kind)
    return result


def _extent(extent: object, sizes: Mapping[str, int]) -> int:
    if isinstance(extent, str):
        return sizes[extent]
    assert isinstance(extent, int), "the shape of an argument is constant or a named dimension"
    return extent
