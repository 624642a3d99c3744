"""Tiramisu's cost model: computation vectors, embedded recursively along the loops.

Source: Baghdadi et al., "A deep learning based cost model for automatic code optimization", MLSys
2021, section 4.4 and appendix A.1. Beyond the paper, which has single nests: the nests of a program
are embedded as if a loop was around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from ...models.network_model import NetworkModel, rows
from ...models.training import Recipe
from ..common.computation_vectors import TiramisuFeaturiser, statement_schema, tag_schema
from ..common.tree_features import TreeFeatures
from ..common.tree_network import (
    Columns,
    LoopEmbedding,
    Regression,
    TreeBatch,
    batch_trees,
    layers,
    under_one_root,
)


@dataclass(frozen=True)
class TiramisuOptions:
    """Layer sizes, and which steps have tags: `all`, or those that are `published`."""

    tags: str = "all"
    statement_layers: tuple[int, ...] = (600, 350, 200, 180)
    loop_layer: int = 200
    regression_layers: tuple[int, ...] = (200, 180)
    dropout: float = 0.225
    output: str = "linear"


@dataclass(frozen=True)
class Batch:
    """Computation vectors (statements, width), and the trees that they are in."""

    statements: Columns
    trees: TreeBatch


class TiramisuNetwork(nn.Module):
    """Computation embedding, recursive loop embedding, regression."""

    def __init__(self, inputs: int, options: TiramisuOptions) -> None:
        super().__init__()
        size = options.statement_layers[-1]
        self.statements = layers([inputs, *options.statement_layers], options.dropout)
        self.loops = LoopEmbedding(size, options.loop_layer, options.dropout)
        self.regression = Regression(
            [size, *options.regression_layers], options.dropout, options.output
        )

    def forward(self, batch: Batch) -> Tensor:
        """A speed-up for each tree."""
        loops = self.loops(batch.statements.through(self.statements), batch.trees)
        programs = loops.index_select(0, batch.trees.roots.index)
        return self.regression(programs)


class Tiramisu(NetworkModel):
    """The model of Baghdadi et al. 2021."""

    name = "tiramisu"
    options_class = TiramisuOptions
    recipe: ClassVar[Recipe] = Recipe(epochs=700, keeps_batches=True)
    options: TiramisuOptions

    @property
    def featuriser(self) -> TiramisuFeaturiser:
        """Computation vectors."""
        return TiramisuFeaturiser(self.options.tags)

    def build(self) -> TiramisuNetwork:
        """A network with fresh weights."""
        width = statement_schema().width + tag_schema(self.featuriser.tags).width
        return TiramisuNetwork(width, self.options)

    def collate(self, features: Sequence[TreeFeatures], device: torch.device) -> Batch:
        """Vectors of all statements, and trees with one root each."""
        statements = rows([each.structure.statements for each in features], device)
        tags = rows([each.tags for each in features], device)
        trees = batch_trees([under_one_root(each.structure.shape) for each in features])
        return Batch(Columns.of(torch.cat([statements, tags], 1)), trees.to(device))
