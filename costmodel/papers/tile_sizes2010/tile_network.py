"""The network of Rahman et al. 2010, one per program.

As many inputs as tiled loops, 30 logistic neurons, one linear output: 3-30-1 for three loops. It is
trained with resilient propagation on all samples at once, a tenth of which is held out to stop in
time (sections 3.2 and 3.3). Several networks, of the same number of samples each, are trained side
by side: resilient propagation treats every weight by itself, so they do not notice each other.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[np.float64]

HIDDEN = 30

RATE = 1e-3
"""The first step of resilient propagation."""

EPOCHS = 3000

PATIENCE = 300
"""Epochs without an improvement on what is held out, after which training ends."""

HELD_OUT = 0.1


class TileNetworks:
    """Networks of one shape; inputs and outputs are scaled to each training set."""

    def __init__(self, inputs: Array, values: Array, seed: int) -> None:
        """Trains a network on each of `inputs` (network, sample, loop) and `values`."""
        count, samples, width = inputs.shape
        generator = torch.Generator().manual_seed(seed)
        x, y = torch.as_tensor(inputs).float(), torch.as_tensor(values).float()
        self._low, high = x.amin(1, keepdim=True), x.amax(1, keepdim=True)
        self._span = (high - self._low).clamp(min=1e-6)
        self._mean, self._deviation = y.mean(1, keepdim=True), y.std(1, keepdim=True) + 1e-12
        x, y = (x - self._low) / self._span, (y - self._mean) / self._deviation
        held = max(1, round(HELD_OUT * samples))
        order = torch.argsort(torch.rand(count, samples, generator=generator), 1)
        x = torch.gather(x, 1, order[..., None].expand(-1, -1, width))
        y = torch.gather(y, 1, order)
        shapes = ((count, width, HIDDEN), (count, 1, HIDDEN), (count, HIDDEN, 1), (count, 1, 1))
        self._weights = [
            (torch.rand(shape, generator=generator) * 2 - 1).requires_grad_() for shape in shapes
        ]
        self._train(x[:, held:], y[:, held:], x[:, :held], y[:, :held])

    def _train(self, x: Tensor, y: Tensor, held_x: Tensor, held_y: Tensor) -> None:
        optimizer = torch.optim.Rprop(self._weights, lr=RATE)
        best = torch.full((len(x),), torch.inf)
        kept = [weight.detach().clone() for weight in self._weights]
        since = 0
        for _ in range(EPOCHS):
            optimizer.zero_grad()
            torch.sum((self._apply(x) - y) ** 2).backward()  # pyright: ignore[reportUnknownMemberType]
            optimizer.step()  # pyright: ignore[reportUnknownMemberType]
            with torch.no_grad():
                error = torch.sum((self._apply(held_x) - held_y) ** 2, 1)
                better = error < best
                best = torch.where(better, error, best)
                for weight, copy in zip(self._weights, kept, strict=True):
                    copy[better] = weight[better]
            since = 0 if bool(better.any()) else since + 1
            if since > PATIENCE:
                break
        self._weights = kept

    def _apply(self, x: Tensor) -> Tensor:
        first, first_bias, second, second_bias = self._weights
        hidden = torch.sigmoid(torch.baddbmm(first_bias, x, first))
        return torch.baddbmm(second_bias, hidden, second)[..., 0]

    def predict(self, inputs: Array) -> Array:
        """What each network says of the same points: (network, point)."""
        with torch.no_grad():
            x = torch.as_tensor(inputs).float()[None]
            result = self._apply((x - self._low) / self._span)
            scaled: Array = (result * self._deviation + self._mean).double().numpy()
            return scaled
