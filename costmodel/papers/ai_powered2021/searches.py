"""Registry entries of this paper's searches."""

from __future__ import annotations

from ....passes.search.algorithm import SearchKind
from .ranked_tiles import RankedTiles
from .register_search import RegisterSearch, TilesThenRegisters

_IGNORED = ("interchange", "space", "beam")
_OWN_ORDERS = "tries its own orders of loops"

RANKED = SearchKind(lambda _: RankedTiles(), ranks=True, ignores=_IGNORED, way=_OWN_ORDERS)
"""The search `ranked`: two levels of tiles, in the order of a model that compares."""

REGISTERS = SearchKind(
    lambda _: RegisterSearch(),
    runs="until it has learned",
    ignores=_IGNORED,
    way="learns nothing but register tiles",
)
"""The search `registers`: register tiles by reinforcement learning."""

RANKED_REGISTERS = SearchKind(
    lambda _: TilesThenRegisters(RankedTiles()),
    runs="until it has learned",
    ranks=True,
    ignores=_IGNORED,
    way=_OWN_ORDERS,
)
"""The search `ranked-registers`: one after the other."""
