"""Names of peers, known without any of them."""

from __future__ import annotations

from collections.abc import Sequence

from ..selection import SelectionError
from .libraries import LIBRARIES

COMPILERS = ("clang", "gcc", "polly")
PEERS = (*COMPILERS, *LIBRARIES)


def named_peers(text: str | None) -> Sequence[str]:
    """The peers of a list, or `all` or `none`; raises SelectionError for another name."""
    if text == "none":
        return []
    if text is None or text == "all":
        return PEERS
    chosen = text.split(",")
    for peer in chosen:
        if peer not in PEERS:
            raise SelectionError(f"no peer '{peer}'; there are {', '.join(PEERS)}")
    return chosen
