"""Searches for register tiles by reinforcement learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ....passes.schedules.schedule import Schedule
from ....passes.search.algorithm import Search
from ....passes.search.search_state import SearchState
from .register_agent import SHARE, Agent, measurements
from .register_bands import Band, RegisterSpace, State
from .register_steps import RegisterSteps

TILES_SHARE = 0.6
"""Of the time is for the search that comes before."""


class Space(Protocol):
    """Bands, and the schedule of each state."""

    @property
    def bands(self) -> tuple[Band, ...]: ...

    def schedule(self, states: dict[Band, State]) -> Schedule | None: ...


@dataclass(frozen=True)
class RegisterSearch:
    """Coordinate descent over bands: one agent each, the others keep their best factors so far.

    Where no band can be planned anew, it is the last register tile of the default schedule.
    `share` of the states of a band are measured, at least a few.
    """

    share: float = SHARE

    def explore(self, state: SearchState) -> None:
        """Measures until every band is done, or the time is up."""
        original, context = state.task.original, state.task.context
        space = RegisterSpace(original, context)
        steps = RegisterSteps(original, space.default, context)
        learn(state, space if space.bands else steps, self.share)


@dataclass(frozen=True)
class TilesThenRegisters:
    """A search for tiles, then an agent for the register tile of the fastest measured schedule."""

    tiles: Search
    share: float = SHARE

    def explore(self, state: SearchState) -> None:
        """Measures until both are done, or the time is up."""
        task = state.task
        with state.at_most(TILES_SHARE * state.seconds_left):
            self.tiles.explore(state)
        for best in state.proven()[:1]:
            learn(state, RegisterSteps(task.original, best, task.context), self.share)


def learn(state: SearchState, space: Space, share: float) -> None:
    """Measures a share of the states of each band, as an agent wants."""
    chosen: dict[Band, State] = {}
    if not space.bands:
        state.remarks.append("no band of loops can be jammed: there is nothing to learn")
    for band in space.bands:

        def speed(factors: State, band: Band = band) -> float:
            found = space.schedule({**chosen, band: factors})
            return 0.0 if found is None else state.measure([found])[0]

        walk = Agent(band, state.task.seed).learn(speed, measurements(band, share))
        chosen[band] = walk.best
