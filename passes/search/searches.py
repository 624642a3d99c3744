"""The searches by the names that users write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .beam import BeamSearch
from .hybrid import HybridSearch
from .mcts import MonteCarloSearch
from .protocols import Search
from .ranked import RankedTiles
from .space.stages import SPACES, Stage, with_loop_pairs
from .space.swaps import LoopPairModel

SEARCHES: Mapping[str, Callable[[int, Sequence[Stage]], Search]] = {
    "beam": lambda beam, stages: BeamSearch(beam, stages=stages),
    "beam-execution": lambda beam, stages: BeamSearch(beam, execution=True, stages=stages),
    "mcts": lambda beam, stages: MonteCarloSearch(stages=stages),
    "hybrid": lambda beam, stages: HybridSearch(beam, stages=stages),
    "ranked": lambda beam, stages: RankedTiles(),
}
"""What makes each search from the width of a beam and the levels of a space."""

RUNNING = ("beam-execution", "hybrid")
"""Searches that run candidates all the time."""


def make_search(
    name: str, beam: int, space: str = "full", loop_pairs: LoopPairModel | None = None
) -> Search:
    """The search of this name in one of `SPACES`; `loop_pairs` says which loops to interchange."""
    stages = SPACES[space]
    if loop_pairs is not None:
        stages = with_loop_pairs(stages, loop_pairs)
    return SEARCHES[name](beam, stages)
