"""Which dimensions of local arrays stay under some loops: the rule of `lowering/storage.py`.

A scalar inside of loops is an array with a dimension per loop. It is allocated inside the outermost
loops that all of its users share and that follow from its subscripts: these dimensions are gone.
Loops over tiles do not count here: the code generator keeps a tile where this says a whole row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...passes.default.facts import coefficients
from ...passes.polyhedral.scop import Scop
from ...passes.schedule_tree import Loop
from .linear import LinearForm
from .statements import StatementProfile

Kept = frozenset[tuple[str, int, float]]
"""Dimensions of arrays: name, position, number of elements."""


@dataclass(frozen=True)
class LocalArray:
    """An array whose first subscripts are the first iterators of its users, so many of each."""

    extents: tuple[float, ...]
    users: frozenset[str]


def local_arrays(
    scop: Scop, statements: Mapping[str, StatementProfile]
) -> Mapping[str, LocalArray]:
    """The local arrays that live inside of loops, of the statements that run at all."""
    running = [each for each in scop.statements if statements[each.name].instances]
    found: dict[str, LocalArray] = {}
    for array in scop.arrays:
        users = [each for each in running if any(a.array == array for a in each.accesses)]
        depth = array.scope_depth
        if not array.is_local or not depth or not users:
            continue
        rows = (
            coefficients(access.map)[:depth]
            for user in users
            for access in user.accesses
            if access.array == array
        )
        if all(_is_identity(each) for each in rows):
            profiles = [statements[user.name] for user in users]
            found[array.name] = LocalArray(
                tuple(max(p.high[d] - p.low[d] + 1.0 for p in profiles) for d in range(depth)),
                frozenset(user.name for user in users),
            )
    return found


def _is_identity(rows: Sequence[Sequence[int]]) -> bool:
    return all(
        number < len(row) and row[number] == 1 and sum(map(abs, row)) == 1
        for number, row in enumerate(rows)
    )


def kept_dimensions(
    arrays: Mapping[str, LocalArray],
    paths: Mapping[str, tuple[Loop, ...]],
    forms: Mapping[str, tuple[LinearForm, ...]],
) -> Kept:
    """The dimensions that stay where statements run under these loops, in one nest."""
    found: set[tuple[str, int, float]] = set()
    for name, array in arrays.items():
        here = [user for user in array.users if user in paths]
        if here:
            gone = _gone(array, paths, forms) if len(here) == len(array.users) else set[int]()
            found |= {(name, d, extent) for d, extent in enumerate(array.extents) if d not in gone}
    return frozenset(found)


def _gone(
    array: LocalArray,
    paths: Mapping[str, tuple[Loop, ...]],
    forms: Mapping[str, tuple[LinearForm, ...]],
) -> set[int]:
    """The dimensions that the loops around the array's home determine."""
    depth = len(array.extents)
    home: list[tuple[float, ...]] = []
    loops = zip(*(paths[user] for user in array.users), strict=False)
    functions = zip(*(forms[user] for user in array.users), strict=False)
    for shared, each in zip(loops, functions, strict=False):
        first = each[0].slopes[:depth]
        if (
            any(loop is not shared[0] for loop in shared)
            or any(any(form.slopes[depth:]) for form in each)
            or any(
                (form.slopes[:depth], form.constant) != (first, each[0].constant) for form in each
            )
        ):
            break
        if not each[0].rounds:
            home.append(first)
    rank = np.linalg.matrix_rank
    identity = np.eye(depth).tolist()
    return {
        d
        for d in range(depth)
        if home and rank(np.array([*home, identity[d]])) == rank(np.array(home))
    }
