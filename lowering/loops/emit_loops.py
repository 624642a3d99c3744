"""Nest -> loop IR: plain, parallel, unrolled and vector loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Block, Operation, Region

from ...dialects import affine
from ...passes.machine.target import Target
from ...passes.polyhedral.schedule_tree import Loop
from ..nest.index_bounds import Range
from ..nest.index_expression import Index, decide, substitute_condition
from ..nest.nest import Block as Parts
from ..nest.nest import Call, For, Guard, Nest, Once, TileSplit, is_uneven
from ..nest.unrolled_copies import unrolled_copies
from .emit_statements import StatementEmitter
from .emit_vector_loops import Environment, VectorLoopEmitter
from .ir_builder import IRBuilder
from .lane_places import Lanes
from .loop_bounds import bounds, last_values, loop_value, tightest, value_of
from .parallel_loops import parallel_loop
from .predication import (
    DivergentLoop,
    any_lane,
    apart,
    branch_of_lanes,
    differs,
    diverges,
    moving_arguments,
)
from .storage import Storage

# LLVM does not unroll loops that the code has so many copies of: of 700 KB of LLVM IR it would make
# twenty times as much code, in a minute.
MANY_COPIES = 16

# How far a loop is unrolled that is too long to be unrolled fully.
USUAL_FACTOR = 8


class LoopEmitter(VectorLoopEmitter):
    """Emits a nest. Unrolled variables are replaced through an environment, not by rewriting.

    Vector loops become vectors, or, where `simd` says which of them have independent iterations,
    plain loops of which the innermost of these have the attribute `omp.simd`: `independent`.
    """

    def __init__(
        self,
        builder: IRBuilder,
        statements: StatementEmitter,
        storage: Storage,
        target: Target,
        simd: Sequence[Loop] | None = None,
    ):
        super().__init__(builder, statements, storage, target)
        self.simd = simd
        self.independent: list[For] = []
        self.is_parallel = False

    def emit(self, nest: Nest, environment: Environment, lanes: Lanes | None = None) -> None:
        """Appends the loops of `nest`, in which variables stand for what `environment` says."""
        match nest:
            case Call():
                moving = moving_arguments(nest, lanes)
                self.statements.emit(nest.substitute(environment), lanes, moving)
            case Parts(parts):
                for part in parts:
                    self.emit(part, environment, lanes)
            case Guard():
                self._guard(nest, environment, lanes)
            case TileSplit(condition, _, rest) if decide(condition) is False:
                self._tile(rest, environment, lanes, is_partial=True)
            case TileSplit(condition, full, rest):
                self.builder.branch(
                    substitute_condition(condition, environment),
                    partial(self._tile, full, environment, lanes, is_partial=False),
                    None
                    if rest == Parts(())
                    else partial(self._tile, rest, environment, lanes, is_partial=True),
                )
            case Once(loop, value, body):
                with (
                    self.storage.inside([(loop, value.substitute(environment))]),
                    self.storage.allocated(self.builder, loop, body),
                ):
                    self.emit(body, environment, lanes)
            case For():
                self._for(nest, environment, lanes)

    def _guard(self, nest: Guard, environment: Environment, lanes: Lanes | None) -> None:
        asked = substitute_condition(nest.condition, environment)
        if lanes is not None:
            if diverges(replace(nest, condition=asked), lanes):
                asked, lanes = branch_of_lanes(self.builder, asked, lanes, self.ranges)
            lanes = apart(lanes)
        otherwise = partial(self.emit, nest.otherwise, environment, lanes)
        self.branch(
            asked,
            partial(self.emit, nest.then, environment, lanes),
            None if nest.otherwise == Parts(()) else otherwise,
        )

    def _tile(
        self, nest: Nest, environment: Environment, lanes: Lanes | None, *, is_partial: bool
    ) -> None:
        """Unrolling is for tiles of known shape: elsewhere it would only make the code long."""
        outer, self.is_partial_tile = self.is_partial_tile, is_partial
        self.emit(nest, environment, lanes and apart(lanes))
        self.is_partial_tile = outer

    def _for(self, nest: For, environment: Environment, lanes: Lanes | None) -> None:
        loop = nest.loop
        if loop.parallel and not self.is_parallel and lanes is None:
            self._parallel(nest, environment)
            return
        lower, upper = bounds(self.builder, nest, environment)
        inside = lanes if lanes is None or nest.trip_count else apart(lanes)
        body = partial(self._body, nest, environment, inside)
        if lanes is not None and differs((*lower, *upper), lanes):
            self._divergent(DivergentLoop(self.builder, nest, lower, upper, lanes), environment)
        elif loop.vector is not None and self.simd is not None:
            self._mark_simd(nest, self.plain_loop(nest, lower, upper, nest.step, body))
        elif loop.vector is not None and lanes is None and self.vector_loop(nest, environment):
            return
        else:
            self._sequential(nest, lower, upper, body)

    def _sequential(
        self,
        nest: For,
        lower: tuple[Index, ...],
        upper: tuple[Index, ...],
        body: Callable[[Index], None],
    ) -> None:
        if nest.loop.unroll is not None and not self.is_partial_tile:
            self._unrolled(nest, lower, upper, body)
        else:
            self.plain_loop(nest, lower, upper, nest.step, body)

    def _divergent(self, loop: DivergentLoop, environment: Environment) -> None:
        """A long loop has iterations of all lanes in the middle, which need no masks."""
        lower, upper = loop.bounds(self.ranges)
        entered = loop.entered(self.ranges)
        masked = partial(self._predicated, loop, entered, environment)
        if not loop.is_long(lower, upper):
            self._sequential(loop.nest, lower, upper, masked)
            return
        begin, end = loop.common_bounds()
        if loop.lower != begin:
            begin = (tightest(self.builder, "max", begin),)
            self._sequential(loop.nest, lower, (*upper, *begin), masked)
        if loop.upper != end:
            end = (tightest(self.builder, "min", end),)
        common = partial(self._body, loop.nest, environment, apart(loop.lanes))
        self._sequential(loop.nest, begin, end, common)
        if loop.upper != end:
            self._sequential(loop.nest, (*begin, *end), upper, masked)

    def _predicated(
        self, loop: DivergentLoop, entered: Lanes, environment: Environment, iteration: Index
    ) -> None:
        """An iteration in the lanes that have it, if there are any."""
        active = loop.active(iteration, entered, self.ranges)
        self.branch(
            any_lane(active), partial(self._body, loop.nest, environment, active, iteration), None
        )

    def _mark_simd(self, nest: For, operation: Operation) -> None:
        """Says that iterations may run in vectors, where they are independent and innermost."""
        loop = nest.loop
        if self.simd is None or not any(loop is other for other in self.simd):
            return
        kinds = (affine.ForOp, affine.ParallelOp)
        if not any(isinstance(op, kinds) for op in operation.walk() if op is not operation):
            operation.attributes["omp.simd"] = IntegerAttr(loop.vector or 1, i64)
            self.independent.append(nest)

    def _body(
        self, nest: For, environment: Environment, lanes: Lanes | None, iteration: Index
    ) -> None:
        inside = {**environment, nest.variable: value_of(self.builder, nest, iteration)}
        with (
            self.storage.inside([(nest.loop, loop_value(nest, inside))]),
            self.storage.allocated(self.builder, nest.loop, nest.body),
        ):
            self.emit(nest.body, inside, lanes)

    def plain_loop(
        self,
        nest: For,
        lower: tuple[Index, ...],
        upper: tuple[Index, ...],
        step: int,
        body: Callable[[Index], None],
    ) -> affine.ForOp:
        lower_map, lower_operands = self.builder.map(lower)
        upper_map, upper_operands = self.builder.map(upper)
        block = Block(arg_types=[IndexType()])
        block.args[0].name_hint = nest.loop.name
        value = self.builder.named(block.args[0])
        (variable,) = value.variables()
        outer = self.ranges
        self.ranges = [Range(variable, [*lower], last_values(lower, upper, step)), *outer]
        self.builder.filled(block, partial(body, value), affine.YieldOp.get)
        self.ranges = outer
        operation = affine.ForOp.from_region(
            lower_operands, upper_operands, [], [], lower_map, upper_map, Region(block), step
        )
        if self.copies >= MANY_COPIES and not self._has_room(lower, upper, step):
            operation.attributes["llvm.unroll"] = IntegerAttr(1, i64)
        return self.builder.emit(operation)

    def _has_room(self, lower: tuple[Index, ...], upper: tuple[Index, ...], step: int) -> bool:
        """Whether there is room for copies of all iterations of a loop."""
        extents = [end - begin for begin in lower for end in upper]
        return all(e.is_constant and e.constant <= self.room * step for e in extents)

    def _unrolled(
        self,
        nest: For,
        lower: tuple[Index, ...],
        upper: tuple[Index, ...],
        body: Callable[[Index], None],
    ) -> None:
        if len(lower) != 1 or len(upper) != 1:
            # The end of the unrolled part is no affine function of such bounds.
            self.plain_loop(nest, lower, upper, nest.step, body)
            return
        # What is unrolled inside comes first: a register tile stays whole.
        room = max(1, self.room // unrolled_copies(nest.body))
        first, limit = lower[0], upper[0]
        extent = limit - first
        if extent.is_constant:
            count = max(0, -(-extent.constant // nest.step))
            factor = nest.loop.unroll or count
            if factor >= count and count <= room:
                with self.copied(count):
                    for iteration in range(count):
                        body(first + iteration * nest.step)
                return
        elif not nest.loop.unroll:
            room = 1
        factor = min(nest.loop.unroll or USUAL_FACTOR, room)
        if factor == 1:
            self.plain_loop(nest, lower, upper, nest.step, body)
            return
        iterations = (extent + (nest.step - 1)) // nest.step
        middle = first + (iterations // factor) * (factor * nest.step)

        def copies(value: Index) -> None:
            with self.copied(factor):
                for iteration in range(factor):
                    body(value + iteration * nest.step)

        self.plain_loop(nest, (first,), (middle,), factor * nest.step, copies)
        # An empty loop may end far before it begins, and `middle` then lies before `first`.
        self.plain_loop(nest, (first, middle), (limit,), nest.step, body)

    def _parallel(self, nest: For, environment: Environment) -> None:
        """One affine.parallel for this loop and the parallel loops directly inside it."""
        nests = [nest]
        while isinstance(inner := nests[-1].body, For) and inner.loop.parallel:
            control = (*inner.lower, *inner.upper)
            if any(index.depends_on(n.variable) for index in control for n in nests):
                break
            if self.storage.is_allocated_in(nests[-1].loop):
                break
            nests.append(inner)
        ranges = [bounds(self.builder, n, environment) for n in nests]
        lower, upper = [lower for lower, _ in ranges], [upper for _, upper in ranges]
        innermost = nests[-1]
        width = innermost.loop.vector if self.simd is None else None
        anywhere = Index.variable(self.builder.new_variable())
        if width is not None and not self.can_be_vector(innermost, environment, anywhere):
            width = None
        steps = [n.step for n in nests]
        steps[-1] *= width or 1
        block = Block(arg_types=[IndexType()] * len(nests))
        iterations: list[Index] = []
        for argument, n in zip(block.args, nests, strict=True):
            argument.name_hint = n.loop.name
            iterations.append(self.builder.named(argument))

        def body() -> None:
            values = dict(environment)
            for n, iteration in zip(nests[:-1], iterations[:-1], strict=True):
                values[n.variable] = value_of(self.builder, n, iteration)
            with self.storage.inside((n.loop, loop_value(n, values)) for n in nests[:-1]):
                if width is None:
                    self._body(innermost, values, None, iterations[-1])
                else:
                    self.one_vector(innermost, iterations[-1], upper[-1], values)

        self.is_parallel = True
        self.builder.filled(block, body, affine.YieldOp.get)
        self.is_parallel = False
        schedule = "dynamic" if is_uneven(nests) else "static"
        operation = parallel_loop(self.builder, lower, upper, steps, schedule, block)
        self._mark_simd(innermost, operation)
