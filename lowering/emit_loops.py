"""Nest -> loop IR: plain, parallel, unrolled and vector loops."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Literal

from xdsl.dialects import arith
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from ..dialects import affine
from ..passes.schedule_tree import Loop
from .emit_statements import Lanes, StatementEmitter
from .index_expression import Comparison, Connective, Index, decide, substitute_condition
from .ir_builder import IRBuilder
from .loop_bounds import bounds, tightest, value_of
from .nest import Block as Parts
from .nest import (
    Call,
    For,
    Guard,
    Nest,
    Once,
    TileSplit,
    control_indices,
    is_uneven,
    omitted_loops,
    walk,
)
from .parallel_loops import parallel_loop
from .storage import Storage

Environment = Mapping[int, Index]

# More copies than this of a loop body help nobody and make the code generator crawl. Nested
# unrolled loops share them.
MAXIMAL_COPIES = 128

# How far a loop is unrolled that is too long to be unrolled fully.
USUAL_FACTOR = 8

# A loop of so many vectors may begin with one that aligns the others.
LONG = 8

# So many vectors of a loop are written out when they can only be made at known places.
SHORT = 8


class LoopEmitter:
    """Emits a nest. Unrolled variables are replaced through an environment, not by rewriting.

    Vector loops become vectors, or, where `simd` says which of them have independent iterations,
    plain loops of which the innermost of these have the attribute `omp.simd`.
    """

    def __init__(
        self,
        builder: IRBuilder,
        statements: StatementEmitter,
        storage: Storage,
        simd: Sequence[Loop] | None = None,
    ):
        self.builder = builder
        self.statements = statements
        self.storage = storage
        self.simd = simd
        self.is_parallel = False
        self.is_partial_tile = False
        self.copies = 1

    @property
    def _room(self) -> int:
        """How many more copies of the code that comes now can be made."""
        return max(1, MAXIMAL_COPIES // self.copies)

    @contextmanager
    def _copied(self, factor: int) -> Generator[None]:
        """What is emitted inside is there `factor` times."""
        outer = self.copies
        self.copies *= max(1, factor)
        yield
        self.copies = outer

    def emit(self, nest: Nest, environment: Environment, lanes: Lanes | None = None) -> None:
        """Appends the loops of `nest`, in which variables stand for what `environment` says."""
        match nest:
            case Call():
                self.statements.emit(nest.substitute(environment), lanes)
            case Parts(parts):
                for part in parts:
                    self.emit(part, environment, lanes)
            case Guard(condition, then, otherwise):
                self.builder.branch(
                    substitute_condition(condition, environment),
                    partial(self.emit, then, environment, lanes),
                    None
                    if otherwise == Parts(())
                    else partial(self.emit, otherwise, environment, lanes),
                )
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

    def _tile(
        self, nest: Nest, environment: Environment, lanes: Lanes | None, *, is_partial: bool
    ) -> None:
        """Unrolling is for tiles of known shape: elsewhere it would only make the code long."""
        outer, self.is_partial_tile = self.is_partial_tile, is_partial
        self.emit(nest, environment, lanes)
        self.is_partial_tile = outer

    def _for(self, nest: For, environment: Environment, lanes: Lanes | None) -> None:
        loop = nest.loop
        if loop.parallel and not self.is_parallel and lanes is None:
            self._parallel(nest, environment)
            return
        lower, upper = bounds(self.builder, nest, environment)
        if loop.vector is not None and self.simd is not None:
            body = partial(self._body, nest, environment, None)
            self._mark_simd(loop, self._plain(nest, lower, upper, nest.step, body))
        elif loop.vector is not None and lanes is None and self._vector(nest, environment):
            return
        elif loop.unroll is not None and not self.is_partial_tile:
            self._unrolled(nest, lower, upper, environment, lanes)
        else:
            self._plain(
                nest, lower, upper, nest.step, partial(self._body, nest, environment, lanes)
            )

    def _mark_simd(self, loop: Loop, operation: Operation) -> None:
        """Says that iterations may run in vectors, where they are independent and innermost."""
        if self.simd is None or not any(loop is other for other in self.simd):
            return
        kinds = (affine.ForOp, affine.ParallelOp)
        if not any(isinstance(op, kinds) for op in operation.walk() if op is not operation):
            operation.attributes["omp.simd"] = IntegerAttr(loop.vector or 1, i64)

    def _body(
        self, nest: For, environment: Environment, lanes: Lanes | None, iteration: Index
    ) -> None:
        value = value_of(self.builder, nest, iteration)
        with (
            self.storage.inside([(nest.loop, value)]),
            self.storage.allocated(self.builder, nest.loop, nest.body),
        ):
            self.emit(nest.body, {**environment, nest.variable: value}, lanes)

    def _plain(
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
        self.builder.filled(block, partial(body, value), affine.YieldOp.get)
        return self.builder.emit(
            affine.ForOp.from_region(
                lower_operands, upper_operands, [], [], lower_map, upper_map, Region(block), step
            )
        )

    def _unrolled(
        self,
        nest: For,
        lower: tuple[Index, ...],
        upper: tuple[Index, ...],
        environment: Environment,
        lanes: Lanes | None,
    ) -> None:
        body = partial(self._body, nest, environment, lanes)
        if len(lower) != 1 or len(upper) != 1:
            # The end of the unrolled part is no affine function of such bounds.
            self._plain(nest, lower, upper, nest.step, body)
            return
        first, limit = lower[0], upper[0]
        extent = limit - first
        if extent.is_constant:
            count = max(0, -(-extent.constant // nest.step))
            factor = nest.loop.unroll or count
            if factor >= count and count <= self._room:
                with self._copied(count):
                    for iteration in range(count):
                        body(first + iteration * nest.step)
                return
        elif not nest.loop.unroll:
            self._plain(nest, lower, upper, nest.step, body)
            return
        factor = min(nest.loop.unroll or USUAL_FACTOR, self._room)
        iterations = (extent + (nest.step - 1)) // nest.step
        middle = first + (iterations // factor) * (factor * nest.step)

        def copies(value: Index) -> None:
            with self._copied(factor):
                for iteration in range(factor):
                    body(value + iteration * nest.step)

        self._plain(nest, (first,), (middle,), factor * nest.step, copies)
        # An empty loop may end far before it begins, and `middle` then lies before `first`.
        self._plain(nest, (first, middle), (limit,), nest.step, body)

    def _can_be_vector(self, nest: For, environment: Environment, base: Index) -> bool:
        """Whether a vector from `base` on runs in lockstep: same control flow, linear accesses."""
        # Where isl has left a loop out, lanes must not be in different iterations of it either.
        omitted = omitted_loops(nest.body, nest.loop.body)
        values = (self.statements.loop_value(loop, call) for loop, call in omitted)
        if any(index.depends_on(nest.variable) for index in (*control_indices(nest.body), *values)):
            return False
        lanes, values = self._in_lanes(nest, base, None, environment)
        return all(
            self.statements.can_use_lanes(node.substitute(values), lanes)
            for node in walk(nest.body)
            if isinstance(node, Call)
        )

    def _vector(self, nest: For, environment: Environment) -> bool:
        """The loop in vectors; False, and nothing emitted, where that is not possible.

        Where it is so only for vectors at known places, as in an array packed in panels, a short
        loop is written out vector by vector.
        """
        lower = tuple(index.substitute(environment) for index in nest.lower)
        upper = tuple(index.substitute(environment) for index in nest.upper)
        if self._can_be_vector(nest, environment, Index.variable(self.builder.new_variable())):
            self._anywhere(nest, lower, upper, environment)
            return True
        starts = self._starts(nest, lower, upper)
        if not all(self._can_be_vector(nest, environment, start) for start in starts):
            return False
        for start in starts:
            self._in_range(nest, start, lower, upper, environment)
        return bool(starts)

    def _starts(self, nest: For, lower: tuple[Index, ...], upper: tuple[Index, ...]) -> list[Index]:
        """Where the vectors of a short loop, or of the tile around it, begin."""
        assert nest.loop.vector is not None
        stride = nest.loop.vector * nest.step
        if len(lower) == len(upper) == 1 and (upper[0] - lower[0]).is_constant:
            first, extent = lower[0], (upper[0] - lower[0]).constant
        elif (
            nest.step == 1 and (tile := nest.loop.within) and tile.tile in self.storage.loop_values
        ):
            extent = tile.size
            first = self.storage.loop_values[tile.tile] * extent
        else:
            return []
        count = max(0, -(-extent // stride))
        return [first + k * stride for k in range(count)] if count <= SHORT else []

    def _in_range(
        self,
        nest: For,
        base: Index,
        lower: tuple[Index, ...],
        upper: tuple[Index, ...],
        environment: Environment,
    ) -> None:
        """The vector at `base`, in those lanes that are iterations of the loop."""
        assert nest.loop.vector is not None
        reach = (nest.loop.vector - 1) * nest.step + 1
        before = [Comparison(">=", base - limit) for limit in lower]
        behind = [Comparison(">=", limit - base - reach) for limit in upper]
        if decide(Connective("all", (*before, *behind))):
            self._lanes(nest, base, None, environment)
            return
        overlaps = (
            *(Comparison(">=", limit - base - 1) for limit in upper),
            *(Comparison(">=", base + reach - 1 - limit) for limit in lower),
            *(Comparison(">=", high - low - 1) for high in upper for low in lower),
        )

        def masked() -> None:
            mask = self._mask(nest, [limit - base for limit in upper], "min")
            if not decide(Connective("all", tuple(before))):
                skipped = self._mask(nest, [limit - base for limit in lower], "max")
                mask = self.builder.emit(
                    arith.XOrIOp(mask, self.builder.emit(arith.AndIOp(mask, skipped)).result)
                ).result
            self._lanes(nest, base, mask, environment)

        open_questions = tuple(dict.fromkeys(c for c in overlaps if not decide(c)))
        if open_questions:
            self.builder.branch(Connective("all", open_questions), masked, None)
        else:
            masked()

    def _anywhere(
        self,
        nest: For,
        lower: tuple[Index, ...],
        upper: tuple[Index, ...],
        environment: Environment,
    ) -> None:
        """Full vectors and a masked rest; before them one whose end is aligned where that is known.

        Stores of whole cache lines then follow.
        """
        width = nest.loop.vector
        assert width is not None
        stride = width * nest.step
        first, limit = tightest(self.builder, "max", lower), tightest(self.builder, "min", upper)
        excess = self._misalignment(nest, first, limit, environment)
        if excess:
            self._in_range(nest, first - excess, (first,), (limit,), environment)
            first = first + (width - excess)
        iterations = (limit - first + (nest.step - 1)) // nest.step

        def whole(base: Index) -> None:
            self._lanes(nest, base, None, environment)

        if iterations.is_constant:
            vectors, rest = divmod(max(0, iterations.constant), width)
            unroll = None if self.is_partial_tile else nest.loop.unroll
            copies = vectors if unroll == 0 else min(unroll or 1, vectors)
            if vectors and copies == vectors and vectors <= self._room:
                with self._copied(vectors):
                    for position in range(vectors):
                        whole(first + position * stride)
            else:
                self._vector_loop(nest, first, Index(vectors), stride, whole)
            if rest:
                self._masked(nest, (limit,), environment, first + vectors * stride)
            return
        vectors = iterations // width
        self._vector_loop(nest, first, vectors, stride, whole)
        rest = iterations - vectors * width
        self.builder.branch(
            Connective("all", (Comparison(">=", iterations - 1), Comparison(">=", rest - 1))),
            partial(self._masked, nest, (limit,), environment, first + vectors * stride),
            None,
        )

    def _misalignment(self, nest: For, first: Index, limit: Index, environment: Environment) -> int:
        """How many elements the first stores of a long loop are behind a multiple of a vector.

        0 where that differs between stores, or between executions of the loop.
        """
        width = nest.loop.vector
        assert width is not None
        extent = limit - first
        long = extent.is_constant and extent.constant >= LONG * width
        if not long or nest.step != 1 or nest.loop.unroll is not None or self.is_partial_tile:
            return 0
        values = {**environment, nest.variable: first}
        calls = [node for node in walk(nest.body) if isinstance(node, Call)]
        return self.statements.misalignment([call.substitute(values) for call in calls], width)

    def _vector_loop(
        self,
        nest: For,
        first: Index,
        vectors: Index,
        stride: int,
        whole: Callable[[Index], None],
    ) -> None:
        """Full vectors, `unroll` of them per iteration."""
        copies = 1 if self.is_partial_tile else min(nest.loop.unroll or 1, self._room)
        end = first + vectors * stride
        if copies > 1:
            middle = first + (vectors // copies) * (copies * stride)

            def several(base: Index) -> None:
                with self._copied(copies):
                    for position in range(copies):
                        whole(base + position * stride)

            self._plain(nest, (first,), (middle,), copies * stride, several)
            self._plain(nest, (first, middle), (end,), stride, whole)
        else:
            self._plain(nest, (first,), (end,), stride, whole)

    def _masked(
        self, nest: For, upper: tuple[Index, ...], environment: Environment, base: Index
    ) -> None:
        """The vector that starts at `base`, in the lanes below `upper`."""
        counts = [(limit - base + (nest.step - 1)) // nest.step for limit in upper]
        self._lanes(nest, base, self._mask(nest, counts, "min"), environment)

    def _mask(self, nest: For, counts: list[Index], kind: Literal["min", "max"]) -> SSAValue:
        """The first lanes, as many as the least (largest) of the counts says."""
        assert nest.loop.vector is not None
        return self.builder.emit(
            xdsl_vector.CreateMaskOp(
                [self.builder.extremum(kind, counts)], VectorType(i1, [nest.loop.vector])
            )
        ).mask_vector

    def _lanes(
        self, nest: For, base: Index, mask: SSAValue | None, environment: Environment
    ) -> None:
        lanes, values = self._in_lanes(nest, base, mask, environment)
        self.emit(nest.body, values, lanes)

    def _in_lanes(
        self, nest: For, base: Index, mask: SSAValue | None, environment: Environment
    ) -> tuple[Lanes, Environment]:
        """Lanes from `base` on, and the environment in which the loop variable is the lane's."""
        assert nest.loop.vector is not None
        lane = self.builder.new_variable()
        value = base + Index.variable(lane) * nest.step
        return Lanes(lane, nest.loop.vector, mask), {**environment, nest.variable: value}

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
        if width is not None and not self._can_be_vector(innermost, environment, anywhere):
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
            with self.storage.inside((n.loop, values[n.variable]) for n in nests[:-1]):
                if width is None:
                    self._body(innermost, values, None, iterations[-1])
                else:
                    self._one_vector(innermost, iterations[-1], upper[-1], values)

        self.is_parallel = True
        self.builder.filled(block, body, affine.YieldOp.get)
        self.is_parallel = False
        schedule = "dynamic" if is_uneven(nests) else "static"
        operation = parallel_loop(self.builder, lower, upper, steps, schedule, block)
        self._mark_simd(innermost.loop, operation)

    def _one_vector(
        self, nest: For, base: Index, upper: tuple[Index, ...], environment: Environment
    ) -> None:
        """The iterations of one vector from `base` on, masked when they are fewer than a vector."""
        width = nest.loop.vector
        assert width is not None
        is_whole = Connective(
            "all",
            tuple(
                Comparison(">=", limit - base - ((width - 1) * nest.step + 1)) for limit in upper
            ),
        )
        self.builder.branch(
            is_whole,
            partial(self._lanes, nest, base, None, environment),
            partial(self._masked, nest, upper, environment, base),
        )
