"""A search with a budget: the model first, then runs of the most promising, and what they teach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ..schedules.schedule import Schedule
from .beam import BeamSearch
from .correction import Correction
from .ledger import Ledger
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

POOL = 2000
"""Candidates, the best by the model, among which a batch is chosen."""


@dataclass(frozen=True)
class HybridSearch:
    """Beam search with the model, then batches of runs chosen by the corrected model.

    Without a budget, it ends after `batches` that have not made anything faster.
    """

    beam: int = 3
    batch: int = 8
    batches: int = 3
    stages: Sequence[Stage] = FULL

    def explore(self, ledger: Ledger) -> None:
        """Asks the model, then measures until the time is up."""
        task = ledger.task
        others: list[Schedule] = []
        with ledger.at_most(SEED_SHARE * ledger.seconds_left):
            ledger.predict([*task.known, *ledger.default_candidates])
            for schedule in ledger.alternatives():
                ledger.predict([schedule])
                others.append(schedule)
        with ledger.at_most(MODEL_SHARE * ledger.seconds_left):
            BeamSearch(self.beam, stages=self.stages).explore(ledger)
        others.sort(key=lambda schedule: -ledger.speedup(ledger.key(schedule)))
        seeds = [*ledger.default_candidates, *others[:ALTERNATIVES]]
        liked = ledger.ranked()[: self.beam]
        ledger.measure([ledger.default_schedule, *task.known, *seeds, *liked])
        sources: dict[object, Iterator[Schedule]] = {}
        idle = 0
        while task.budget is not None or idle < self.batches:
            best = ledger.speedup(ledger.key(ledger.proven()[0])) if ledger.proven() else 0.0
            self._widen(ledger, sources)
            batch = self._choose(ledger)
            if not batch:
                return
            idle = 0 if max(ledger.measure(batch)) > best else idle + 1

    def _widen(self, ledger: Ledger, sources: dict[object, Iterator[Schedule]]) -> None:
        """Predicts more neighbours of the fastest schedules."""
        for parent in ledger.proven()[:PARENTS]:
            key = ledger.key(parent)
            task = ledger.task
            source = sources.setdefault(key, neighbours(task.original, parent, task.request))
            fresh = (each for each in source if ledger.is_new(each))
            ledger.predict(list(islice(fresh, NEIGHBOURS)))

    def _choose(self, ledger: Ledger) -> list[Schedule]:
        """What is to be measured next: probably fast, or too uncertain to leave out."""
        known = list(ledger.measured)
        correction = Correction(
            [ledger.schedules[key] for key in known],
            [ledger.predicted.get(key, 1.0) for key in known],
            [ledger.speedup(key) for key in known],
        )
        keys = ledger.unmeasured()[:POOL]
        pool = [ledger.schedules[key] for key in keys]
        if not pool:
            return []
        mean, deviation = correction.expect(pool, [ledger.predicted[key] for key in keys])
        order = np.argsort(-(mean + COURAGE * deviation), kind="stable")
        return [pool[number] for number in order[: self.batch]]
