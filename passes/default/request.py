"""What a default schedule is chosen for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..polyhedral.scop import Scop
from .facts import Facts


@dataclass(frozen=True)
class Request:
    """Values of all sizes by name, and how many threads will run the program (at least 1)."""

    sizes: Mapping[str, int]
    threads: int
    _facts: dict[int, Facts] = field(default_factory=dict[int, Facts], compare=False, repr=False)

    def facts(self, scop: Scop) -> Facts:
        """What is known of the statements of a program at these sizes, found out once."""
        return self._facts.setdefault(id(scop), Facts(scop, self.sizes))
