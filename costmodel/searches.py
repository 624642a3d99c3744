"""All searches by the names that users write: those of `passes`, and those that learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..passes.search.protocols import Search
from ..passes.search.ranked import RankedTiles
from ..passes.search.searches import SEARCHES, make_search
from ..passes.search.space.swaps import LoopPairModel
from .registers.search import RegisterSearch, TilesThenRegisters

LEARNING: Mapping[str, Callable[[], Search]] = {
    "registers": RegisterSearch,
    "ranked-registers": lambda: TilesThenRegisters(RankedTiles()),
}
"""Searches that learn from runs of candidates; without a budget they end by themselves."""

RANKING = ("ranked", "ranked-registers")
"""Searches that ask a ranker."""

NAMES = (*SEARCHES, *LEARNING)


def find_search(
    name: str, beam: int, space: str = "full", loop_pairs: LoopPairModel | None = None
) -> Search:
    """The search of this name; all but the name are for those of `passes` (see `make_search`)."""
    if name in LEARNING:
        return LEARNING[name]()
    return make_search(name, beam, space, loop_pairs)
