"""Training of networks: MAPE loss, AdamW, one-cycle learning rate, best on validation.

Source: Baghdadi et al., "A deep learning based cost model for automatic code optimization", MLSys
2021, appendix A.1.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from ..learning.errors import LearningError
from ..learning.examples import ProgramExamples
from .array_files import load_arrays, store_arrays
from .learned_model import TrainingOptions, TrainingProgress
from .model_files import check_plan
from .tensors import descend, from_array, shuffled, tensors_of, usable_device

VALIDATED_AT_ONCE = 512

Collate = Callable[[Sequence[Any], torch.device], Any]


@dataclass(frozen=True)
class Recipe:
    """Default hyperparameters of a training.

    Training ends early after `patience` epochs without a better state, by default a fifth of all.
    """

    epochs: int
    learning_rate: float = 1e-3
    weight_decay: float = 0.0075
    batch: int = 32
    patience: int | None = None
    longest_gradient: float = 1.0


class Pool(Protocol):
    """Training set: features, and the loss of predictions for a batch of them."""

    @property
    def features(self) -> Sequence[Any]:
        """One entry for each thing to predict."""
        ...

    def errors(self, predicted: Tensor, chosen: Sequence[int]) -> Tensor:
        """The error of each prediction, for the entries `chosen`, which training makes small."""
        ...


@dataclass(frozen=True)
class PairPool:
    """Concatenated pairs of all programs, with percentage errors."""

    features: list[Any]
    speedups: Tensor
    censored: Tensor

    @classmethod
    def of(cls, programs: Sequence[ProgramExamples]) -> PairPool:
        """The pairs of some programs; raises LearningError when there are none."""
        features = [each for program in programs for each in program.features]
        if not features:
            raise LearningError("there is nothing to learn from: too few programs")
        return cls(
            features,
            from_array(np.concatenate([program.speedups for program in programs])).float(),
            from_array(np.concatenate([program.censored for program in programs])),
        )

    def errors(self, predicted: Tensor, chosen: Sequence[int]) -> Tensor:
        """Absolute percentage errors."""
        index = list(chosen)
        return percentage_errors(
            predicted,
            self.speedups[index].to(predicted.device),
            self.censored[index].to(predicted.device),
        )


def percentage_errors(predicted: Tensor, measured: Tensor, censored: Tensor) -> Tensor:
    """`|predicted - measured| / measured`; below the bound of a censored pair there is no error."""
    differences = predicted - measured
    differences = torch.where(censored, differences.clamp(min=0), differences.abs())
    return differences / measured


@dataclass
class _State:
    """Checkpointed state of a training, beside network, optimiser and learning-rate schedule."""

    epoch: int = 0
    best: float = float("inf")
    best_epoch: int = 0
    best_weights: dict[str, Tensor] = field(default_factory=dict[str, Tensor])


class Trainer:
    """One training run of a network."""

    def __init__(
        self,
        network: nn.Module,
        collate: Collate,
        training: Pool,
        validation: Pool,
        recipe: Recipe,
        options: TrainingOptions,
    ) -> None:
        self.device = usable_device(options.device)
        self.network = network.to(self.device)
        self.collate = collate
        self.training = training
        self.validation = validation
        self.options = options
        self.batch = recipe.batch
        self.longest_gradient = recipe.longest_gradient
        self.epochs = options.epochs if options.epochs is not None else recipe.epochs
        patience = options.patience if options.patience is not None else recipe.patience
        self.patience = patience if patience is not None else max(20, self.epochs // 5)
        rate = options.learning_rate or recipe.learning_rate
        self.optimiser = torch.optim.AdamW(
            network.parameters(), lr=rate, weight_decay=recipe.weight_decay
        )
        steps = -(-len(training.features) // self.batch)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimiser, max_lr=rate, total_steps=self.epochs * steps
        )
        self.order = torch.Generator().manual_seed(options.seed)
        self.state = _State()

    def run(self) -> None:
        """Trains; the network is in its best state in the end, also when interrupted."""
        if self.options.resume:
            self._resume()
        try:
            while self.state.epoch < self.epochs:
                if self.state.epoch - self.state.best_epoch >= self.patience:
                    break
                self._epoch()
        finally:
            if self.state.best_weights:
                self.network.load_state_dict(self.state.best_weights)
            self.network.eval()

    def _epoch(self) -> None:
        training_error = self._train()
        error = self._validate()
        self.state.epoch += 1
        if error < self.state.best:
            self.state.best = error
            self.state.best_epoch = self.state.epoch
            self.state.best_weights = copy.deepcopy(self.network.state_dict())
        if self.options.checkpoint is not None:
            self._store(self.options.checkpoint)
        self.options.report(
            TrainingProgress(self.state.epoch, self.epochs, training_error, error, self.state.best)
        )

    def _train(self) -> float:
        self.network.train()
        total = 0.0
        for chosen in _batches(shuffled(len(self.training.features), self.order), self.batch):
            features = [self.training.features[number] for number in chosen]
            predicted = self.network(self.collate(features, self.device))
            loss = self.training.errors(predicted, chosen).mean()
            descend(loss, self.optimiser, self.longest_gradient)
            self.schedule.step()
            total += loss.item() * len(chosen)
        return total / len(self.training.features)

    def _validate(self) -> float:
        self.network.eval()
        total = 0.0
        pool = self.validation
        with torch.inference_mode():
            for chosen in _batches(range(len(pool.features)), VALIDATED_AT_ONCE):
                features = [pool.features[number] for number in chosen]
                predicted = self.network(self.collate(features, self.device))
                total += pool.errors(predicted, chosen).sum().item()
        return total / len(pool.features)

    def _store(self, path: Path) -> None:
        content: dict[str, Any] = {
            "plan": self._plan(),
            "epoch": self.state.epoch,
            "best": self.state.best,
            "best_epoch": self.state.best_epoch,
            "best_weights": self.state.best_weights,
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "schedule": self.schedule.state_dict(),
            "order": self.order.get_state(),
            "random": torch.get_rng_state(),
        }
        if self.device.type == "cuda":
            content["random_of_device"] = torch.cuda.get_rng_state(self.device)
        store_arrays(path, content)

    def _resume(self) -> None:
        path = self.options.checkpoint
        if path is None or not path.exists():
            raise LearningError(f"there is nothing to resume: no checkpoint {path}")
        content = tensors_of(load_arrays(path))
        check_plan(path, content.get("plan"), self._plan())
        self.network.load_state_dict(content["network"])
        self.optimiser.load_state_dict(content["optimiser"])
        self.schedule.load_state_dict(content["schedule"])
        self.order.set_state(content["order"])
        torch.set_rng_state(content["random"])
        if "random_of_device" in content and self.device.type == "cuda":
            torch.cuda.set_rng_state(content["random_of_device"], self.device)
        self.state = _State(
            content["epoch"], content["best"], content["best_epoch"], dict(content["best_weights"])
        )

    def _plan(self) -> str:
        """What must be the same for a training to go on."""
        parameters = sum(each.numel() for each in self.network.parameters())
        return (
            f"{len(self.training.features)} examples, {self.epochs} epochs, seed "
            f"{self.options.seed}, {parameters} weights, {self.options.identity}"
        )


def _batches(numbers: Sequence[int], size: int) -> list[Sequence[int]]:
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def train_network(
    network: nn.Module,
    collate: Collate,
    training: Pool,
    validation: Pool,
    recipe: Recipe,
    options: TrainingOptions,
) -> None:
    """Trains a network in place; raises LearningError, OSError, KeyboardInterrupt."""
    Trainer(network, collate, training, validation, recipe, options).run()
