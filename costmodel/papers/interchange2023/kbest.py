"""Model `interchange`: the paper's k-best classifier.

Source: Mezdoor et al., "A deep learning model for loop interchange", CC 2023, section 5.
Computation embedding and recursive loop embedding are those of Tiramisu's cost model, with a loop
vector at each level; the last layers give k vectors of 22 classes, the first for the best
interchange, the second for the second best ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...learning.errors import LearningError
from ...learning.examples import ProgramExamples
from ...models.learned_model import TrainingOptions
from ...models.model_options import read_options
from ...models.network_model import rows
from ...models.tensors import arrays_of, load_arrays_into, seeded
from ...models.training import Recipe, train_network
from ...models.training_batches import Shuffled
from ..common.tree_network import LoopEmbedding, TreeBatch, batch_trees, layers
from .accuracy import times_of
from .classes import CLASSES, SHOTS
from .interchange_model import InterchangeModel
from .nest_vectors import LOOP, NestVectors, VectorDescription, statement_width

UNKNOWN = -100
"""The target where a program has fewer legal answers; cross-entropy passes over it."""


@dataclass(frozen=True)
class KBestOptions:
    """Layer sizes."""

    statement_layers: tuple[int, ...] = (600, 350, 200, 180)
    loop_layer: int = 200
    class_layers: tuple[int, ...] = (200, 180)
    dropout: float = 0.225


@dataclass(frozen=True)
class Batch:
    """Computation vectors, loop vectors, and the trees that they are in."""

    statements: Tensor
    loops: Tensor
    trees: TreeBatch


def collate(nests: Sequence[NestVectors], device: torch.device) -> Batch:
    """Nests as one input of the network."""
    return Batch(
        rows([each.statements for each in nests], device),
        rows([each.loops for each in nests], device),
        batch_trees([each.shape for each in nests]).to(device),
    )


class KBestNetwork(nn.Module):
    """Computation embedding, recursive loop embedding, classification."""

    def __init__(self, options: KBestOptions) -> None:
        super().__init__()
        size = options.statement_layers[-1]
        self.statements = layers([statement_width(), *options.statement_layers], options.dropout)
        self.loops = LoopEmbedding(size, options.loop_layer, options.dropout, LOOP.width)
        self.hidden = layers([size, *options.class_layers], options.dropout)
        self.output = nn.Linear(options.class_layers[-1], SHOTS * len(CLASSES))

    def forward(self, batch: Batch) -> Tensor:
        """Logits (nests, shots, classes)."""
        loops = self.loops(self.statements(batch.statements), batch.trees, batch.loops)
        programs = loops.index_select(0, batch.trees.roots.index)
        return self.output(self.hidden(programs)).reshape(-1, SHOTS, len(CLASSES))


@dataclass(frozen=True)
class OrderPool(Shuffled):
    """Nests with their best classes in order: (nests, shots), or `UNKNOWN`."""

    features: Sequence[NestVectors]
    classes: Tensor

    @classmethod
    def of(cls, programs: Sequence[ProgramExamples]) -> OrderPool:
        """The nests of some programs; raises LearningError when there are none."""
        if not programs:
            raise LearningError("there is nothing to learn from: too few programs")
        targets = torch.full((len(programs), SHOTS), UNKNOWN)
        for row, program in enumerate(programs):
            times = times_of(program)
            count = min(SHOTS, int(np.isfinite(times).sum()))
            best = np.argsort(times, kind="stable")[:count].tolist()
            targets[row, :count] = torch.tensor(best)
        return cls([program.features[0].nest for program in programs], targets)

    def targets(self, chosen: Sequence[int], device: torch.device) -> Tensor:
        """The best classes in order."""
        return self.classes[list(chosen)].to(device)

    def errors(self, predicted: Tensor, targets: Tensor) -> Tensor:
        """Cross-entropy, the mean over the answers that there are."""
        found = nn.functional.cross_entropy(
            predicted.flatten(0, 1), targets.flatten(), ignore_index=UNKNOWN, reduction="none"
        ).reshape(targets.shape)
        return found.sum(1) / (targets != UNKNOWN).sum(1)


class KBest(InterchangeModel):
    """The model of Mezdoor et al. 2023."""

    name: ClassVar[str] = "interchange"
    recipe: ClassVar[Recipe] = Recipe(epochs=150)
    trains_with: ClassVar[str | None] = "torch"

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        """A network with fresh weights; raises LearningError for unknown options."""
        self.options = read_options(KBestOptions, configuration, self.name)
        super().__init__(dataclasses.asdict(self.options))
        self.network = KBestNetwork(self.options)

    @property
    def description(self) -> VectorDescription:
        """Computation vectors and loop vectors."""
        return VectorDescription()

    def fit(
        self,
        training: Sequence[ProgramExamples],
        validation: Sequence[ProgramExamples],
        options: TrainingOptions,
    ) -> None:
        """Cross-entropy over all shots."""
        with seeded(options.seed):
            self.network = KBestNetwork(self.options)
            pools = OrderPool.of(training), OrderPool.of(validation)
            train_network(self.network, collate, *pools, self.recipe, options)

    def ratings(self, nests: Sequence[Any]) -> NDArray[np.float64]:
        """The logits."""
        self.network.eval()
        device = next(self.network.parameters()).device
        with torch.inference_mode():
            return self.network(collate(nests, device)).cpu().numpy().astype(np.float64)

    def state(self) -> Mapping[str, Any]:
        """The weights."""
        return arrays_of(self.network)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes over weights."""
        load_arrays_into(self.network, state)
