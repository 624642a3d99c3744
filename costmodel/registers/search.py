"""A search in which an agent chooses the register tiles of a program, band by band."""

from __future__ import annotations

from dataclasses import dataclass

from ...passes.search.ledger import Ledger
from ...passes.search.space.register_bands import Band, RegisterSpace, State
from .learner import SHARE, Agent, measurements


@dataclass(frozen=True)
class RegisterSearch:
    """An agent for every band, one after the other; the others keep their best factors so far.

    `share` of the states of a band are measured, at least a few.
    """

    share: float = SHARE

    def explore(self, ledger: Ledger) -> None:
        """Measures until every band is done, or the time is up."""
        task = ledger.task
        space = RegisterSpace(task.original, task.request)
        chosen: dict[Band, State] = {}
        for band in space.bands:

            def speed(state: State, band: Band = band) -> float:
                found = space.schedule({**chosen, band: state})
                return 0.0 if found is None else ledger.measure([found])[0]

            walk = Agent(band, task.seed).learn(speed, measurements(band, self.share))
            chosen[band] = walk.best
