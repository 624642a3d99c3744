"""Base class of cost models with one neural network."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..learning.examples import ProgramExamples
from .learned_model import LearnedModel, TrainingOptions
from .model_options import read_options
from .tensors import arrays_of, from_array, load_arrays_into, seeded
from .training import PairPool, Recipe, train_network

SCORED_AT_ONCE = 512


class NetworkModel(LearnedModel):
    """A network with its options; subclasses build it and batch its inputs."""

    options_class: ClassVar[type[Any]]
    recipe: ClassVar[Recipe]
    trains_with: ClassVar[str | None] = "torch"

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """A network with fresh weights; raises LearningError for unknown options."""
        options: Any = read_options(self.options_class, configuration, self.name)
        super().__init__(dataclasses.asdict(options))
        self.options = options
        self.network = self.build()

    @abstractmethod
    def build(self) -> nn.Module:
        """A network with fresh weights: what `collate` gives -> a speed-up each (count,)."""

    @abstractmethod
    def collate(self, features: Sequence[Any], device: torch.device) -> Any:
        """Features of schedules as one input of the network."""

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Trains with the recipe of the paper."""
        with seeded(options.seed):
            self.network = self.build()
            pools = PairPool.of(training), PairPool.of(validation)
            train_network(self.network, self.collate, *pools, self.recipe, options)

    def score(self, features: Sequence[Any]) -> NDArray[np.float64]:
        """The predicted speed-ups."""
        return self.in_batches(self.network, features)

    def in_batches(
        self, predict: Callable[[Any], Tensor], features: Sequence[Any]
    ) -> NDArray[np.float64]:
        """What a part of the network predicts: (..., schedules)."""
        self.network.eval()
        device = next(self.network.parameters()).device
        found: list[Tensor] = []
        with torch.inference_mode():
            for start in range(0, len(features), SCORED_AT_ONCE):
                batch = self.collate(features[start : start + SCORED_AT_ONCE], device)
                found.append(predict(batch))
        return torch.cat(found, -1).cpu().numpy().astype(np.float64)

    def state(self) -> Mapping[str, Any]:
        """The weights."""
        return arrays_of(self.network)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over weights."""
        load_arrays_into(self.network, state)


def rows(arrays: Sequence[NDArray[Any]], device: torch.device) -> Tensor:
    """Matrices of the same width below each other, in single precision."""
    return from_array(np.concatenate(arrays).astype(np.float32)).to(device)
