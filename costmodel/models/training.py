"""Training of networks: MAPE loss, AdamW, one-cycle learning rate, best on validation.

Source: Baghdadi et al., "A deep learning based cost model for automatic code optimization", MLSys
2021, appendix A.1.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..learning.errors import LearningError
from ..learning.examples import ProgramExamples
from .array_files import load_arrays, store_arrays
from .learned_model import TrainingOptions, TrainingProgress
from .model_files import check_plan
from .tensors import arrays_in, descend, from_array, tensors_of, usable_device
from .training_batches import Collate, Entries, Pool, Shuffled, batch_kind

VALIDATED_AT_ONCE = 512

STORED_EVERY = 20.0
"""Seconds between two checkpoints: on a GPU, an epoch can take less than writing one."""


@dataclass(frozen=True)
class Recipe:
    """Default hyperparameters of a training.

    Training ends early after `patience` epochs without a better state, by default never: learning
    rates fall in the last two thirds of their cycle, and states get better again then.
    `keeps_batches`: batches are collated once, and keep their pairs.
    """

    epochs: int
    learning_rate: float = 1e-3
    weight_decay: float = 0.0075
    batch: int = 32
    patience: int | None = None
    longest_gradient: float = 1.0
    keeps_batches: bool = False


@dataclass(frozen=True)
class PairPool(Shuffled):
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

    def targets(self, chosen: Sequence[int], device: torch.device) -> tuple[Tensor, Tensor]:
        """Measured speed-ups, and which are censored."""
        index = list(chosen)
        return self.speedups[index].to(device), self.censored[index].to(device)

    def errors(self, predicted: Tensor, targets: tuple[Tensor, Tensor]) -> Tensor:
        """Absolute percentage errors."""
        return percentage_errors(predicted, *targets)


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
        self.batch = options.batch or recipe.batch
        self.longest_gradient = recipe.longest_gradient
        self.epochs = options.epochs if options.epochs is not None else recipe.epochs
        patience = options.patience if options.patience is not None else recipe.patience
        self.patience = patience if patience is not None else self.epochs
        rate = options.learning_rate or recipe.learning_rate
        self.optimiser = torch.optim.AdamW(
            network.parameters(), lr=rate, weight_decay=recipe.weight_decay, fused=True
        )
        steps = -(-len(training.features) // self.batch)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimiser, max_lr=rate, total_steps=self.epochs * steps
        )
        self.order = torch.Generator().manual_seed(options.seed)
        kind = batch_kind(self.device, recipe.keeps_batches)
        self.batches = kind(Entries(training, collate, self.batch, self.device), self.order)
        self.validated = kind(Entries(validation, collate, VALIDATED_AT_ONCE, self.device), None)
        self.state = _State()
        self._stored_at = -STORED_EVERY
        self._unstored = False

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
            self._checkpoint(due=0.0)
            if self.state.best_weights:
                self.network.load_state_dict(self.state.best_weights)
            self.network.eval()

    def _epoch(self) -> None:
        self._unstored = False
        training_error = self._train()
        error = self._validate()
        self.state.epoch += 1
        if error < self.state.best:
            self.state.best = error
            self.state.best_epoch = self.state.epoch
            self.state.best_weights = copy.deepcopy(self.network.state_dict())
        self._unstored = True
        self._checkpoint(due=STORED_EVERY)
        self.options.report(
            TrainingProgress(self.state.epoch, self.epochs, training_error, error, self.state.best)
        )

    def _checkpoint(self, due: float) -> None:
        """Stores the state after an epoch, unless it was done less than `due` seconds ago.

        An interruption within an epoch leaves nothing whole to store: the last checkpoint stays.
        """
        now = time.monotonic()
        if self.options.checkpoint is None or not self._unstored or now < self._stored_at + due:
            return
        self._store(self.options.checkpoint)
        self._stored_at, self._unstored = now, False

    def _train(self) -> float:
        self.network.train()
        total = torch.zeros((), device=self.device)
        for batch in self.batches:
            predicted = self.network(batch.inputs)
            loss = self.training.errors(predicted, batch.targets).mean()
            descend(loss, self.optimiser, self.longest_gradient)
            self.schedule.step()
            total += loss.detach() * batch.count
        return total.item() / len(self.training.features)

    def _validate(self) -> float:
        self.network.eval()
        total = torch.zeros((), device=self.device)
        with torch.inference_mode():
            for batch in self.validated:
                predicted = self.network(batch.inputs)
                total += self.validation.errors(predicted, batch.targets).sum()
        return total.item() / len(self.validation.features)

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
        store_arrays(path, arrays_in(content))

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
