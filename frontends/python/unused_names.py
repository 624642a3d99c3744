"""Names for the variables that the front end adds to a function."""

from __future__ import annotations

from collections.abc import Set


def unused_name(stem: str, taken: set[str], others: Set[str] = frozenset()) -> str:
    """The stem, with a number where it is one of `taken` or `others`; from then on it is taken."""
    name, number = stem, 0
    while name in taken or name in others:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    return name
