"""Lookup of a schedule tree's loops by name."""

from __future__ import annotations

import difflib

from ...support.typed_values import check_kind
from ..polyhedral.schedule_tree import (
    Leaf,
    Loop,
    Sequence,
    Tree,
    chain,
    loops,
    path,
    run_time_sizes,
    statements,
)
from .errors import MalformedTransformation


class NamedLoops:
    """A schedule tree whose loops are addressed by name; `S1.j` is the loop `j` around S1."""

    tree: Tree

    def loop(self, name: str) -> Loop:
        """The loop called `name`, or `S1.name` for the one around S1.

        Raises MalformedTransformation, with the loops that exist.
        """
        check_kind("loop: name", name, str, "a text")
        return self._unique(name, self._candidates(name))

    def find_loops(self, names: tuple[str, ...]) -> tuple[Loop, ...]:
        """The loops with these names; an ambiguous one is what shares a nest with the others.

        Raises MalformedTransformation.
        """
        check_kind("the names of loops", names, (tuple, list), "a tuple of texts")
        for name in names:
            check_kind("a name of a loop", name, str, "a text")
        candidates = [self._candidates(name) for name in names]
        certain = [found[0] for found in candidates if len(found) == 1]
        return tuple(
            self._unique(name, found if len(found) == 1 else _related(found, certain) or found)
            for name, found in zip(names, candidates, strict=True)
        )

    def chain(self, names: tuple[str, ...]) -> tuple[Loop, ...]:
        """The named loops, outermost first, which must be directly inside each other.

        Raises MalformedTransformation.
        """
        found = self.find_loops(names)
        if not found:
            raise MalformedTransformation("name at least one loop")
        for number, loop in enumerate(found):
            if any(loop is other for other in found[:number]):
                raise MalformedTransformation(f"loop {loop.name} is named twice")
        for start in found:
            members = chain(start)[: len(found)]
            if all(any(loop is member for member in members) for loop in found):
                return members
        raise MalformedTransformation(
            f"{', '.join(names)} are not directly inside each other{self._between(found)}; "
            f"the loops are {self.describe_loops()}"
        )

    def outer(self, node: Tree) -> tuple[Loop, ...]:
        """The loops around a node of the tree, outermost first."""
        check_kind("node", node, (Loop, Sequence, Leaf), "a part of the tree, as loop(NAME) has it")
        return tuple(n for n in path(self.tree, node)[:-1] if isinstance(n, Loop))

    def taken_names(self, loop: Loop) -> set[str]:
        """Names of all loops on paths through `loop`."""
        return {other.name for other in (*self.outer(loop), *loops(loop))}

    def short_name(self, loop: Loop) -> str:
        """The loop's name, with its first statement in front where it is ambiguous."""
        alone = sum(other.name == loop.name for other in loops(self.tree)) == 1
        return loop.name if alone else f"{statements(loop)[0]}.{loop.name}"

    def describe_loops(self) -> str:
        """The names of all loops, outermost first."""
        return ", ".join(self.short_name(loop) for loop in loops(self.tree)) or "none"

    @property
    def run_time_sizes(self) -> tuple[str, ...]:
        """Names of the tile sizes that calls of the kernel give."""
        return run_time_sizes(self.tree)

    def _between(self, members: tuple[Loop, ...]) -> str:
        """What keeps loops apart that are not directly inside each other, and what to do."""
        outermost = min(members, key=lambda loop: len(path(self.tree, loop)))
        if not all(any(loop is inner for inner in loops(outermost)) for loop in members):
            return ""
        nest = chain(outermost)
        if all(any(loop is inner for inner in nest) for loop in members):
            return ": name those between them, too"
        return f": try distribute{{loops={self.short_name(nest[-1])}}} first"

    def _candidates(self, name: str) -> list[Loop]:
        statement, _, own = name.rpartition(".")
        return [
            loop
            for loop in loops(self.tree)
            if loop.name == own and (not statement or statement in statements(loop))
        ]

    def _unique(self, name: str, candidates: list[Loop]) -> Loop:
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            which = " or ".join(self.short_name(loop) for loop in candidates)
            raise MalformedTransformation(f"loop {name} is ambiguous: say {which}")
        names = [self.short_name(loop) for loop in loops(self.tree)]
        close = difflib.get_close_matches(name, names, 1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        raise MalformedTransformation(
            f"there is no loop {name}{hint}; the loops are {self.describe_loops()}"
        )


def _related(candidates: list[Loop], others: list[Loop]) -> list[Loop]:
    """The candidates that are inside or around all the other loops."""
    return [
        loop
        for loop in candidates
        if all(
            any(inner is other for inner in loops(loop))
            or any(inner is loop for inner in loops(other))
            for other in others
        )
    ]
