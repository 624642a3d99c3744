"""Names and limits of searches, without what these need."""

from __future__ import annotations

from ...support.plugins import plugins

GROUP, TILE_GROUP = "searches", "tile_searches"

OWN = ("beam", "beam-execution", "hybrid")

SPACES = ("full", "looper")
"""The names of search spaces."""

BEAM, WIDEST_BEAM = 3, 1000
"""Schedules that a beam keeps per level, and how many it may keep."""

GUIDED = 50
"""How many points of tile sizes are measured besides a sample."""


def search_names() -> tuple[str, ...]:
    """The names of all searches; no plug-in is imported. Raises PluginError for a name of two."""
    return (*OWN, *plugins(GROUP, OWN))


def tile_search_names() -> tuple[str, ...]:
    """The names of all searches; none is imported. Raises PluginError for a name of two."""
    return tuple(plugins(TILE_GROUP))
