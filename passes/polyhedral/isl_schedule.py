"""Conversion of a schedule tree to isl's."""

from __future__ import annotations

from functools import reduce

import islpy as isl

from .schedule_tree import Leaf, Loop, Sequence, Tree, union_schedule
from .scop import Scop


def to_isl(tree: Tree, scop: Scop) -> isl.Schedule:
    """The same order as an isl schedule: one band per loop, one filter per child of a sequence."""
    match tree:
        case Leaf(name):
            return isl.Schedule.from_domain(isl.UnionSet.from_set(scop.statement(name).domain))
        case Loop(body=body):
            return to_isl(body, scop).insert_partial_schedule(union_schedule(tree))
        case Sequence(children):
            if not children:
                return isl.Schedule.from_domain(isl.UnionSet.empty(scop.context.get_space()))
            return reduce(isl.Schedule.sequence, (to_isl(child, scop) for child in children))
