"""Search `ranked`: two-level tiles ranked by a model, the first tenth measured.

Source: Tavarageri et al., "AI Powered Compiler Techniques for DL Code Optimization", 2021, sections
3.2 and 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ....passes.polyhedral.isl_context import ISL_LOCK
from ....passes.schedules.schedule import Schedule
from ....passes.search.search_state import SearchState
from .two_level_tiles import largest_nests, tiled_depth, two_level_tiles


@dataclass(frozen=True)
class RankedTiles:
    """Ranks `count` candidates of each top-level nest, one nest after the other.

    The first `share` of them are run, and the fastest one is kept; without an evaluator, the first.
    Where nothing can be tiled, that is the default schedule.
    """

    count: int = 200
    share: float = 0.1

    def explore(self, state: SearchState) -> None:
        """Asks the task's ranker, then the evaluator."""
        context, evaluator = state.task.context, state.task.evaluator
        with ISL_LOCK:
            base = max(state.orders, key=lambda order: tiled_depth(order, context))
            parts = largest_nests(base, context)
        best = base
        if not parts:
            state.remarks.append("no loops can be tiled twice: there is nothing to rank")
        for nest in parts:
            first = self._first(state, best, nest)
            if evaluator is None:
                best = (first or [best])[0]
                continue
            if not first:
                continue
            speeds = dict(zip(first, state.measure(first), strict=True))
            # Last: the program as written can take all the time that is left.
            (known,) = state.measure([best])
            fastest = max(first, key=lambda each: speeds[each])
            if speeds[fastest] > known:
                best = fastest
        if evaluator is None:
            best = state.default_schedule if best is base else best
            state.predict([best])
            state.choose(best)

    def _first(self, state: SearchState, base: Schedule, nest: int) -> list[Schedule]:
        """The candidates that the ranker puts first, best first."""
        task = state.task
        assert task.ranker is not None, "who ranks has a ranker"
        candidates: list[Schedule] = []
        with ISL_LOCK:
            for candidate in two_level_tiles(base, nest, task.context, self.count, task.seed):
                candidates.append(candidate)
                state.check_time()
            if not candidates:
                return []
            order = task.ranker.rank(task.context, candidates)
        return [candidates[number] for number in order[: ceil(self.share * len(candidates))]]
