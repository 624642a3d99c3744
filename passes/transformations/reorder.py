"""Statement reordering within a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..polyhedral.schedule_tree import Sequence, Tree, replace_node, statements, walk
from ..schedules.errors import MalformedTransformation
from ..schedules.schedule import Schedule, Transformation, option


@dataclass(frozen=True)
class Reorder(Transformation):
    """Puts statements, or the loops around them, into the given order.

    Moved are the whole parts of the innermost common body of these statements, one part for each
    of them; parts that are not named stay where they are. `reorder{statements=S1,S0}`:

        for i:                  for i:
          S0[i]         ->        for j:
          for j:                    S1[i, j]
            S1[i, j]              S0[i]
    """

    name: ClassVar[str] = "reorder"
    symbol: ClassVar[str] = "O"

    loops: tuple[str, ...] = option("none: statements say what moves", default=())
    statements: tuple[str, ...] = option("one statement of each part, in order", default=())

    @property
    def subject(self) -> str:
        return f"reorder of {', '.join(self.statements)}"

    def rewrite(self, schedule: Schedule) -> Tree:
        if self.loops:
            raise MalformedTransformation("it takes no loops: name statements inside them")
        self._check_names(statements(schedule.tree))
        parent = self._parent(schedule.tree)
        parts = {name: _part(parent, name) for name in self.statements}
        if len(set(parts.values())) < len(parts):
            raise MalformedTransformation("some of these statements are in one loop; name one each")
        places = iter(sorted(parts.values()))
        order = list(parent.children)
        for name in self.statements:
            order[next(places)] = parent.children[parts[name]]
        return replace_node(schedule.tree, parent, Sequence(tuple(order)))

    def _check_names(self, known: tuple[str, ...]) -> None:
        if len(set(self.statements)) < max(2, len(self.statements)):
            raise MalformedTransformation("name at least two different statements")
        for name in self.statements:
            if name not in known:
                raise MalformedTransformation(
                    f"there is no statement {name}; there are {', '.join(known)}"
                )

    def _parent(self, tree: Tree) -> Sequence:
        """The innermost sequence that has all the statements."""
        around = [
            node
            for node in walk(tree)
            if isinstance(node, Sequence) and set(self.statements) <= set(statements(node))
        ]
        return around[-1]


def _part(parent: Sequence, name: str) -> int:
    return next(n for n, child in enumerate(parent.children) if name in statements(child))
