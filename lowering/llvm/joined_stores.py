"""Which scatters of a block are stored together, and how: each of them in one way only.

whole rows interleaved    before    blocks transposed    before    some columns of rows masked
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Block, Operation

from ...passes.machine.target import Target
from ..memory.interleaved_stores import InterleavedStores, interleaved_stores
from .transposed_stores import TransposedStores, transposed_stores

JoinedStores = InterleavedStores | TransposedStores


def joined_stores(
    block: Block, target: Target, *, noalias: bool
) -> Mapping[Operation, JoinedStores]:
    """The scatters of a block that are stored together, each with its group.

    `noalias` says that no two memrefs share memory.
    """
    rows = {
        operation: group
        for operation, group in interleaved_stores(block, noalias=noalias).items()
        if not group.needs_mask or target.has_masked_stores(group.element_bytes)
    }
    transposed = transposed_stores(block, noalias=noalias, vector_bits=target.vector_bits)
    result: dict[Operation, JoinedStores] = {}
    for groups in (
        [group for group in rows.values() if group.is_whole],
        [*transposed.values()],
        [*rows.values()],
    ):
        for group in groups:
            if result.keys().isdisjoint(group.scatters):
                result.update(dict.fromkeys(group.scatters, group))
    return result
