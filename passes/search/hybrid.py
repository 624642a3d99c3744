"""Budgeted search: the model first, then measurements that correct it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

import numpy as np

from ..schedules.schedule import Schedule
from .beam import BeamSearch
from .correction import Correction
from .search_state import SearchState
from .space.neighbours import neighbours
from .space.stages import FULL, Stage

SEED_SHARE = 0.1
"""Of the budget is for schedules that strategies make."""

MODEL_SHARE = 0.15
"""Of the budget is for the model alone."""

ALTERNATIVES = 6
"""Schedules that `default` does not think of are run: what is known by hand to be good is seldom
what the model thinks is best."""

PARENTS = 2
"""The fastest schedules whose neighbours are candidates."""

NEIGHBOURS = 10
"""New neighbours of each parent before every batch."""

COURAGE = 0.5
"""Standard deviations that an uncertain schedule is taken to be faster than expected."""

EXPLORED = 2
"""Of a batch are drawn from new neighbours of the fastest schedules, whatever the model says."""

POOL = 2000
"""Candidates, the best by the model, among which a batch is chosen."""


@dataclass(frozen=True)
class HybridSearch:
    """Beam search with the model, then batches of measurements chosen by the corrected model.

    Without a budget, it ends after `batches` that have not made anything faster.
    """

    beam: int = 3
    batch: int = 8
    batches: int = 3
    stages: Sequence[Stage] = FULL

    def explore(self, state: SearchState) -> None:
        """Asks the model, then measures until the time is up."""
        task = state.task
        others: list[Schedule] = []
        with state.at_most(SEED_SHARE * state.seconds_left):
            state.predict([*task.known, *state.default_candidates])
            for schedule in state.alternatives():
                state.predict([schedule])
                others.append(schedule)
        with state.at_most(MODEL_SHARE * state.seconds_left):
            BeamSearch(self.beam, stages=self.stages).explore(state)
        others.sort(key=lambda schedule: -state.speedup(state.key(schedule)))
        seeds = [*state.default_candidates, *others[:ALTERNATIVES]]
        liked = state.ranked()[: self.beam]
        state.measure([state.default_schedule, *task.known, *seeds, *liked])
        sources: dict[object, Iterator[Schedule]] = {}
        random = Random(task.seed)
        idle = 0
        while task.budget is not None or idle < self.batches:
            best = state.speedup(state.key(state.proven()[0])) if state.proven() else 0.0
            near = self._widen(state, sources)
            random.shuffle(near)
            liked = self._choose(state)
            kept = set(liked[: self.batch - EXPLORED])
            drawn = [each for each in near if each not in kept][:EXPLORED]
            batch = [*liked[: self.batch - len(drawn)], *drawn]
            if not batch:
                return
            idle = 0 if max(state.measure(batch)) > best else idle + 1

    def _widen(
        self, state: SearchState, sources: dict[object, Iterator[Schedule]]
    ) -> list[Schedule]:
        """Predicts more neighbours of the fastest schedules: these."""
        found: list[Schedule] = []
        for parent in state.proven()[:PARENTS]:
            key = state.key(parent)
            task = state.task
            source = sources.setdefault(key, neighbours(task.original, parent, task.context))
            fresh = (each for each in source if state.is_new(each))
            near = list(islice(fresh, NEIGHBOURS))
            state.predict(near)
            found += map(state.entered, near)
        return list(dict.fromkeys(found))

    def _choose(self, state: SearchState) -> list[Schedule]:
        """What is to be measured next: probably fast, or too uncertain to leave out."""
        known = list(state.measured)
        correction = Correction(
            [state.schedules[key] for key in known],
            [state.predicted.get(key, 1.0) for key in known],
            [state.speedup(key) for key in known],
        )
        keys = state.unmeasured()[:POOL]
        pool = [state.schedules[key] for key in keys]
        if not pool:
            return []
        mean, deviation = correction.expect(pool, [state.predicted[key] for key in keys])
        order = np.argsort(-(mean + COURAGE * deviation), kind="stable")
        return [pool[number] for number in order[: self.batch]]
