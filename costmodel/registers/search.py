"""Searches in which an agent chooses register tiles: of a program, or of what was found before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...passes.schedules.schedule import Schedule
from ...passes.search.ledger import Ledger
from ...passes.search.protocols import Search
from ...passes.search.space.register_bands import Band, RegisterSpace, State
from ...passes.search.space.register_steps import RegisterSteps
from .learner import SHARE, Agent, measurements

TILES_SHARE = 0.6
"""Of the time is for the search that comes before."""


class Space(Protocol):
    """Bands, and schedules for their states."""

    @property
    def bands(self) -> tuple[Band, ...]: ...

    def schedule(self, states: dict[Band, State]) -> Schedule | None: ...


@dataclass(frozen=True)
class RegisterSearch:
    """An agent for every band, one after the other; the others keep their best factors so far.

    Where no band can be planned anew, it is the last register tile of the default schedule.
    `share` of the states of a band are measured, at least a few.
    """

    share: float = SHARE

    def explore(self, ledger: Ledger) -> None:
        """Measures until every band is done, or the time is up."""
        original, request = ledger.task.original, ledger.task.request
        space = RegisterSpace(original, request)
        steps = RegisterSteps(original, space.default, request)
        learn(ledger, space if space.bands else steps, self.share)


@dataclass(frozen=True)
class TilesThenRegisters:
    """A search for tiles, and an agent for the register tile of the fastest schedule it has run."""

    tiles: Search
    share: float = SHARE

    def explore(self, ledger: Ledger) -> None:
        """Measures until both are done, or the time is up."""
        task = ledger.task
        with ledger.at_most(TILES_SHARE * ledger.seconds_left):
            self.tiles.explore(ledger)
        for best in ledger.proven()[:1]:
            learn(ledger, RegisterSteps(task.original, best, task.request), self.share)


def learn(ledger: Ledger, space: Space, share: float) -> None:
    """Measures a share of the states of each band, as an agent wants."""
    chosen: dict[Band, State] = {}
    if not space.bands:
        ledger.remarks.append("no band of loops can be jammed: there is nothing to learn")
    for band in space.bands:

        def speed(state: State, band: Band = band) -> float:
            found = space.schedule({**chosen, band: state})
            return 0.0 if found is None else ledger.measure([found])[0]

        walk = Agent(band, ledger.task.seed).learn(speed, measurements(band, share))
        chosen[band] = walk.best
