"""Beam search (LOOPer, section 4.1; Tiramisu's cost model, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..schedule import Schedule
from .ledger import BATCH, Ledger
from .space.neighbours import neighbours
from .space.seeds import default_candidates, starting_orders
from .space.stages import FULL, Node, Space, Stage

Rate = Callable[[Sequence[Schedule]], list[float]]
"""The speed-ups of schedules: by a model, or by running them."""


@dataclass(frozen=True)
class BeamSearch:
    """Keeps the best `beam` schedules of every level, and then improves the best of all.

    With `execution`, what counts is measured, else predicted. `rounds` of neighbours are looked at
    as long as they improve on the best.
    """

    beam: int = 3
    execution: bool = False
    stages: Sequence[Stage] = FULL
    rounds: int = 4
    defaults: bool = True

    def explore(self, ledger: Ledger) -> None:
        """Goes through the levels from several orders, then from neighbour to neighbour."""
        task = ledger.task
        rate = ledger.measure if self.execution else ledger.predict
        found = [(ledger.speedup(ledger.key(task.original)), task.original)]
        if self.defaults:
            seeds = list(default_candidates(task.original, task.request))
            found += zip(rate(seeds), seeds, strict=True)
        found += self._descend(ledger, rate)
        self._refine(ledger, rate, found)

    def _descend(self, ledger: Ledger, rate: Rate) -> list[tuple[float, Schedule]]:
        """The best schedules at the end of all levels."""
        task = ledger.task
        space = Space(task.request, self.stages)
        nodes = [Node(order) for order in starting_orders(task.original, task.request)]
        while any(not space.is_leaf(node) for node in nodes):
            level = min(node.stage for node in nodes)
            reached = [node for node in nodes if node.stage > level]
            for node in nodes:
                if node.stage == level:
                    reached += space.children(node)
                    ledger.check_time()
            nodes = best_nodes(ledger, rate, reached, self.beam)
        return [(ledger.speedup(ledger.key(node.schedule)), node.schedule) for node in nodes]

    def _refine(self, ledger: Ledger, rate: Rate, found: list[tuple[float, Schedule]]) -> None:
        """Goes to neighbours of the best schedules as long as they are better."""
        expanded: set[object] = set()
        for _ in range(self.rounds):
            found = sorted(found, key=lambda pair: -pair[0])[: self.beam]
            best = found[0][0]
            for _, schedule in tuple(found):
                if ledger.key(schedule) not in expanded:
                    expanded.add(ledger.key(schedule))
                    found += rate_neighbours(ledger, rate, schedule)
            if max(speedup for speedup, _ in found) <= best:
                return


def best_nodes(ledger: Ledger, rate: Rate, nodes: Sequence[Node], count: int) -> list[Node]:
    """The best nodes with different schedules; of equally good ones those with the fewest steps."""
    distinct: dict[object, Node] = {}
    for node in nodes:
        distinct.setdefault(ledger.key(node.schedule), node)
    rated = zip(rate([node.schedule for node in distinct.values()]), distinct.values(), strict=True)
    order = sorted(rated, key=lambda pair: (-pair[0], len(pair[1].schedule.transformations)))
    return [node for _, node in order[:count]]


def rate_neighbours(ledger: Ledger, rate: Rate, schedule: Schedule) -> list[tuple[float, Schedule]]:
    """The neighbours of a schedule that are new, with their speed-ups."""
    rated: list[tuple[float, Schedule]] = []
    batch: list[Schedule] = []
    for other in neighbours(ledger.task.original, schedule):
        ledger.check_time()
        if ledger.is_new(other):
            batch.append(other)
        if len(batch) == BATCH:
            rated += zip(rate(batch), batch, strict=True)
            batch = []
    rated += zip(rate(batch), batch, strict=True)
    return rated
