"""Schedule -> loop IR, for known or symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial

import islpy as isl
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ..dialects import affine
from ..dialects.memref import is_memref
from ..passes.machine.target import Target
from ..passes.polyhedral.fused_products import drop_needless_marks, mark_fused
from ..passes.polyhedral.gathers import gathers_of
from ..passes.polyhedral.inspections import Inspections, inspections
from ..passes.polyhedral.isl_context import bounded_for
from ..passes.polyhedral.schedule_tree import Loop, loops, statements
from ..passes.polyhedral.scop import Array, Parameter, Scop
from ..passes.schedules.schedule import Schedule
from ..support.stage_times import stage
from .loops.emit_loops import LoopEmitter
from .loops.emit_statements import StatementEmitter
from .loops.ir_builder import IRBuilder
from .loops.local_bounds import check_local_subscripts
from .loops.narrow_arithmetic import narrow_arithmetic
from .loops.storage import Storage, place_local_arrays, possible_homes
from .loops.subscript_inspection import SubscriptInspection
from .memory.accumulator_prefetching import prefetch_accumulators
from .memory.anticipated_loads import hoist_anticipated_loads
from .memory.diagonal_vectors import carry_diagonal_vectors
from .memory.elementwise_rows import elementwise_rows
from .memory.mask_hoisting import hoist_masks
from .memory.scalar_replacement import replace_scalars
from .memory.shifted_vectors import carry_shifted_vectors
from .memory.software_prefetching import prefetch_and_bypass
from .memory.store_to_load_forwarding import remove_redundant_accesses
from .memory.sunk_stores import sink_stores
from .memory.unread_arrays import remove_unread_arrays
from .nest.alternatives import join_alternatives
from .nest.ast_to_nest import ast_to_nest
from .nest.build_ast import build_ast
from .nest.index_expression import Index
from .nest.index_set_splitting import split_index_sets
from .nest.loop_peeling import peel_loops
from .nest.merge_guards import merge_guards
from .nest.nest import Block as Parts
from .nest.nest import Nest, restrict, scattered_loops
from .nest.run_time_tiles import size_parameter
from .validation.generated import Generated
from .validation.registers.rewriting import History

Inspect = Callable[[Generated], None]

_PREFETCHING = (prefetch_and_bypass, prefetch_accumulators)


def generate(
    schedule: Schedule,
    sizes: Mapping[str, int],
    *,
    vectors: bool = True,
    ahead: bool = True,
    most: int | None = None,
    inspect: Inspect | None = None,
    trusted: bool = False,
) -> func.FuncOp:
    """The scheduled program as loop IR.

    `sizes` gives values of the Scop's parameters and of other dynamic dimensions by which an
    array's shape is named; what it leaves out stays symbolic, and code for it is less specialised.
    The result has the argument list of the original function, with static shapes where known, and
    behind it the tile sizes that the schedule leaves open.
    Without `vectors`, vector loops stay loops; those that a compiler may run in vectors have the
    attribute `omp.simd`, the width. Without them or `ahead`, subscripts that depend on data are
    compared with the extents where they are used, not ahead of the loops, and not at all where they
    are `trusted`. `inspect` sees the nest that becomes loop IR.
    Raises SourceError where isl cannot make the loops, and TooManyOperationsError as soon as more
    than `most` operations are made, constants not counted.
    """
    is_inspected = inspect is not None
    with bounded_for(schedule.scop.func, f"the loops of '@{schedule.scop.name}'"):
        function, generated = _generate(
            schedule, sizes, vectors, ahead, most, is_inspected, trusted
        )
    if inspect is not None and generated is not None:
        inspect(generated)
    return function


def _generate(
    schedule: Schedule,
    sizes: Mapping[str, int],
    vectors: bool,
    ahead: bool,
    most: int | None,
    is_inspected: bool,
    trusted: bool,
) -> tuple[func.FuncOp, Generated | None]:
    scop = schedule.scop
    context = _fixed(scop, sizes)
    tile_sizes = schedule.run_time_sizes
    kinds = [*_argument_types(scop, sizes), *(IndexType() for _ in tile_sizes)]
    entry = Block(arg_types=kinds)
    own, tiles = entry.args[: len(scop.func.args)], entry.args[len(scop.func.args) :]
    for new, old in zip(own, scop.func.args, strict=True):
        new.name_hint = old.name_hint
    for new, name in zip(tiles, tile_sizes, strict=True):
        new.name_hint = name
    builder = IRBuilder(entry, most)
    parameters = {p.name: _parameter(p, builder, sizes) for p in scop.parameters}
    domains = {s.name: s.domain.intersect_params(context) for s in scop.statements}
    nest: Nest = Parts(())
    known = {
        size_parameter(name): builder.named(value)
        for name, value in zip(tile_sizes, tiles, strict=True)
    }
    values = {**parameters, **known}
    if statements(schedule.tree):
        joined = join_alternatives(scop, schedule.tree, domains)
        with stage("AST"):
            ast = build_ast(joined.tree, joined.domains, context, _asked_loops(schedule))
        nest = joined.apart(ast_to_nest(ast, values, builder.new_variable), parameters)
    marked = [loop for loop in loops(schedule.tree) if loop.vector is not None]

    def no_homes(names: Container[str]) -> list[Loop]:
        return scattered_loops(restrict(nest, names), schedule.tree)

    lanes = marked if vectors else []
    placements = place_local_arrays(
        scop, schedule.tree, no_homes, lanes, context, parameters, sizes
    )
    storage = Storage(
        placements,
        {a.name: entry.args[a.argument] for a in scop.arrays if a.argument is not None},
    )
    scalars: dict[SSAValue, SSAValue] = dict(zip(scop.func.args, own, strict=True))
    if trusted:
        inspected = Inspections(gathers={each.name: gathers_of(each) for each in scop.statements})
    else:
        inspected = inspections(scop) if vectors and ahead else Inspections()
    simd = None if vectors else [loop for loop in marked if schedule.is_coincident(loop)]
    emitter = LoopEmitter(
        builder,
        StatementEmitter(builder, scop, parameters, scalars, storage, inspected.gathers),
        storage,
        schedule.target,
        simd,
    )
    nest = merge_guards(peel_loops(split_index_sets(nest)))
    with stage("local arrays"):
        check_local_subscripts(scop, nest, placements, parameters, context)

    def emit_loops() -> list[SSAValue]:
        with storage.allocated(builder, None, nest):
            emitter.emit(nest, {})
            return [_returned(builder, storage, array) for array in scop.returns]

    if inspected.parts:
        inspection = SubscriptInspection(
            builder,
            scop,
            parameters,
            context,
            scalars,
            storage.arguments,
            schedule.target,
            threads=any(loop.parallel for loop in loops(schedule.tree)),
        )
        results = inspection.emit(emit_loops, [array.element_type for array in scop.returns])
    else:
        results = emit_loops()
    builder.emit(func.ReturnOp(*results))
    kind = ([*entry.arg_types], [result.type for result in results])
    function = func.FuncOp(scop.name, kind, Region(entry))
    mark_fused(function)
    history = History(function) if is_inspected else None
    for name, passes in _passes(schedule.target, vectors=vectors):
        for rewrite in passes:
            rewrite(function)
        if history is not None:
            history.note(name)
    if scop.opaque_statements:
        _add_opaque_regions(scop, function)
    if history is None:
        return function, None
    marks = tuple(emitter.vectors), tuple(emitter.independent)
    steps = tuple(history.rewritings)
    return function, Generated(scop, nest, placements, values, context, *marks, steps)


def _passes(
    target: Target, *, vectors: bool
) -> Iterator[tuple[str, Sequence[Callable[[func.FuncOp], None]]]]:
    """What rewrites loop IR in place, in groups that validation compares before and after."""
    yield "values in registers", [hoist_masks, hoist_anticipated_loads, replace_scalars]
    if vectors:
        yield "results of conditionals", [sink_stores]
        yield "forwarding", [remove_redundant_accesses]
        for carry in (carry_diagonal_vectors, carry_shifted_vectors):
            yield "shuffles of carried vectors", [partial(carry, target=target)]
        prefetching = [partial(each, target=target) for each in _PREFETCHING]
        yield "prefetching and unread arrays", [*prefetching, remove_unread_arrays]
        yield "narrower arithmetic", [narrow_arithmetic]
        yield "rows in the order of memory", [elementwise_rows]
    yield "fused products", [drop_needless_marks]


def _add_opaque_regions(scop: Scop, function: func.FuncOp) -> None:
    """Puts a function into a module with the outlined functions that it calls."""
    module = scop.func.parent_op()
    assert isinstance(module, ModuleOp)
    ModuleOp([function, *(op.clone() for op in module.ops if op is not scop.func)])


def _asked_loops(schedule: Schedule) -> set[str]:
    """Loops, by name, of whose values the place of a local array or of a vector may follow."""
    asked = possible_homes(schedule.scop, schedule.tree)
    for loop in loops(schedule.tree):
        if loop.vector is not None and loop.within is not None:
            asked |= {loop.name, loop.within.tile}
    return asked


def _parameter(parameter: Parameter, builder: IRBuilder, sizes: Mapping[str, int]) -> Index:
    if parameter.name in sizes:
        return Index(sizes[parameter.name])
    value: SSAValue = builder.entry.args[parameter.argument]
    if parameter.dimension is not None:
        position = builder.constant(parameter.dimension, IndexType())
        value = builder.emit(memref.DimOp(value, position)).result
    elif not isinstance(value.type, IndexType):
        value = builder.emit(arith.IndexCastOp(value, IndexType())).result
    value.name_hint = parameter.name
    return builder.named(value)


def _returned(builder: IRBuilder, storage: Storage, array: Array) -> SSAValue:
    attribute, operands = builder.map([])
    return builder.emit(affine.LoadOp(storage.shared_memref(array), operands, attribute)).result


def _fixed(scop: Scop, sizes: Mapping[str, int]) -> isl.Set:
    context = scop.context
    for position, parameter in enumerate(scop.parameters):
        if parameter.name in sizes:
            value = isl.Val(sizes[parameter.name])
            context = context.fix_val(isl.dim_type.param, position, value)
    return context


def _argument_types(scop: Scop, sizes: Mapping[str, int]) -> list[Attribute]:
    shapes = {array.argument: array.shape for array in scop.arrays if array.argument is not None}
    result: list[Attribute] = []
    for position, argument in enumerate(scop.func.args):
        kind = argument.type
        if is_memref(kind) and position in shapes:
            shape = [_extent(extent, sizes) for extent in shapes[position]]
            kind = MemRefType(kind.element_type, shape)
        result.append(kind)
    return result


def _extent(extent: object, sizes: Mapping[str, int]) -> int:
    if isinstance(extent, str):
        return sizes.get(extent, DYNAMIC_INDEX)
    assert isinstance(extent, int), "the shape of an argument is constant or a named dimension"
    return extent
