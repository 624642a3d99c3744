"""Action-value network (deep Q-learning) of Tavarageri et al. 2021."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...models.tensors import descend, from_array, seeded

WIDTH = 64
"""Neurons of a layer; the paper gives none."""

DROPOUT = 0.25
RATE = 3e-3
LONGEST_STEP = 5.0


class ActionValues:
    """Two blocks of dense, batch-normalisation and dropout layers; one output per action."""

    def __init__(self, features: int, actions: int, seed: int) -> None:
        with seeded(seed):
            self._network = nn.Sequential(
                *_block(features, WIDTH), *_block(WIDTH, WIDTH), nn.Linear(WIDTH, actions)
            )
        self._seed = seed
        self._steps = 0
        self._optimiser = torch.optim.Adam(self._network.parameters(), RATE)

    def values(self, states: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each action is worth, as far as known: (states, features) -> (states, actions)."""
        self._network.eval()
        with torch.inference_mode():
            found: Tensor = self._network(from_array(states.astype(np.float32)))
        return found.numpy().astype(np.float64)

    def fit(
        self,
        states: NDArray[np.float64],
        actions: Sequence[int],
        targets: NDArray[np.float64],
        steps: int,
    ) -> None:
        """Makes the values of actions in states (count, features) those of `targets` (count,)."""
        self._network.train()
        inputs = from_array(states.astype(np.float32))
        wanted = from_array(targets.astype(np.float32))
        taken = torch.tensor(list(actions))[:, None]
        self._steps += 1
        with seeded(self._seed + self._steps):
            for _ in range(steps):
                found: Tensor = self._network(inputs).gather(1, taken)[:, 0]
                loss = nn.functional.smooth_l1_loss(found, wanted)
                descend(loss, self._optimiser, LONGEST_STEP)


def _block(inputs: int, outputs: int) -> list[nn.Module]:
    return [
        nn.Linear(inputs, outputs),
        nn.ReLU(),
        nn.BatchNorm1d(outputs),
        nn.Dropout(DROPOUT),
    ]
