"""Monte Carlo tree search with the model, then runs of the best (Tiramisu 2021, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from random import Random

from ....passes.search.algorithm import SearchKind
from ....passes.search.search_state import SearchState
from ....passes.search.space.stages import FULL, Node, Space, Stage

WIDEST = 6
"""Children of a node that are visited: the best by the model, and some others."""

OTHERS = 2


@dataclass
class _Place:
    """A visited node, the best speed-up below it, and its children once they are expanded."""

    node: Node | None
    value: float
    visits: int = 0
    children: list[_Place] | None = None
    is_closed: bool = field(default=False)


@dataclass(frozen=True)
class MonteCarloSearch:
    """Descends repeatedly by upper confidence bounds (UCT).

    A node counts as much as the best schedule that was met below it. In the end, the `measured`
    best schedules are run, where that is possible.
    """

    iterations: int = 40
    measured: int = 10
    exploration: float = 0.3
    stages: Sequence[Stage] = FULL

    def explore(self, state: SearchState) -> None:
        """Builds the tree, then runs the best."""
        task = state.task
        with state.at_most(state.seconds_left * (0.5 if task.evaluator is not None else 1.0)):
            self._build(state)
        if task.evaluator is not None:
            state.measure(state.ranked()[: self.measured])

    def _build(self, state: SearchState) -> None:
        task = state.task
        random = Random(task.seed)
        space = Space(task.context, self.stages)
        state.predict(state.default_candidates)
        orders = state.orders
        values = state.predict(orders)
        starts = [_Place(Node(s), log(v)) for s, v in zip(orders, values, strict=True)]
        root = _Place(None, max(place.value for place in starts), children=starts)
        for _ in range(self.iterations):
            if root.is_closed:
                return
            state.check_time()
            self._visit(state, space, random, root)

    def _visit(self, state: SearchState, space: Space, random: Random, root: _Place) -> None:
        """One way from the root to the end of all levels; what is best on it counts for all."""
        way = [root]
        while True:
            place = way[-1]
            if place.children is None:
                place.children = self._expand(state, space, random, place)
            open_children = [child for child in place.children if not child.is_closed]
            if not open_children:
                break
            way.append(max(open_children, key=lambda child: self._rating(place, child)))
        best = max(place.value for place in way)
        for place in reversed(way):
            place.visits += 1
            place.value = max(place.value, best)
            place.is_closed = all(child.is_closed for child in place.children or ())

    def _rating(self, place: _Place, child: _Place) -> float:
        """Upper confidence bound for trees."""
        return child.value + self.exploration * sqrt(log(place.visits + 2) / (child.visits + 1))

    def _expand(
        self, state: SearchState, space: Space, random: Random, place: _Place
    ) -> list[_Place]:
        """The children of a place: what changes nothing, the best by the model, some others."""
        assert place.node is not None, "the root has its children"
        if space.is_leaf(place.node):
            return []
        idle, *nodes = space.children(place.node)
        values = state.predict([node.schedule for node in nodes])
        ranked = sorted(zip(values, range(len(nodes)), strict=True), key=lambda each: -each[0])
        chosen, rest = ranked[: WIDEST - OTHERS], ranked[WIDEST - OTHERS :]
        chosen += random.sample(rest, min(OTHERS, len(rest)))
        return [
            _Place(idle, place.value),
            *(_Place(nodes[number], log(max(value, 1e-6))) for value, number in chosen),
        ]


MCTS = SearchKind(
    lambda options: MonteCarloSearch(stages=options.stages), ignores=("beam",), way="has no beam"
)
"""The search `mcts`."""
