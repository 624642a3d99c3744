"""Search algorithms and their options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from .search_state import SearchState
from .space.loop_pairs import LoopPairModel
from .space.stages import SPACES, Stage, with_loop_pairs


class Search(Protocol):
    """A search algorithm; `searching.search` runs it."""

    def explore(self, state: SearchState) -> None:
        """Asks the state for predictions and measurements of schedules, which it remembers.

        It stops when it has nothing more to ask; the state ends it sooner, when the time is up.
        """
        ...


@dataclass(frozen=True)
class SearchOptions:
    """User options: beam width, search space, a model of loop pairs."""

    beam: int = 3
    space: str = "full"
    loop_pairs: LoopPairModel | None = None

    @property
    def stages(self) -> Sequence[Stage]:
        """The levels of the space."""
        stages = SPACES[self.space]
        return stages if self.loop_pairs is None else with_loop_pairs(stages, self.loop_pairs)


@dataclass(frozen=True)
class SearchKind:
    """A search algorithm as an entry in the registry (`searches.py`).

    `runs` is when it runs candidates: where there is a budget for the best at the end, all the
    time within a budget that must be given, or all the time until it has learned enough. One that
    `ranks` asks the task's ranker. `ignores` are the options of `loopwright tune` that mean nothing
    to it, and `way` is why: `tries its own orders of loops`.
    """

    make: Callable[[SearchOptions], Search]
    runs: Literal["at the end", "within a budget", "until it has learned"] = "at the end"
    ranks: bool = False
    ignores: tuple[str, ...] = ()
    way: str = ""
