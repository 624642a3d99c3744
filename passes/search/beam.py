"""Beam search (LOOPer, section 4.1; Tiramisu's cost model, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..schedules.schedule import Schedule
from .search_state import SearchState
from .space.stages import FULL, Node, Space, Stage

Rate = Callable[[Sequence[Schedule]], list[float]]
"""The speed-ups of schedules: by a model, or by running them."""


@dataclass(frozen=True)
class BeamSearch:
    """Keeps the best `beam` schedules of every level, starting from several orders.

    With `execution`, what counts is measured, else predicted. The candidates of the default
    schedule are rated besides, as they are.
    """

    beam: int = 3
    execution: bool = False
    stages: Sequence[Stage] = FULL

    def explore(self, state: SearchState) -> None:
        """Goes through the levels; the ledger knows the best."""
        task = state.task
        rate = state.measure if self.execution else state.predict
        rate(state.default_candidates)
        space = Space(task.context, self.stages)
        nodes = [Node(order) for order in state.orders]
        while any(not space.is_leaf(node) for node in nodes):
            level = min(node.stage for node in nodes)
            reached = [node for node in nodes if node.stage > level]
            for node in nodes:
                if node.stage == level:
                    for child in space.children(node):
                        reached.append(child)
                        state.check_time()
            nodes = best_nodes(state, rate, reached, self.beam)


def best_nodes(state: SearchState, rate: Rate, nodes: Sequence[Node], count: int) -> list[Node]:
    """The best nodes with different schedules; of equally good ones those with the fewest steps."""
    distinct: dict[object, Node] = {}
    for node in nodes:
        distinct.setdefault(state.key(node.schedule), node)
    rated = zip(rate([node.schedule for node in distinct.values()]), distinct.values(), strict=True)
    order = sorted(rated, key=lambda pair: (-pair[0], len(pair[1].schedule.transformations)))
    return [node for _, node in order[:count]]
