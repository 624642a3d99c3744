"""The validated artefact: a generated program, its nest and what register promotion did to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from ...passes.polyhedral.scop import Scop
from ..loops.storage import Placement
from ..nest.index_expression import Index
from ..nest.nest import For, Nest
from .registers.rewriting import Rewriting


@dataclass(frozen=True, eq=False)
class Generated:
    """A generated program: statements, arrays, nest, and allocation of local arrays.

    `parameters` are the values of the sizes in the nest, and `context` says which there are.
    `vectors` are the loops that run in vectors, `independent` those that are said to have
    independent iterations, besides parallel ones. `rewritings` are what has kept values in
    registers, on the loop IR of the nest.
    """

    scop: Scop
    nest: Nest
    placements: Sequence[Placement]
    parameters: Mapping[str, Index]
    context: isl.Set
    vectors: Sequence[For] = ()
    independent: Sequence[For] = ()
    rewritings: Sequence[Rewriting] = ()
