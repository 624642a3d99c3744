"""Statements that share cells of a local array: only they hand each other values through it."""

from __future__ import annotations

from functools import reduce
from typing import cast

import islpy as isl

from .scop import Array, Scop


def sharing_statements(scop: Scop, array: Array) -> tuple[frozenset[str], ...]:
    """The statements that access a local array, in groups that have no cell in common.

    Those of an array without expanded dimensions, and of one that is passed on, are one group.
    """
    known = cast(
        dict[str, tuple[frozenset[str], ...]], scop.memory.setdefault("sharing_statements", {})
    )
    if array.name not in known:
        known[array.name] = _groups(scop, array)
    return known[array.name]


def _groups(scop: Scop, array: Array) -> tuple[frozenset[str], ...]:
    accesses = {
        statement.name: own
        for statement in scop.statements
        if (own := [access for access in statement.accesses if access.array == array])
    }
    if array.scope_depth == 0 or any(a.is_opaque for own in accesses.values() for a in own):
        return (frozenset(accesses),) if accesses else ()
    groups: list[tuple[frozenset[str], isl.Set]] = []
    for name, own in accesses.items():
        cells = reduce(isl.Set.union, (access.relation.range() for access in own))
        apart = [group for group in groups if group[1].is_disjoint(cells)]
        joined = [group for group in groups if group not in apart]
        names = frozenset({name}).union(*(names for names, _ in joined))
        groups = [*apart, (names, reduce(isl.Set.union, (part for _, part in joined), cells))]
    return tuple(names for names, _ in groups)
