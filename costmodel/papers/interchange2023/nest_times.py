"""Times of interchanges by the networks of `interchange-network`. Inference, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...models.row_network import RowBatch, RowNetwork
from .nest_rows import SECONDS

Rows = NDArray[np.floating[Any]]

LEAST_SECONDS = 1e-12


@dataclass(frozen=True)
class NetworkOptions:
    """`members` networks, the width of their layers, and what they are trained for.

    The softmax is of `sharpness` times the logarithms, the targets of logarithms over `noise`;
    `magnitude` is how much the times themselves count.
    """

    members: int = 3
    width: int = 192
    dropout: float = 0.3
    sharpness: float = 3.0
    noise: float = 0.05
    magnitude: float = 1.0


def logarithms_of_times(network: RowNetwork, batch: RowBatch) -> Rows:
    """The logarithm of the seconds of each interchange."""
    estimates = np.maximum(batch.rows[:, SECONDS], np.float32(LEAST_SECONDS))
    return np.log(batch.sums(estimates * network.factors(batch)) + np.float32(LEAST_SECONDS))
