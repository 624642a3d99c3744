"""Choice of peers by name, and their variants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..selection import SelectionError
from ..variant import Variant
from . import compilers, python
from .libraries import LIBRARIES

COMPILERS = ("clang", "gcc", "polly")
PEERS = (*COMPILERS, *LIBRARIES)


def select_peers(text: str | None) -> list[str]:
    """The peers that a list names, or `all` or `none`; raises SelectionError.

    All are asked for where nothing is said: those that are not installed have no variants.
    """
    if text == "none":
        return []
    if text is None or text == "all":
        return list(PEERS)
    chosen = text.split(",")
    for peer in chosen:
        if peer not in PEERS:
            raise SelectionError(f"no peer '{peer}'; there are {', '.join(PEERS)}")
        is_there = compilers.find(peer) if peer in COMPILERS else python.installed(peer)
        if not is_there:
            raise SelectionError(f"{peer} is not installed")
    return chosen


def peer_variants(
    peers: Sequence[str], threads: Sequence[int], workers: python.Workers
) -> Iterator[Variant]:
    """The variants of peers."""
    for peer in peers:
        if peer in COMPILERS:
            yield from compilers.variants(peer, threads)
        else:
            yield from python.variants(peer, threads, workers)
