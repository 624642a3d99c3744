"""Searches for tile sizes: their interface, and the registry of plug-ins.

A search (entry point `loopwright.tile_searches`) asks for measurements, a batch of points at a
time, and is told the seconds of each; what cannot be measured has infinitely many. The best
measured point is its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ...support.plugins import PluginError, describe, load_plugin, plugins
from .names import GUIDED, TILE_GROUP, tile_search_names
from .space.tile_size_space import TileSpace

Batches = Generator[list[int], Mapping[int, float]]
"""Gives numbers of points, gets the seconds of all that were measured."""


@dataclass(frozen=True)
class Plan:
    """Evaluation plan: `sampled` points at random (or as many), and `GUIDED` model-guided ones.

    `promising` finds points that something else proposes, best first; a search need not ask.
    """

    space: TileSpace
    sampled: int
    seed: int = 0
    promising: Callable[[], Sequence[int]] = tuple

    @property
    def measurements(self) -> int:
        """How many points are measured altogether."""
        return min(len(self.space.points), self.sampled + GUIDED)

    def generator(self) -> np.random.Generator:
        """The source of all random choices."""
        return np.random.default_rng(self.seed)


TileSearch = Callable[[Plan], Batches]


def find_tile_search(name: str) -> TileSearch:
    """The search of this name; raises PluginError where there is none that can be used."""
    entry = plugins(TILE_GROUP).get(name)
    if entry is None:
        known = ", ".join(tile_search_names()) or "none"
        raise PluginError(f"there is no search for tile sizes '{name}'; there are {known}")
    found = load_plugin(entry)
    if not callable(found):
        raise PluginError(f"the search for tile sizes '{name}' of {describe(entry)} is no function")
    return cast(TileSearch, found)
