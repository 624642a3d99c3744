"""LOOPer's cost model: statements with their expressions and steps, embedded along the loops.

Source: Merouani et al., "LOOPer: a learned automatic code optimizer for polyhedral compilers",
2024, section 5.2. The paper does not give the sizes of the layers; these are those of its published
code (https://github.com/Tiramisu-Compiler/cost_model): as in Tiramisu, and LSTMs of 100 for
expressions and, in both directions, for steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...models.network_model import NetworkModel, rows
from ...models.training import Recipe
from ..common.tree_features import TreeFeatures
from ..common.tree_network import (
    Columns,
    LoopEmbedding,
    Regression,
    SequenceEmbedding,
    Sequences,
    TreeBatch,
    batch_trees,
    count_loops,
    layers,
    sequences,
    under_loops,
)
from .features import OPERATION, STEP, LooperFeaturiser, loop_schema, statement_schema, tag_schema


@dataclass(frozen=True)
class LooperOptions:
    """The representations that section 6.3 compares, and layer sizes.

    `domain` is matrix or box, `expression` sequence or histogram, `transformations` vectors or
    tags. `output` is linear or exponential.
    """

    domain: str = "matrix"
    expression: str = "sequence"
    transformations: str = "vectors"
    statement_layers: tuple[int, ...] = (600, 350, 200, 180)
    loop_layer: int = 200
    regression_layers: tuple[int, ...] = (200, 180)
    step_size: int = 100
    expression_size: int = 100
    dropout: float = 0.225
    output: str = "linear"


@dataclass(frozen=True)
class Batch:
    """Vectors of statements and loops; operations and steps of all statements, with their rows."""

    statements: Columns
    loops: Tensor
    operations: Tensor
    expressions: Sequences
    steps: Tensor
    schedules: Sequences
    trees: TreeBatch


class LooperNetwork(nn.Module):
    """Step, expression, statement, loop and root embedding; regression."""

    def __init__(self, inputs: int, loop_features: int, options: LooperOptions) -> None:
        super().__init__()
        size = options.statement_layers[-1]
        self.of_step = nn.Linear(STEP.width, STEP.width)
        self.of_schedule = SequenceEmbedding(STEP.width, options.step_size, bidirectional=True)
        self.of_expression = SequenceEmbedding(OPERATION.width, options.expression_size)
        self.inputs = inputs
        self.has_schedules = options.transformations == "vectors"
        self.has_expressions = options.expression == "sequence"
        width = (
            inputs
            + self.of_schedule.size * self.has_schedules
            + self.of_expression.size * self.has_expressions
        )
        self.statements = layers([width, *options.statement_layers], options.dropout)
        self.loops = LoopEmbedding(size, options.loop_layer, options.dropout, loop_features)
        self.of_roots = SequenceEmbedding(size, size)
        self.regression = Regression(
            [size, *options.regression_layers], options.dropout, options.output
        )

    def forward(self, batch: Batch) -> Tensor:
        """A speed-up for each tree."""
        parts: list[Tensor] = []
        if self.has_schedules:
            parts.append(self.of_schedule(self.of_step(batch.steps), batch.schedules))
        if self.has_expressions:
            parts.append(self.of_expression(batch.operations, batch.expressions))
        statements = batch.statements.beside(parts, self.inputs).through(self.statements)
        loops = self.loops(statements, batch.trees, batch.loops)
        programs = self.of_roots(loops, batch.trees.roots)
        return self.regression(programs)


class Looper(NetworkModel):
    """The model of Merouani et al. 2024."""

    name = "looper"
    options_class = LooperOptions
    recipe: ClassVar[Recipe] = Recipe(epochs=500, keeps_batches=True)
    options: LooperOptions

    @property
    def featuriser(self) -> LooperFeaturiser:
        """Vectors of statements and loops, sequences of operations and steps."""
        chosen = self.options
        return LooperFeaturiser(chosen.domain, chosen.expression, chosen.transformations)

    def build(self) -> LooperNetwork:
        """A network with fresh weights."""
        own = self.featuriser
        return LooperNetwork(
            statement_schema(own.domain, own.expression).width
            + tag_schema(own.transformations).width,
            loop_schema(own.transformations).width,
            self.options,
        )

    def collate(self, features: Sequence[TreeFeatures], device: torch.device) -> Batch:
        """All statements, loops, operations and steps behind each other."""
        statements = rows([each.structure.statements for each in features], device)
        tags = rows([each.tags for each in features], device)
        shapes = [under_loops(each.structure.shape) for each in features]
        operations = [own for each in features for own in each.structure.expressions]
        steps = [own for each in features for own in each.steps]
        width = loop_schema(self.options.transformations).width
        loops = [
            _padded(each.loops, count_loops(shape), width)
            for each, shape in zip(features, shapes, strict=True)
        ]
        return Batch(
            Columns.of(torch.cat([statements, tags], 1)),
            rows(loops, device),
            rows(operations, device),
            _consecutive(operations).to(device),
            rows(steps, device),
            _consecutive(steps).to(device),
            batch_trees(shapes).to(device),
        )


def _padded(loops: NDArray[np.float16], count: int, width: int) -> NDArray[np.float16]:
    """Features of the program's loops, and zeros for those that were added around statements."""
    result = np.zeros((count, width), np.float16)
    result[: len(loops)] = loops if len(loops) else 0
    return result


def _consecutive(matrices: Sequence[NDArray[np.floating]]) -> Sequences:
    """The rows of each matrix, where they lie behind each other."""
    found: list[range] = []
    start = 0
    for matrix in matrices:
        found.append(range(start, start + len(matrix)))
        start += len(matrix)
    return sequences(found)
