"""The searches by the names that users write."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .beam import BeamSearch
from .hybrid import HybridSearch
from .mcts import MonteCarloSearch
from .protocols import Search

SEARCHES: Mapping[str, Callable[[int], Search]] = {
    "beam": lambda beam: BeamSearch(beam),
    "beam-execution": lambda beam: BeamSearch(beam, execution=True),
    "mcts": lambda beam: MonteCarloSearch(),
    "hybrid": lambda beam: HybridSearch(beam),
}
"""What makes each search from the width of a beam."""

RUNNING = ("beam-execution", "hybrid")
"""Searches that run candidates all the time."""


def make_search(name: str, beam: int) -> Search:
    """The search of this name."""
    return SEARCHES[name](beam)
