"""Storage of local arrays under a schedule, by the rule of `lowering/loops/storage.py`.

A scalar inside of loops is an array with a dimension per loop. It is allocated inside the outermost
loops that all of its users share and that follow from its subscripts: these dimensions are gone.
Of a dimension that a loop over tiles cuts, a tile stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...passes.polyhedral.schedule_tree import Loop
from ...passes.polyhedral.scop import Scop
from .linear import LinearForm
from .statements import StatementProfile

Kept = frozenset[tuple[str, int, float]]
"""Dimensions of arrays: name, position, number of elements."""


@dataclass(frozen=True)
class LocalArray:
    """An array whose first subscripts are the outermost iterators of its users."""

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
            access.coefficients[:depth]
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
            home = _home(array, paths, forms) if len(here) == len(array.users) else []
            kept = _inside(home, array.extents)
            found |= {(name, d, extent) for d, extent in enumerate(kept) if extent > 1.0}
    return frozenset(found)


def _home(
    array: LocalArray,
    paths: Mapping[str, tuple[Loop, ...]],
    forms: Mapping[str, tuple[LinearForm, ...]],
) -> list[LinearForm]:
    """The functions of the loops around the array's home, which depend on its dimensions only."""
    depth = len(array.extents)
    home: list[LinearForm] = []
    loops = zip(*(paths[user] for user in array.users), strict=False)
    functions = zip(*(forms[user] for user in array.users), strict=False)
    for shared, each in zip(loops, functions, strict=False):
        first = each[0]
        if any(loop is not shared[0] for loop in shared):
            break
        if shared[0].run_time_size is not None:
            continue
        if any(
            any(form.slopes[depth:])
            or (form.slopes[:depth], form.constant) != (first.slopes[:depth], first.constant)
            for form in each
        ):
            break
        home.append(first)
    return home


def _inside(home: Sequence[LinearForm], extents: Sequence[float]) -> list[float]:
    """How many elements of each dimension one iteration of all these loops needs."""
    exact = [form.slopes[: len(extents)] for form in home if not form.rounds]
    left = list(extents)
    for form in home:
        if form.rounds and not form.skewed:
            for d, slope in form.terms:
                left[d] = min(left[d], 1.0 / slope)
    if exact:
        rank = np.linalg.matrix_rank
        known = rank(np.array(exact))
        for d, row in enumerate(np.eye(len(left)).tolist()):
            if rank(np.array([*exact, row])) == known:
                left[d] = 1.0
    return left
