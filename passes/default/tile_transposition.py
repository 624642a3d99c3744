"""Strategy: nests whose accesses are contiguous along different loops: transposed, interleaved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from ..estimate.local_extents import stored_statistics
from ..estimate.program_statistics import ProgramStatistics, StatementStatistics
from ..estimate.scheduling_context import SchedulingContext
from ..estimate.strided_accesses import LARGEST_ROW, LARGEST_STRIDE
from ..estimate.vector_widths import narrowed
from ..polyhedral.schedule_tree import Leaf, Loop, Tree, chain, loops_around, statements
from ..polyhedral.scop import Access, AccessKind
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.reverse import Reverse
from ..transformations.unroll import Unroll
from ..transformations.vectorize import Vectorize
from .outermost_parallel import mark_parallel
from .rounded_subscripts import in_blocks
from .steps import Steps

MOST_LANES = 16
"""Rows of a block that is transposed in registers."""


def tile_transposition(
    schedule: Schedule, nest: Tree, context: SchedulingContext
) -> Schedule | None:
    """Vectors along one loop, with as many iterations of another as there are lanes, unrolled.

    Reads that are contiguous along the other loop become loads of rows, transposed in registers;
    accesses a small stride apart become whole rows and shuffles.

    for i:                             for it:
      for j:                             for jt:
        B[j, i] = A[i, j]      ->          vector i in [64 it, 64 it + 64):
                                             unrolled j in [8 jt, 8 jt + 8):
                                               B[j, i] = A[i, j]

    for d < 2: for x:                  vector x: unrolled d:
      B[2 x + d] = A[d, x]     ->        B[2 x + d] = A[d, x]
    """
    if not isinstance(nest, Loop):
        return None
    loops = chain(nest)
    if len(loops) < 2 or any(not isinstance(c, Leaf) for c in _children(loops[-1].body)):
        return None
    if any(loop.is_marked for loop in loops):
        return None
    try:
        band = _Band.of(schedule, loops, context)
        pair = band.best_pair()
        if pair is None:
            return None
        return mark_parallel(band.tiled(*pair), statements(nest), context)
    except TransformationError:
        return None


def _children(tree: Tree) -> Sequence[Tree]:
    return (tree,) if isinstance(tree, Leaf | Loop) else tree.children


@dataclass(frozen=True)
class _Band:
    """Loops directly inside each other around all statements of a nest."""

    schedule: Schedule
    loops: tuple[Loop, ...]
    statistics: ProgramStatistics

    @staticmethod
    def of(schedule: Schedule, loops: tuple[Loop, ...], context: SchedulingContext) -> _Band:
        """The loops, cut where subscripts round."""
        first = statements(loops[0])[0]
        cut = in_blocks(schedule, loops, context)
        around = loops_around(cut.tree, first)
        return _Band(cut, around, stored_statistics(cut, context))

    @cached_property
    def trips(self) -> dict[str, float]:
        """The average number of iterations of each loop, by its name."""
        counts = self.statistics.statements[statements(self.loops[0])[0]].trips(self.loops)
        return {loop.name: count for loop, count in zip(self.loops, counts, strict=True)}

    @cached_property
    def lanes(self) -> int:
        """Lanes of the widest elements that are accessed, at most as many as are transposed."""
        return min(
            MOST_LANES,
            *(
                self.schedule.target.lanes(access.array.element_type)
                for name in self.loops[0].schedule
                for access in self.statistics.statements[name].statement.accesses
            ),
        )

    def best_pair(self) -> tuple[Loop, Loop] | None:
        """The loops for vectors and for unrolling inside that suit all accesses best, if any do."""
        return min(
            filter(self._suits, permutations(self.loops, 2)),
            key=lambda pair: (
                -min(self.trips[pair[0].name], self.lanes),
                -self.trips[pair[1].name],
            ),
            default=None,
        )

    def _strides(
        self, statement: StatementStatistics, pair: tuple[Loop, Loop]
    ) -> Iterator[tuple[Access, int, int]]:
        """The accesses with what they move along both loops, in elements."""
        for access in statement.statement.accesses:
            across, along = (self._stride(statement, access, loop) for loop in pair)
            yield access, across, along

    def _stride(self, statement: StatementStatistics, access: Access, loop: Loop) -> int:
        direction = statement.motion(self.loops, loop)
        return 0 if direction is None else statement.stride(access, direction, self.statistics)

    def _suits(self, pair: tuple[Loop, Loop]) -> bool:
        """Whether all accesses are vectors, rows or shuffled ones, and not all of them vectors."""
        is_joined = False
        signs = set[int]()
        trips = self.trips[pair[1].name]
        for name in self.loops[0].schedule:
            for access, across, along in self._strides(self.statistics.statements[name], pair):
                is_write = access.kind is AccessKind.WRITE
                if is_write and not (across and along):
                    return False
                if is_write:
                    signs.add(across > 0)
                if abs(across) <= 1:
                    continue
                is_shuffled = across == trips <= LARGEST_ROW
                is_row = abs(across) > LARGEST_STRIDE and not is_write
                if abs(along) != 1 or not (is_shuffled or is_row):
                    return False
                is_joined = True
        return is_joined and len(signs) == 1

    def _has_rows_of(self, pair: tuple[Loop, Loop]) -> bool:
        """Whether the unrolled loop accesses all columns of short rows, which stay together."""
        trips = self.trips[pair[1].name]
        statement = self.statistics.statements[statements(self.loops[0])[0]]
        strides = (across for _, across, _ in self._strides(statement, pair))
        return any(1 < across == trips <= LARGEST_ROW for across in strides)

    def _is_backwards(self, pair: tuple[Loop, Loop]) -> bool:
        """Whether the writes go backwards along the vector loop."""
        statement = self.statistics.statements[statements(self.loops[0])[0]]
        return any(
            across < 0
            for access, across, _ in self._strides(statement, pair)
            if access.kind is AccessKind.WRITE
        )

    def tiled(self, vector: Loop, unrolled: Loop) -> Schedule:
        """Tiles as tall as a cache keeps their rows, as wide as a block that is transposed.

        Raises TransformationError.
        """
        target = self.schedule.target
        lanes = narrowed(self.lanes, self.trips[vector.name])
        lines = min(target.tlb_entries, target.caches.get(1, 0) // (2 * target.cache_line))
        height, width = max(lanes, lines // lanes * lanes), lanes
        steps = Steps(self.schedule, statements(self.loops[0])[0])
        others = [loop.name for loop in self.loops if loop is not vector and loop is not unrolled]
        steps.interchange([*others, vector.name, unrolled.name])
        if self._is_backwards((vector, unrolled)):
            steps.step(Reverse((steps.name(vector.name),)))
        is_cut = self.trips[unrolled.name] > width and not self._has_rows_of((vector, unrolled))
        if is_cut and self.trips[vector.name] > height:
            steps.make_tiles([vector.name, unrolled.name], [height, width])
        elif is_cut:
            tiles = steps.make_tiles([unrolled.name], [width])
            steps.interchange([*tiles, vector.name, unrolled.name])
        steps.step(Unroll((steps.name(unrolled.name),)))
        steps.step(Vectorize((steps.name(vector.name),), lanes))
        return steps.schedule
