"""Model `interchange-network` (ours): networks that rank corrected estimates.

The rows and the two ends are those of `trees`: the softmax of the logarithms of the times is to
give the fastest interchange, and the times are to be right up to a factor that all interchanges of
a program have in common. Several networks are averaged. Prediction is in NumPy;
`ranking_network_training` trains with torch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ....support.blas_threads import one_blas_thread
from ....support.extras import extra_for
from ...learning.examples import ProgramExamples
from ...models.learned_model import TrainingOptions
from ...models.model_options import read_options
from ...models.row_network import RowBatch, RowNetwork
from .classes import CLASSES, SHOTS
from .interchange_model import InterchangeModel
from .nest_rows import NAMES, SECONDS, RowDescription
from .nest_times import NetworkOptions, logarithms_of_times


class InterchangeNetwork(InterchangeModel):
    """The model `interchange-network`."""

    name: ClassVar[str] = "interchange-network"
    trained: ClassVar[Path | None] = Path(__file__).parent / "weights" / "interchange-network.npz"
    sees_machine: ClassVar[bool] = True
    sees_fast_math: ClassVar[bool] = True
    trains_with: ClassVar[str | None] = "torch"

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """Networks that correct nothing yet; raises LearningError for unknown options."""
        self.options = read_options(NetworkOptions, configuration, self.name)
        super().__init__(dataclasses.asdict(self.options))
        self.networks = [
            RowNetwork(len(NAMES), SECONDS, self.options.width) for _ in range(self.options.members)
        ]

    @property
    def description(self) -> RowDescription:
        """Rows of all interchanges of a nest."""
        return RowDescription()

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains one network after the other."""
        with extra_for(f"training {self.name}"):
            from .ranking_network_training import train

        train(self.networks, training, validation, self.options, options)

    def ratings(self, nests: Sequence[Any]) -> NDArray[np.float64]:
        """Logarithms of predicted rates, the same for every shot; -inf where there is no class."""
        result = np.full((len(nests), SHOTS, len(CLASSES)), -np.inf)
        batch = RowBatch.of([rows for each in nests for rows in each.rows])
        with one_blas_thread():
            found = [logarithms_of_times(network, batch) for network in self.networks]
        logarithms = np.mean(found, axis=0)
        start = 0
        for position, each in enumerate(nests):
            own = logarithms[start : start + len(each.classes)]
            result[position, :, list(each.classes)] = -own[:, None]
            start += len(each.classes)
        return result

    def state(self) -> Mapping[str, Any]:
        """The weights of each network."""
        return {
            str(number): {f"rows.{name}": value for name, value in network.weights.items()}
            for number, network in enumerate(self.networks)
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over weights."""
        for number, network in enumerate(self.networks):
            own: Mapping[str, Any] = state[str(number)]
            network.restore({name.removeprefix("rows."): value for name, value in own.items()})
