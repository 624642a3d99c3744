"""A search: random ways through the levels of the space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from loopwright.passes.search.algorithm import SearchKind
from loopwright.passes.search.search_state import SearchState
from loopwright.passes.search.space.stages import Node, Space, Stage


@dataclass(frozen=True)
class RandomDescents:
    """Goes down from the default orders at random, `count` times, and predicts what it comes to."""

    stages: Sequence[Stage]
    count: int = 20

    def explore(self, state: SearchState) -> None:
        """Asks the state for predictions; the best by the model is chosen from these."""
        task = state.task
        random, space = Random(task.seed), Space(task.context, self.stages)
        state.predict(state.default_candidates)
        for _ in range(self.count):
            state.check_time()
            node = Node(random.choice(state.orders))
            while not space.is_leaf(node):
                node = random.choice(list(space.children(node)))
            state.predict([node.schedule])


RANDOM_DESCENTS = SearchKind(
    lambda options: RandomDescents(options.stages), ignores=("beam",), way="has no beam"
)
"""What `loopwright tune --search random-descents` runs."""
