"""Choice of peers by name, and their variants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..selection import SelectionError
from ..variant import Variant
from . import compilers, python
from .names import COMPILERS, named_peers


def select_peers(text: str | None) -> Sequence[str]:
    """The peers that a list names, or `all` or `none`; raises SelectionError.

    All are asked for where nothing is said: those that are not installed have no variants.
    """
    chosen = named_peers(text)
    for peer in () if text in (None, "all") else chosen:
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
