"""Strategy: scatter-form reductions in output-stationary order (transposed convolutions).

Loops over elements of the result take the place of loops over the input: skewed, they have the
value of the subscript, and what is left of the others runs over the terms of the sum. The terms
keep their order, so that this is legal where sums must not be reassociated.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from math import prod

from ..estimate.parallel_profitability import LEAST_CYCLES
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.strided_accesses import LARGEST_ROW
from ..polyhedral.schedule_tree import (
    Loop,
    Sequence,
    Tree,
    chain,
    loops_around,
    nest_of,
    statements,
)
from ..schedules.affine_sums import text_of_sum
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from ..transformations.parallel import Parallel
from ..transformations.shift import Shift
from ..transformations.skew import Skew
from ..transformations.split import Split
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .scatter_form import Mixed, ScatterForm, recognise_scatter
from .size_sums import SizeSum, sum_of
from .steps import Steps, added_statements
from .vectorise_and_parallelise import vectorise_and_parallelise

SHORT_SUM = 4
"""Loops over so few terms are fully unrolled."""

LEAST_ACCUMULATORS = 8
"""Vectors of one register tile, so that additions do not wait for each other."""

ROWS_AT_THE_EDGES = 4
"""Rows side by side where too few elements are left for vectors."""


def output_stationary(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Loops over the elements of the result outside, and over the terms of each sum inside.

    for c: for y: for k in [0, 4): C[f, 2 * y + k] += A[c, y] * W[c, f, k]
    ->  for e: for p in [0, 2): for c: for t in [-1, 0]: C[f, 2 * e + p] += A[c, e + t] * ...

    `e` has vectors, a register tile, and parts of its own for the first and last few elements, that
    have fewer terms.
    """
    if not isinstance(nest, Loop):
        return None
    names = statements(nest)
    sums = [name for name in names if _is_mixed(schedule, name)]
    if not sums:
        return None
    try:
        schedule = _separate(schedule, nest)
        for name in sums:
            schedule = _scheduled(schedule, name, context)
    except TransformationError:
        return None
    for name in names:
        if name not in sums:
            other = nest_of(schedule.tree, name)
            schedule = vectorise_and_parallelise(schedule, other, context) or schedule
    return schedule


class _Unsuitable(TransformationError):
    """A nest that is better left to other strategies."""


def _is_mixed(schedule: Schedule, name: str) -> bool:
    found = schedule.dependences.accumulations.get(name)
    rows = () if found is None else found.store.coefficients
    return any(sum(map(bool, row)) > 1 for row in rows)


def _separate(schedule: Schedule, nest: Loop) -> Schedule:
    """Every statement of a nest in a nest of its own."""
    members = chain(nest)
    if not isinstance(members[-1].body, Sequence):
        return schedule
    first = statements(nest)[0]
    return schedule.apply(Distribute(tuple(f"{first}.{loop.name}" for loop in members)))


def _scheduled(schedule: Schedule, name: str, context: SchedulingContext) -> Schedule:
    statistics = context.statistics(schedule.scop)
    around = loops_around(schedule.tree, name)
    if any(len(loop.schedule) > 1 for loop in around):
        raise _Unsuitable(f"{name} shares loops")
    found = recognise_scatter(schedule, name, around, statistics.statements[name])
    if found is None or found.depth == 1:
        raise _Unsuitable(f"{name} is in no scatter form")
    return _Plan(schedule, found, context).apply()


class _Output:
    """The loops that a mixed subscript gets: `element`, `phase` if any, and `term` if any.

    The subscript is `stride * element + phase`. Where `is_relative`, the term is the source loop,
    whose range moves along with the element.
    """

    def __init__(self, mixed: Mixed, *, source_first: bool, quotient: str) -> None:
        self.mixed = mixed
        self.has_term = mixed.overlaps > 1
        self.phase = mixed.tap if mixed.stride > 1 else None
        self.is_relative = source_first
        self.element = quotient if source_first and self.has_term else mixed.source
        self.term = mixed.source if source_first else quotient


class _Plan(Steps):
    """The transformations, and the sizes of the result's block."""

    def __init__(self, schedule: Schedule, found: ScatterForm, context: SchedulingContext) -> None:
        super().__init__(schedule, found.statement)
        self.found = found
        self.context = context
        self.lanes = schedule.target.lanes(found.result.array.element_type)
        cycles = prod(found.extents.values()) / self.lanes / schedule.target.multiply_adds_per_cycle
        self.threads = context.threads if cycles >= LEAST_CYCLES else 1

    def apply(self) -> Schedule:
        """The schedule of all parts."""
        outputs = [self._skew(mixed) for mixed in self.found.mixed]
        terms = self._terms(outputs)
        vector, packed, along = self._vector_loop(outputs)
        rows, split = self._rows(outputs, vector, along)
        inside = [name for name in (rows, packed, vector) if name is not None]
        # The bounds of phases do not depend on elements, those of elements may on phases.
        phases = [o.phase for o in outputs if o.phase is not None]
        elements = [o.element for o in outputs]
        free = (*phases, *self.found.plain, *elements)
        outer = [name for name in free if name not in inside]
        parts = [self.statement]
        if split is not None:
            inside.remove(split.element)
            inside.insert(0, split.element)
        self.interchange((*outer, *inside, *terms))
        if split is not None:
            if split.is_relative:
                self.step(Skew((self.name(split.element), self.name(split.term)), (-1,)))
            parts = self._split(split)
        first, *edges = [parts[len(parts) // 2], *parts[:1], *parts[2:]][: len(parts)]
        self.statement = first
        extents = self._extents(outputs)
        copies = 1 if packed is None or split is None else split.mixed.stride
        blocks = self._block(terms, rows, packed, vector, extents, copies, split)
        for edge in edges:
            self.statement = edge
            self._edge(terms, rows, packed, vector, split)
        self.statement = first
        if self.threads > 1:
            candidates = [*outer, *blocks]
            wide = [name for name in candidates if extents.get(name, 0) >= 2 * self.threads]
            self.step(Parallel((self.name((wide or blocks)[0]),)))
        return self.schedule

    def _skew(self, mixed: Mixed) -> _Output:
        """Replaces a source and a tap by element, phase and term; raises TransformationError."""
        order = self.found.order
        source_first = order.index(mixed.source) < order.index(mixed.tap)
        quotient = mixed.tap
        if mixed.overlaps > 1:
            if mixed.stride > 1:
                (quotient,) = self.make_tiles((mixed.tap,), (mixed.stride,))
                self.step(Skew((self.name(quotient), self.name(mixed.tap)), (-mixed.stride,)))
            pair = (mixed.source, quotient) if source_first else (quotient, mixed.source)
            self.step(Skew((self.name(pair[0]), self.name(pair[1])), (1,)))
        return _Output(mixed, source_first=source_first, quotient=quotient)

    def _terms(self, outputs: List[_Output]) -> list[str]:
        """The loops of the sum in the order that the program adds in."""
        by_loop = {
            (o.mixed.source if o.is_relative else o.mixed.tap): o.term
            for o in outputs
            if o.has_term
        }
        kept = {**by_loop, **{name: name for name in self.found.terms}}
        return [kept[name] for name in self.found.order if name in kept]

    def _vector_loop(self, outputs: List[_Output]) -> tuple[str, str | None, _Output | None]:
        """The vector loop, a loop of phases that is unrolled inside, and where elements are lanes.

        Raises TransformationError where no loop has neighbouring elements of the result.
        """
        row = self.found.result.coefficients[-1]
        own = [name for name in self.found.order if row[self.found.iterators[name]]]
        if len(own) == 1 and row[self.found.iterators[own[0]]] == 1:
            is_long = self.found.extents[own[0]] * 2 >= self.lanes
            if is_long and own[0] in self.found.plain:
                return own[0], None, None
        last = next((o for o in outputs if o.mixed.tap in own), None)
        if last is None:
            raise _Unsuitable("no loop walks along rows")
        mixed = last.mixed
        is_even = mixed.taps % mixed.stride == 0
        if last.phase is not None and mixed.stride >= self.lanes and (is_even or not last.has_term):
            return last.phase, None, None
        if mixed.stride > LARGEST_ROW or not last.has_term:
            raise _Unsuitable("elements lie apart")
        if 2 * (mixed.sources - mixed.overlaps + 1) < self.lanes:
            raise _Unsuitable("rows are short")
        # In a loop over many terms, phases with fewer terms need a nest of their own.
        in_body = last.phase if is_even or mixed.overlaps <= SHORT_SUM else None
        return last.element, in_body, last

    def _rows(
        self, outputs: List[_Output], vector: str, along: _Output | None
    ) -> tuple[str | None, _Output | None]:
        """The rows of the register tile, which do not change what is read along the vector loop.

        With the subscript whose elements are split into an inner part and its edges.
        """
        found = self.found
        moving = vector if along is None else along.mixed.source
        streamed = [access for access in found.reads if found.selects(moving, access)]

        def is_free(loop: str) -> bool:
            return loop != vector and not any(found.selects(loop, access) for access in streamed)

        plain = [name for name in found.plain if is_free(name)]
        tallest = max(plain, key=lambda name: found.extents[name], default=None)
        if along is not None or tallest is not None or not streamed:
            return tallest, along
        across = [
            o
            for o in outputs
            if o.has_term and o.phase != vector and is_free(o.mixed.source)
            and o.mixed.sources > 2 * o.mixed.overlaps
        ]  # fmt: skip
        best = max(across, key=lambda o: o.mixed.sources, default=None)
        return (None, None) if best is None else (best.element, best)

    def _split(self, split: _Output) -> list[str]:
        """Index-set splitting of an element loop: below, inside and behind where no term lacks."""
        mixed = split.mixed
        first, last = mixed.source_range
        lowest, highest = (_quotient(bound, mixed.stride) for bound in mixed.tap_range)
        parts = [self.statement]
        for at in (sum_of(first, highest), sum_of(last, lowest, {"": 1})):
            before = self.schedule
            self.step(Split((f"{parts[-1]}.{split.element}",), at=text_of_sum(at)))
            parts += added_statements(before, self.schedule)
        begin = sum_of(first, highest)
        if set(begin) == {""} and begin[""]:
            self.step(Shift((f"{parts[1]}.{split.element}",), -begin[""]))
        return parts

    def _extents(self, outputs: List[_Output]) -> dict[str, int]:
        extents = dict(self.found.extents)
        for o in outputs:
            extents[o.element] = o.mixed.sources + (o.mixed.overlaps - 1)
            if o.has_term:
                extents[o.term] = o.mixed.overlaps
            if o.phase is not None:
                extents[o.phase] = min(o.mixed.stride, o.mixed.taps)
        return extents

    def _block(
        self,
        terms: List[str],
        rows: str | None,
        packed: str | None,
        vector: str,
        extents: dict[str, int],
        copies: int,
        split: _Output | None,
    ) -> list[str]:
        """Register tile, vectors and unrolled terms of a part; the loops around the tiles."""
        width = extents[vector]
        if split is not None and vector == split.element:
            width -= 2 * (split.mixed.overlaps - 1)
        vectors = -(-width // self.lanes)
        if rows is None:
            height, across = 1, min(vectors, max(1, LEAST_ACCUMULATORS // copies))
        else:
            tile = self.context.register_tile(
                self.found.statement,
                extents[rows] * copies,
                vectors,
                self.found.depth,
                self.schedule.target,
            )
            height, across = max(1, tile.rows // copies), tile.vectors
        members = [name for name in (rows, vector) if name is not None]
        around = [loop.name for loop in loops_around(self.schedule.tree, self.statement)]
        members.sort(key=around.index)
        sizes = [height if name == rows else across * self.lanes for name in members]
        if packed is not None:
            # Out of the way, so that the tiled loops are directly inside of each other.
            self.interchange((*members, packed, *terms))
        tiles = self.make_tiles(members, sizes)
        inner = [name for name in (rows, packed, vector) if name is not None]
        self.interchange((*terms, *inner))
        short = [o for o in ([split] if split is not None else []) if o.mixed.overlaps <= SHORT_SUM]
        unrolled = [*(o.term for o in short), *inner]
        self.step(Unroll(tuple(self.name(name) for name in unrolled)))
        self.step(Vectorize((self.name(vector),), self.lanes))
        return list(tiles)

    def _edge(
        self,
        terms: List[str],
        rows: str | None,
        packed: str | None,
        vector: str,
        split: _Output | None,
    ) -> None:
        """The first or last elements, that have fewer terms."""
        assert split is not None
        if vector != split.element:
            (_,) = self.make_tiles((vector,), (self.lanes * LEAST_ACCUMULATORS,))
            self.interchange((*terms, vector))
            self.step(Unroll((self.name(vector),)))
            self.step(Vectorize((self.name(vector),), self.lanes))
        elif split.mixed.overlaps > self.lanes:
            members = [name for name in (rows, packed) if name is not None]
            self.interchange((*members, *terms, vector))
            self.step(Vectorize((self.name(vector),), self.lanes))
        else:
            inner = [name for name in (rows, packed) if name is not None]
            if rows is not None:
                self.make_tiles((rows,), (ROWS_AT_THE_EDGES,))
            if inner:
                self.interchange((*terms, *inner))
                self.step(Unroll(tuple(self.name(name) for name in inner)))


def _quotient(bound: SizeSum, divisor: int) -> SizeSum:
    """The bound divided, rounded down; raises TransformationError where that is no sum."""
    if divisor == 1:
        return bound
    if set(bound) != {""}:
        raise _Unsuitable("the number of taps is not known")
    return {"": bound[""] // divisor}
