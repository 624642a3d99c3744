"""How often statements stand in the code because loops around them are unrolled."""

from __future__ import annotations

from ..polyhedral import schedule_tree
from ..polyhedral.schedule_tree import Loop, Tree

MOST_COPIES = 32
"""How often a statement may stand in the code, as a product of unroll factors."""


def copies(tree: Tree) -> int:
    """How often the most repeated statement stands in the code because of unrolling."""
    match tree:
        case Loop(unroll=unroll, within=within, body=body):
            factor = unroll or 1
            if unroll == 0:
                factor = within.size if within is not None else MOST_COPIES
            return factor * copies(body)
        case schedule_tree.Sequence(children):
            return max(map(copies, children))
        case schedule_tree.Leaf():
            return 1
