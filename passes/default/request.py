"""What a default schedule is chosen for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..polyhedral.scop import Scop
from ..schedule_tree import Tree
from .facts import Facts, StatementFacts

NestKey = tuple[int, bool, bool, tuple[int, ...]]
"""A nest, whether the innermost loops have explicit vectors, whether sums may be reassociated, and
the statements.
"""


@dataclass(frozen=True)
class Request:
    """Values of all sizes by name, and how many threads will run the program (at least 1)."""

    sizes: Mapping[str, int]
    threads: int
    _facts: dict[int, Facts] = field(default_factory=dict[int, Facts], compare=False, repr=False)
    _statements: dict[int, StatementFacts] = field(
        default_factory=dict[int, StatementFacts], compare=False, repr=False
    )
    nests: dict[NestKey, tuple[Tree, float]] = field(
        default_factory=dict[NestKey, tuple[Tree, float]], compare=False, repr=False
    )
    """Estimated seconds of nests, which are kept, so that their ids stay their own."""

    def facts(self, scop: Scop) -> Facts:
        """What is known of the statements of a program at these sizes, found out once."""
        found = self._facts.get(id(scop))
        if found is None:
            # Steps that change a program leave most of its statements as they are.
            statements = {
                statement.name: self._statements.setdefault(
                    id(statement), StatementFacts(statement, self.sizes)
                )
                for statement in scop.statements
            }
            found = self._facts[id(scop)] = Facts(scop, self.sizes, statements)
        return found
