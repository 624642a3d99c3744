"""Accesses that C makes under a condition on data only, and optimised code always makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ..text.emitter import Block as TextBlock
from .tree import Assignment, Piece

Path: TypeAlias = "tuple[tuple[str, bool], ...]"
"""Branches of conditions on data: the truth value of each, and whether it holds."""
Element: TypeAlias = "tuple[int, str, str]"
"""A block of the text, an array and subscripts."""


class ConditionalAccesses:
    """Collects the accesses of elements, with the conditions that they are under."""

    def __init__(self) -> None:
        self._of: dict[Element, list[tuple[Path, Piece]]] = {}

    def record(
        self, block: TextBlock[Piece], array: str, subscripts: str, path: Path, node: Piece
    ) -> None:
        """An access of an element in a block: a store where `node` is an assignment."""
        self._of.setdefault((id(block), array, subscripts), []).append((path, node))

    @property
    def stores(self) -> dict[str, Piece]:
        """The arrays that are written under a condition on data, each with a place.

        Where the same iteration writes the element in any case, no thread but this one may do so.
        """
        found: dict[str, Piece] = {}
        for (_, name, _), accesses in self._of.items():
            stores = [each for each in accesses if isinstance(each[1], Assignment)]
            if stores and not _always({path for path, _ in stores}):
                found.setdefault(name, stores[0][1])
        return found

    @property
    def written(self) -> frozenset[str]:
        """The arrays that are written."""
        return frozenset(
            name
            for (_, name, _), accesses in self._of.items()
            if any(isinstance(node, Assignment) for _, node in accesses)
        )

    @property
    def pieces(self) -> Iterator[Piece]:
        """What accesses elements that the same iteration may not access otherwise."""
        for accesses in self._of.values():
            if not _always({path for path, _ in accesses}):
                yield from (node for _, node in accesses)


def _always(paths: set[Path]) -> bool:
    """Whether one of several paths of branches is taken in any case."""
    while paths and () not in paths:
        both = {each[:-1] for each in paths if (*each[:-1], _other(each[-1])) in paths}
        if both <= paths:
            return False
        paths = paths | both
    return bool(paths)


def _other(branch: tuple[str, bool]) -> tuple[str, bool]:
    return branch[0], not branch[1]
