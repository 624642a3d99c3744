"""Outlining of parallel regions into functions for the OpenMP runtime.

The body of a parallel loop becomes a function that runs a part of the range of iterations, called
by a function that each thread runs:

    affine.parallel (%i, %j)         ->  GOMP_parallel(worker, closure, threads, 0)
        = (0, 0) to (%n, %m) {           worker(closure): chunk(begin, end, captured values...)
      ...                                chunk(begin, end, ...): for i, for j { ... }
    }

`schedule = "static"` (the default): a thread runs one contiguous part; the sizes of the parts
differ by one at most. `schedule = "dynamic"`: threads take chunks from a counter, of one iteration
or of so many that there are at least 8 chunks per thread. One iteration alone forks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llvmlite import ir
from xdsl.dialects import affine
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from ..loops.operations import operations
from . import integers
from .emitter import Buffer, FunctionEmitter, constant
from .heap import ALIGNMENT
from .loops import emit_loop
from .types import I32, I64, POINTER, VOID

CHUNKS_PER_THREAD = 8


@dataclass(frozen=True)
class Range:
    """One dimension: `lower`, `lower + step` ... with `count` values."""

    lower: ir.Value
    upper: ir.Value
    step: int
    count: ir.Value


def emit_threads(emitter: FunctionEmitter, op: affine.ParallelOp, ranges: Sequence[Range]) -> None:
    total: ir.Value = constant(1)
    for one in ranges:
        total = integers.multiply(emitter, total, one.count)
    capture = _Capture.of(emitter, op, ranges)
    chunk = _emit_chunk(emitter, op, ranges, capture)
    closure_type = ir.LiteralStructType([I64, I64, *(value.type for value in capture.values)])
    dynamic = op.attributes.get("schedule") == StringAttr("dynamic")
    worker = _emit_worker(emitter, chunk, closure_type, dynamic=dynamic)

    builder = emitter.builder
    closure = emitter.slots.alloca(closure_type)
    closure.align = ALIGNMENT
    closure.type = POINTER  # llvmlite's own type is for stores of whole closures
    many, alone, end = (emitter.block(name) for name in ("fork", "alone", "join"))
    check = emitter.block("few")
    builder.cbranch(builder.icmp_signed(">", total, constant(1)), many, check)

    builder.position_at_end(many)
    for position, value in enumerate([constant(0), total, *capture.values]):
        builder.store(value, _field(builder, closure, closure_type, position))
    fork = emitter.module.declare(
        "GOMP_parallel", ir.FunctionType(VOID, [POINTER, POINTER, I32, I32])
    )
    threads = ir.Constant(I32, emitter.module.options.num_threads)
    builder.call(fork, [worker, closure, threads, ir.Constant(I32, 0)])
    builder.branch(end)

    builder.position_at_end(check)
    builder.cbranch(builder.icmp_signed("==", total, constant(1)), alone, end)
    builder.position_at_end(alone)
    builder.call(chunk, [constant(0), constant(1), *capture.values])
    builder.branch(end)
    builder.position_at_end(end)


def _field(
    builder: ir.IRBuilder, closure: ir.Value, kind: ir.LiteralStructType, position: int
) -> ir.Value:
    indices = [ir.Constant(I32, 0), ir.Constant(I32, position)]
    opaque = builder.bitcast(closure, POINTER)
    return builder.gep(opaque, indices, inbounds=True, source_etype=kind)


@dataclass
class _Capture:
    """Captured values of a parallel region, each once, without constants.

    `values` are the LLVM values; `scalars` and `buffers` are what they stand for in the loop IR.
    """

    values: list[ir.Value]
    scalars: list[SSAValue]
    buffers: list[SSAValue]

    @classmethod
    def of(
        cls, emitter: FunctionEmitter, op: affine.ParallelOp, ranges: Sequence[Range]
    ) -> _Capture:
        defined = _defined(op)
        outside = [value for value in _used(op) if value not in defined]
        scalars = [value for value in outside if value in emitter.values]
        buffers = [value for value in outside if value in emitter.buffers]
        candidates = [emitter.values[value] for value in scalars]
        for value in buffers:
            candidates += [emitter.buffers[value].pointer, *emitter.buffers[value].sizes]
        for one in ranges:
            candidates += [one.lower, one.upper, one.count]
        unique = {id(value): value for value in candidates}
        values = [value for value in unique.values() if not isinstance(value, ir.Constant)]
        return cls(values, scalars, buffers)

    def inside(self, arguments: Sequence[ir.Value]) -> Callable[[ir.Value], ir.Value]:
        """What a captured or constant value is in the function with these arguments."""
        pairs = zip(self.values, arguments, strict=True)
        known = {id(value): argument for value, argument in pairs}
        return lambda value: known.get(id(value), value)


def _used(op: Operation) -> list[SSAValue]:
    """Values that operations inside use, in order."""
    inside = operations(op)[1:]
    return list(dict.fromkeys(value for inner in inside for value in inner.operands))


def _defined(op: Operation) -> set[SSAValue]:
    """Values that operations and blocks inside define."""
    defined = set[SSAValue]()
    for inner in operations(op):
        if inner is not op:
            defined.update(inner.results)
        for region in inner.regions:
            for block in region.blocks:
                defined.update(block.args)
    return defined


def _emit_chunk(
    emitter: FunctionEmitter,
    op: affine.ParallelOp,
    ranges: Sequence[Range],
    capture: _Capture,
) -> ir.Function:
    """The function that runs iterations begin to end: begin, end and captured values.

    The pointers are arguments, and not loaded by it from the closure, to be `noalias` where those
    of the function around are.
    """
    types = [I64, I64, *(value.type for value in capture.values)]
    function = emitter.module.define(
        f"{emitter.function.name}.parallel", ir.FunctionType(VOID, types), public=False
    )
    function.attributes.add("noinline")
    begin, end, *arguments = function.args
    if emitter.noalias:
        for argument in arguments:
            if argument.type == POINTER:
                argument.add_attribute("noalias")
    inside = capture.inside(arguments)
    inner = FunctionEmitter(emitter.module, function, noalias=emitter.noalias)
    inner.in_parallel = True
    for value in capture.scalars:
        inner.values[value] = inside(emitter.values[value])
    for value in capture.buffers:
        outer = emitter.buffers[value]
        sizes = tuple(inside(size) for size in outer.sizes)
        inner.buffers[value] = Buffer(inside(outer.pointer), sizes, outer.element)
    moved = [
        Range(inside(one.lower), inside(one.upper), one.step, inside(one.count)) for one in ranges
    ]
    _emit_part(inner, op, moved, begin, end)
    inner.finish()
    inner.builder.ret_void()
    return function


def _emit_part(
    emitter: FunctionEmitter,
    op: affine.ParallelOp,
    ranges: Sequence[Range],
    begin: ir.Value,
    end: ir.Value,
) -> None:
    """The iterations from `begin` to before `end` of the range of all dimensions together.

    An outer loop visits the slices that the part touches, and the loop inside it what the part has
    of its slice, so that nothing is divided in the innermost loop.
    """
    block = op.body.block
    # How many iterations one step of each dimension stands for.
    slices: list[ir.Value] = [constant(1)]
    for inner in reversed(ranges[1:]):
        slices.insert(0, integers.multiply(emitter, slices[0], inner.count))

    def nest(dimension: int, begin: ir.Value, end: ir.Value) -> None:
        if dimension == len(ranges):
            emitter.emit_block(block)
            return
        whole, size = ranges[dimension], slices[dimension]
        innermost = dimension == len(ranges) - 1

        def body(index: ir.Value, _: list[ir.Value]) -> list[ir.Value]:
            offset = integers.multiply(emitter, index, constant(whole.step))
            emitter.values[block.args[dimension]] = integers.add(emitter, whole.lower, offset)
            if innermost:
                nest(dimension + 1, begin, end)
                return []
            start = integers.multiply(emitter, index, size)
            rest = integers.minimum(emitter, integers.subtract(emitter, end, start), size)
            skipped = integers.subtract(emitter, begin, start)
            nest(dimension + 1, integers.maximum(emitter, skipped, constant(0)), rest)
            return []

        if innermost:
            vectors = emitter.module.vector_hints.get(block.args[dimension])
            emit_loop(emitter, begin, end, constant(1), [], body, vectors=vectors)
            return
        builder = emitter.builder
        first = builder.udiv(begin, size)
        last = builder.udiv(integers.subtract(emitter, end, constant(1)), size)
        emit_loop(emitter, first, integers.add(emitter, last, constant(1)), constant(1), [], body)

    nest(0, begin, end)


def _emit_worker(
    emitter: FunctionEmitter,
    chunk: ir.Function,
    closure_type: ir.LiteralStructType,
    *,
    dynamic: bool,
) -> ir.Function:
    """The function that every thread runs: it takes the closure and calls `chunk`."""
    module = emitter.module
    function = module.define(
        f"{emitter.function.name}.worker", ir.FunctionType(VOID, [POINTER]), public=False
    )
    worker = FunctionEmitter(module, function)
    builder = worker.builder
    (closure,) = function.args
    counter, *fields = (
        _field(builder, closure, closure_type, position)
        for position in range(len(closure_type.elements))
    )
    total, *captured = (
        builder.load(field, typ=kind)
        for field, kind in zip(fields, closure_type.elements[1:], strict=True)
    )
    threads = _ask(worker, "omp_get_num_threads")

    def run(begin: ir.Value, end: ir.Value, following: ir.Block) -> None:
        """Runs a part that may be empty, and goes on with the block `following`, or ends."""
        start, finished = worker.block("part"), worker.block("finished")
        builder.cbranch(builder.icmp_signed("<", begin, end), start, finished)
        builder.position_at_end(start)
        builder.call(chunk, [begin, end, *captured])
        builder.branch(following)
        builder.position_at_end(finished)

    if dynamic:
        chunks = integers.multiply(worker, threads, constant(CHUNKS_PER_THREAD))
        size = integers.maximum(worker, builder.udiv(total, chunks), constant(1))
        take = worker.block("take")
        builder.branch(take)
        builder.position_at_end(take)
        begin = builder.atomic_rmw("add", counter, size, "monotonic")
        end = integers.minimum(worker, integers.add(worker, begin, size), total)
        run(begin, end, take)
    else:
        thread = _ask(worker, "omp_get_thread_num")
        size, larger = builder.udiv(total, threads), builder.urem(total, threads)
        begin = integers.multiply(worker, thread, size)
        begin = integers.add(worker, begin, integers.minimum(worker, thread, larger))
        extra = builder.zext(builder.icmp_signed("<", thread, larger), I64)
        end = integers.add(worker, integers.add(worker, begin, size), extra)
        done = worker.block("done")
        run(begin, end, done)
        builder.branch(done)
        builder.position_at_end(done)
    worker.finish()
    builder.ret_void()
    return function


def _ask(emitter: FunctionEmitter, name: str) -> ir.Value:
    """Calls a function of the OpenMP runtime that returns an int."""
    function = emitter.module.declare(name, ir.FunctionType(I32, []))
    return emitter.builder.sext(emitter.builder.call(function, []), I64)
