"""All searches by the names that users write: those of `passes`, and those that learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..passes.search.protocols import Search
from ..passes.search.ranked import RankedTiles
from ..passes.search.searches import SEARCHES, make_search
from .registers.search import RegisterSearch, TilesThenRegisters

LEARNING: Mapping[str, Callable[[], Search]] = {
    "registers": RegisterSearch,
    "ranked-registers": lambda: TilesThenRegisters(RankedTiles()),
}
"""Searches that learn from runs of candidates; without a budget they end by themselves."""

RANKING = ("ranked", "ranked-registers")
"""Searches that ask a ranker."""

NAMES = (*SEARCHES, *LEARNING)


def find_search(name: str, beam: int, space: str = "full") -> Search:
    """The search of this name; the width of a beam and the space are for those of `passes`."""
    return LEARNING[name]() if name in LEARNING else make_search(name, beam, space)
