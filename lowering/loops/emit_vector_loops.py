"""Vector loops: full vectors, with masked prologue and epilogue."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial

from ...dialects import affine
from ...passes.estimate.loops_around import has_masks
from ...passes.estimate.program_statistics import bytes_of
from ...passes.machine.target import Target
from ..nest.index_bounds import Range, decided
from ..nest.index_expression import Comparison, Condition, Connective, Index, choice, decide
from ..nest.nest import (
    Call,
    For,
    Nest,
    Once,
    control_indices,
    omitted_loops,
    split_loops,
    substitute,
    walk,
)
from .alignment import RowAccess, elements_before
from .emit_statements import StatementEmitter
from .ir_builder import IRBuilder
from .lane_places import Lanes
from .loop_bounds import tightest
from .predication import diverges, in_lanes, is_maskable, without_divergence
from .storage import Storage
from .updated_places import updated_places

Environment = Mapping[int, Index]

# More copies than this of a loop body help nobody and make the code generator crawl. Nested
# unrolled loops share them.
MAXIMAL_COPIES = 128

# A loop of so many vectors begins with one that aligns the others.
LONG = 12

# The fewest bytes of elements that masks are for where byte masks are an extension.
SHORTEST_MASKED = 4

# So many vectors of a loop are unrolled when they can only be made at known places.
SHORT = 8


class VectorLoopEmitter(ABC):
    """Emits vector loops; a subclass emits their bodies and scalar loops.

    `vectors` are those that have become vectors: not all that are marked can. They are aligned
    to the cache lines of `target`.
    """

    def __init__(
        self, builder: IRBuilder, statements: StatementEmitter, storage: Storage, target: Target
    ):
        self.target = target
        self.builder = builder
        self.statements = statements
        self.storage = storage
        self.is_partial_tile = False
        self.copies = 1
        self.vectors: list[For] = []
        self.ranges: list[Range] = []

    @abstractmethod
    def emit(self, nest: Nest, environment: Environment, lanes: Lanes | None = None) -> None:
        """Appends the loops of `nest`, in which variables stand for what `environment` says."""

    def branch(
        self,
        condition: Condition,
        then: Callable[[], None],
        otherwise: Callable[[], None] | None,
    ) -> None:
        """Appends what is run where a condition holds, and else, as far as that isn't known."""
        known = decided(condition, self.ranges)
        asked = condition if known is None else Connective("all" if known else "any", ())
        self.builder.branch(asked, then, otherwise)

    @abstractmethod
    def plain_loop(
        self,
        nest: For,
        lower: tuple[Index, ...],
        upper: tuple[Index, ...],
        step: int,
        body: Callable[[Index], None],
    ) -> affine.ForOp:
        """Appends a loop with this body, whose argument is the loop variable."""

    @property
    def room(self) -> int:
        """How many more copies of the code that comes now can be made."""
        return max(1, MAXIMAL_COPIES // self.copies)

    @contextmanager
    def copied(self, factor: int) -> Generator[None]:
        """What is emitted inside is there `factor` times."""
        outer = self.copies
        self.copies *= max(1, factor)
        yield
        self.copies = outer

    def can_be_vector(self, nest: For, environment: Environment, base: Index) -> bool:
        """Whether a vector from `base` on runs in lockstep: same control flow, linear accesses."""
        # Where isl has left a loop out, lanes must not be in different iterations of it either.
        omitted = omitted_loops(nest.body, nest.loop.body)
        values = (self.statements.loop_value(loop, call) for loop, call in omitted)
        if any(index.depends_on(nest.variable) for index in values):
            return False
        lanes, values = self._in_lanes(nest, base, environment)
        if _is_controlled(nest) and not self._can_diverge(substitute(nest.body, values), lanes):
            return False
        return all(
            self.statements.can_use_lanes(node.substitute(values), lanes)
            for node in walk(nest.body)
            if isinstance(node, Call)
        )

    def _can_diverge(self, body: Nest, lanes: Lanes) -> bool:
        """Whether masks say which lanes run what, where the target has them for all accesses.

        A loop in several parts would run through them lane by lane, not iteration by iteration.
        """
        parts = [node for node in walk(body) if diverges(node, lanes)]
        if (parts and split_loops(body)) or not all(is_maskable(node, lanes) for node in parts):
            return False
        inside = [node for part in parts for node in walk(part)]
        if any(isinstance(n, For | Once) and self.storage.is_allocated_in(n.loop) for n in inside):
            return False
        return all(
            has_masks(self.statements.statements[node.statement], self.target)
            for node in inside
            if isinstance(node, Call)
        )

    def vector_loop(self, nest: For, environment: Environment) -> bool:
        """The loop in vectors; False, and nothing emitted, where that is not possible.

        Where it is so only for vectors at known places, as in an array packed in panels, a short
        loop is unrolled vector by vector.
        """
        lower = tuple(index.substitute(environment) for index in nest.lower)
        upper = tuple(index.substitute(environment) for index in nest.upper)
        if self.can_be_vector(nest, environment, Index.variable(self.builder.new_variable())):
            self.vectors.append(nest)
            self._anywhere(nest, lower, upper, environment)
            return True
        starts = self._starts(nest, lower, upper)
        if not starts or not all(self.can_be_vector(nest, environment, s) for s in starts):
            return False
        self.vectors.append(nest)
        for start in starts:
            self._in_range(nest, start, lower, upper, environment)
        return True

    def _starts(self, nest: For, lower: tuple[Index, ...], upper: tuple[Index, ...]) -> list[Index]:
        """Where the vectors of a short loop, or of the tile around it, begin."""
        assert nest.loop.vector is not None
        stride = nest.loop.vector * nest.step
        if len(lower) == len(upper) == 1 and (upper[0] - lower[0]).is_constant:
            first, extent = lower[0], (upper[0] - lower[0]).constant
        elif (
            nest.step == 1
            and nest.value is None
            and (tile := nest.loop.within)
            and tile.tile in self.storage.loop_values
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
            self._lanes(nest, base, environment)
            return
        overlaps = (
            *(Comparison(">=", limit - base - 1) for limit in upper),
            *(Comparison(">=", base + reach - 1 - limit) for limit in lower),
            *(Comparison(">=", high - low - 1) for high in upper for low in lower),
        )

        def masked() -> None:
            self._between(
                nest,
                base,
                () if decide(Connective("all", tuple(before))) else lower,
                upper,
                environment,
            )

        open_questions = tuple(dict.fromkeys(c for c in overlaps if not decide(c)))
        if open_questions:
            self.builder.branch(Connective("all", open_questions), masked, None)
        else:
            masked()

    def _between(
        self,
        nest: For,
        base: Index,
        lower: tuple[Index, ...],
        upper: tuple[Index, ...],
        environment: Environment,
    ) -> None:
        """The vector at `base`, in the lanes from `lower` (if any) to below `upper`."""
        first, end = (
            [(limit - base + (nest.step - 1)) // nest.step for limit in limits]
            for limits in (lower, upper)
        )
        lanes, values = self._in_lanes(nest, base, environment)
        self._vector(nest, values, in_lanes(self.builder, lanes, first, end))

    def _anywhere(
        self,
        nest: For,
        lower: tuple[Index, ...],
        upper: tuple[Index, ...],
        environment: Environment,
    ) -> None:
        """Full vectors and a masked rest; in a long loop, a masked one, then aligned full ones.

        The first is aligned, too: masked accesses across the border of a line are slow.
        """
        width = nest.loop.vector
        assert width is not None
        stride = width * nest.step
        first, limit = tightest(self.builder, "max", lower), tightest(self.builder, "min", upper)
        gap = self._gap(nest, first, limit, environment)
        self.builder.branch(
            Comparison(">=", gap - 1),
            partial(
                self._between, nest, first + gap - width, (first,), (first + gap,), environment
            ),
            None,
        )
        first = first + gap
        iterations = (limit - first + (nest.step - 1)) // nest.step

        def whole(base: Index) -> None:
            self._lanes(nest, base, environment)

        if iterations.is_constant:
            vectors, rest = divmod(max(0, iterations.constant), width)
            sums = updated_places(nest.body, self.statements.statements)
            unroll = None if self.is_partial_tile else nest.loop.unroll
            if nest.loop.unroll is None and self._stay_in_registers(sums * (vectors + (rest > 0))):
                unroll = 0
            copies = vectors if unroll == 0 else min(unroll or 1, vectors)
            is_unrolled = copies == vectors <= self.room
            if vectors and is_unrolled:
                with self.copied(vectors):
                    for position in range(vectors):
                        whole(first + position * stride)
            elif vectors:
                self._full_vectors(nest, first, Index(vectors), stride, whole)
            if rest and sums and not is_unrolled:
                self._shorter(nest, first + vectors * stride, Index(rest), environment)
            elif rest:
                self._rest(nest, first + vectors * stride, Index(rest), limit, environment)
            return
        vectors = iterations // width
        tile = nest.loop.within
        if self._scatters(nest, first, environment):
            # A scalar store per lane is all that a scatter is, and needs no mask.
            start: tuple[Index, ...] = (first,)
            if tile is None or tile.size > width:
                self._full_vectors(nest, first, vectors, stride, whole)
                # Less than no iterations have a negative number of vectors.
                start = (first, first + vectors * stride)
            body = partial(self._scalar, nest, environment)
            self.plain_loop(nest, start, (limit,), nest.step, body)
            return
        self._full_vectors(nest, first, vectors, stride, whole)
        rest = iterations - vectors * width
        self.builder.branch(
            Connective("all", (Comparison(">=", iterations - 1), Comparison(">=", rest - 1))),
            partial(self._rest, nest, first + vectors * stride, rest, limit, environment),
            None,
        )

    def _rest(
        self, nest: For, base: Index, rest: Index, limit: Index, environment: Environment
    ) -> None:
        """The last iterations, fewer than a vector: masked, or in ever shorter vectors."""
        if self._has_masks(nest, base, environment, rest):
            self._between(nest, base, (), (limit,), environment)
        else:
            self._shorter(nest, base, rest, environment)

    def _stay_in_registers(self, vectors: int) -> bool:
        """Whether so many vectors of sums are best unrolled: registers hold them then."""
        return not self.is_partial_tile and 0 < vectors <= self.target.vector_registers // 2

    def _shorter(self, nest: For, base: Index, rest: Index, environment: Environment) -> None:
        """The last iterations in ever shorter vectors: what one has stored is loaded soon.

        What was stored under a mask is not.
        """
        assert nest.loop.vector is not None
        # With powers of two, each vector is needed once at most.
        width = 1 << (nest.loop.vector - 1).bit_length()
        while width > 1:
            width //= 2
            self.builder.branch(
                Comparison(">=", rest - width),
                partial(self._lanes, nest, base, environment, width),
                None,
            )
            base, rest = base + (rest // width) * (width * nest.step), rest % width

    def _has_masks(self, nest: For, base: Index, environment: Environment, rest: Index) -> bool:
        """Whether the rest of a loop is better masked: where the target has masks for its elements.

        Without them, a known number of leading lanes is still accessed as a whole.
        """
        calls, rows = self._rows(nest, base, environment)
        accesses = [
            a for call in calls for a in self.statements.statements[call.statement].accesses
        ]
        sizes = [bytes_of(access.array.element_type) for access in accesses]
        return (rest.is_constant and len(rows) == len(accesses)) or all(
            size >= SHORTEST_MASKED or self.target.has_masked_loads(size) for size in sizes
        )

    def _rows(
        self, nest: For, base: Index, environment: Environment
    ) -> tuple[list[Call], list[RowAccess]]:
        """The calls of a vector at `base`, and their accesses along rows."""
        lanes, values = self._in_lanes(nest, base, environment)
        calls = [node.substitute(values) for node in walk(nest.body) if isinstance(node, Call)]
        return calls, [row for call in calls for row in self.statements.rows(call, lanes)]

    def _gap(self, nest: For, first: Index, limit: Index, environment: Environment) -> Index:
        """How many iterations lie before the first aligned vector; 0 in loops that are left alone.

        These are short ones, those with steps, sums, of which a vector that was stored under a mask
        would be late, and unrolled vectors, as in a register tile; of those with bounds that vary,
        all that have no loops inside; and those with elements that the target accesses one by one
        where a vector is not full, also as they lie apart.
        """
        width = nest.loop.vector
        assert width is not None
        long = LONG * width
        excess = limit - first - long
        if (
            nest.step != 1
            or nest.loop.unroll == 0
            or updated_places(nest.body, self.statements.statements)
            or (nest.loop.within is not None and nest.loop.within.size < long)
            or decide(Comparison(">=", excess)) is False
            or not (excess.is_constant or any(isinstance(node, For) for node in walk(nest.body)))
        ):
            return Index()
        lanes, values = self._in_lanes(nest, first, environment)
        calls = [node.substitute(values) for node in walk(nest.body) if isinstance(node, Call)]
        if any(self.statements.gathers(call, lanes) for call in calls):
            return Index()
        rows = [row for call in calls for row in self.statements.rows(call, lanes)]
        if not all(self.target.has_masked_loads(row.element_bytes) for row in rows):
            return Index()
        shuffles = (nest.loop.unroll or 1) > 1 and not self.is_partial_tile
        gap = elements_before(self.builder, rows, width, self.target.cache_line, shuffles=shuffles)
        found = choice(Comparison(">=", excess), gap, Index())
        return found if found.is_constant else self.builder.named(self.builder.value(found))

    def _full_vectors(
        self,
        nest: For,
        first: Index,
        vectors: Index,
        stride: int,
        whole: Callable[[Index], None],
    ) -> None:
        """Full vectors, `unroll` of them per iteration."""
        copies = 1 if self.is_partial_tile else min(nest.loop.unroll or 1, self.room)
        end = first + vectors * stride
        if copies > 1:
            middle = first + (vectors // copies) * (copies * stride)

            def several(base: Index) -> None:
                with self.copied(copies):
                    for position in range(copies):
                        whole(base + position * stride)

            self.plain_loop(nest, (first,), (middle,), copies * stride, several)
            self.plain_loop(nest, (first, middle), (end,), stride, whole)
        else:
            self.plain_loop(nest, (first,), (end,), stride, whole)

    def _lanes(
        self, nest: For, base: Index, environment: Environment, width: int | None = None
    ) -> None:
        """A vector of iterations, of as many as the loop's vectors have unless told otherwise."""
        if width == 1:
            self._scalar(nest, environment, base)
            return
        lanes, values = self._in_lanes(nest, base, environment, width)
        self._vector(nest, values, lanes)

    def _vector(self, nest: For, values: Environment, lanes: Lanes) -> None:
        """The body of a vector loop, without masks inside where lanes run the same iterations."""
        if not _is_controlled(nest):
            self.emit(nest.body, values, lanes)
            return
        body = substitute(nest.body, values)
        simple, met = without_divergence(body, lanes)
        with self.copied(1 + bool(met)):
            self.branch(
                Connective("all", tuple(met)),
                partial(self.emit, simple, values, lanes),
                partial(self.emit, body, values, lanes),
            )

    def _scalar(self, nest: For, environment: Environment, iteration: Index) -> None:
        self.emit(nest.body, {**environment, nest.variable: iteration})

    def _scatters(self, nest: For, base: Index, environment: Environment) -> bool:
        """Whether nothing that a vector at `base` stores are neighbouring elements."""
        lanes, values = self._in_lanes(nest, base, environment)
        return all(
            self.statements.scatters(node.substitute(values), lanes)
            for node in walk(nest.body)
            if isinstance(node, Call)
        )

    def _in_lanes(
        self,
        nest: For,
        base: Index,
        environment: Environment,
        width: int | None = None,
    ) -> tuple[Lanes, Environment]:
        """Lanes from `base` on, and the environment in which the loop variable is the lane's."""
        width = width or nest.loop.vector
        assert width is not None
        lane = self.builder.new_variable()
        value = base + Index.variable(lane) * nest.step
        return Lanes(lane, width), {**environment, nest.variable: value}

    def one_vector(
        self, nest: For, base: Index, upper: tuple[Index, ...], environment: Environment
    ) -> None:
        """The iterations of one vector from `base` on, masked when they are fewer than a vector."""
        width = nest.loop.vector
        assert width is not None
        self.vectors.append(nest)
        is_whole = Connective(
            "all",
            tuple(
                Comparison(">=", limit - base - ((width - 1) * nest.step + 1)) for limit in upper
            ),
        )
        self.builder.branch(
            is_whole,
            partial(self._lanes, nest, base, environment),
            partial(self._between, nest, base, (), upper, environment),
        )


def _is_controlled(nest: For) -> bool:
    """Whether loops and conditions inside of a loop depend on it."""
    return any(index.depends_on(nest.variable) for index in control_indices(nest.body))
