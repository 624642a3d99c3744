"""Q-learning agent that chooses the register tile of a band.

"AI Powered Compiler Techniques for DL Code Optimization" (2021), section 4.2: actions raise or
lower one factor or end the walk, the reward is the relative change of the measured speed. A state
is measured once; walks over states that are known cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log, log2
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....support.extras import extra_for
from .register_bands import Band, State

if TYPE_CHECKING:
    from .action_values import ActionValues

SHARE = 0.1
"""Of the states of a band are measured."""

LEAST = 4
"""States that are measured in any case, where there are as many."""

DISCOUNT = 0.8
"""What a reward one step later is worth."""

FIRST_EXPLORATION = 0.9
"""How often an action is random in the beginning ..."""

LAST_EXPLORATION = 0.1
"""... and in the end; from one measurement to the next it decays by the same factor."""

RESTARTS = 0.5
"""How often a random action is a new beginning: walks alone stay near the first state."""

TRAINING = 12
"""Steps of training after each measurement."""

LONGEST_WALK = 40
"""Actions in a row over states that are known; the next one leads to an unknown state."""

REWARD_LIMIT = 2.0
"""Larger rewards, as for leaving code that cannot be run at all, count as so much."""


@dataclass(frozen=True)
class Walk:
    """Trajectory of an agent: the measured speed of each visited state."""

    speeds: Mapping[State, float]

    @property
    def best(self) -> State:
        """The fastest state."""
        return max(self.speeds, key=lambda state: self.speeds[state])


def measurements(band: Band, share: float = SHARE) -> int:
    """How many states of a band an agent may measure."""
    return min(len(band.states), max(LEAST, round(share * len(band.states))))


class Agent:
    """Q-learning agent of one band."""

    def __init__(self, band: Band, seed: int = 0) -> None:
        with extra_for("learning register tiles"):
            from .action_values import ActionValues

        self.band = band
        self.speeds: dict[State, float] = {}
        self._random = Random(seed)
        self._actions: tuple[tuple[int, bool] | None, ...] = (
            None,
            *((loop, up) for loop in range(len(band.loops)) for up in (True, False)),
        )
        features = len(self._features(band.start))
        self._network: ActionValues = ActionValues(features, len(self._actions), seed)

    def learn(self, speed: Callable[[State], float], count: int) -> Walk:
        """Walks from the start until `count` states are measured, or all; `speed` measures one."""
        exploration = FIRST_EXPLORATION
        decay = (LAST_EXPLORATION / FIRST_EXPLORATION) ** (1 / max(1, count - 1))
        state, length = self.band.start, 0
        self.speeds[state] = speed(state)
        while len(self.speeds) < count:
            is_random = self._random.random() < exploration
            following = self._step(state, is_random=is_random)
            if following is None or (is_random and self._random.random() < RESTARTS):
                following = self._begin(is_random=is_random)
            if length >= LONGEST_WALK:
                following = self._frontier()
            length += 1
            if following not in self.speeds:
                length = 0
                self.speeds[following] = speed(following)
                exploration *= decay
                self._train()
            state = following
        return Walk(dict(self.speeds))

    def _begin(self, *, is_random: bool) -> State:
        """Where a walk begins: at an unknown state, or at the best one."""
        if not is_random:
            return Walk(self.speeds).best
        return self._random.choice([s for s in self.band.states if s not in self.speeds])

    def _step(self, state: State, *, is_random: bool) -> State | None:
        """Where an action leads; None for the action that ends a walk."""
        results = self._results(state)
        possible = [number for number, result in enumerate(results) if result is not None]
        if is_random:
            return results[self._random.choice(possible)] if possible else None
        values = self._network.values(self._features(state)[None, :])[0]
        best = max([0, *possible], key=lambda number: float(values[number]))
        return results[best]

    def _results(self, state: State) -> list[State | None]:
        """The state after each action; None for what is not possible, and for the end."""
        return [
            None if action is None else self.band.move(state, *action) for action in self._actions
        ]

    def _frontier(self) -> State:
        """An unknown neighbour of the fastest state that has one."""
        for state in sorted(self.speeds, key=lambda state: -self.speeds[state]):
            unknown = [s for s in self._results(state) if s is not None and s not in self.speeds]
            if unknown:
                return self._random.choice(unknown)
        return self._begin(is_random=True)

    def _train(self) -> None:
        """Learns from every step between two known states, and that the end is worth nothing."""
        states: list[State] = []
        actions: list[int] = []
        rewards: list[float] = []
        nexts: list[State | None] = []
        for state, speed in self.speeds.items():
            for number, following in enumerate(self._results(state)):
                if number == 0 or following in self.speeds:
                    states.append(state)
                    actions.append(number)
                    nexts.append(following)
                    rewards.append(_reward(speed, self.speeds.get(following or state, 0.0)))
        features = {state: self._features(state) for state in self.speeds}
        inputs = np.stack([features[state] for state in states])
        worths = self._worths(features)
        later = np.array([0.0 if state is None else worths[state] for state in nexts])
        self._network.fit(inputs, actions, np.array(rewards) + DISCOUNT * later, TRAINING)

    def _worths(self, features: Mapping[State, NDArray[np.float64]]) -> dict[State, float]:
        """The value of the best action that is possible in each state; that of the end is 0."""
        values = self._network.values(np.stack(list(features.values())))
        possible = [[result is not None for result in self._results(state)] for state in features]
        best = np.max(values, axis=1, initial=0.0, where=np.array(possible))
        return dict(zip(features, map(float, best), strict=True))

    def _features(self, state: State) -> NDArray[np.float64]:
        """What the network sees: factors, what they leave over, how many registers they need."""
        found: list[float] = []
        for factor, extent, ladder in zip(state, self.band.extents, self.band.ladders, strict=True):
            waste = -extent % factor / max(1, extent)
            found += [log2(factor), ladder.index(factor) / len(ladder), min(1.0, waste)]
        used = self.band.copies(state) / self.band.registers
        return np.array([*found, used, log2(self.band.copies(state))])


def _reward(before: float, after: float) -> float:
    """The relative change of the speed, as a logarithm: going back and forth gains nothing."""
    if min(before, after) <= 0.0:
        return REWARD_LIMIT * ((after > 0.0) - (before > 0.0))
    return max(-REWARD_LIMIT, min(REWARD_LIMIT, log(after / before)))
