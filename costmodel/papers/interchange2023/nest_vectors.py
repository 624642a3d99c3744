"""Computation vectors and loop vectors of a nest, the classifier's input.

Source: Mezdoor et al., "A deep learning model for loop interchange", CC 2023, sections 4 and 5.2.
The computation vectors are those of Tiramisu's cost model without the tags of transformations, and
with the depth; a loop vector has the bounds of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ....passes.estimate.scheduling_context import SchedulingContext
from ....passes.polyhedral.isl_context import ISL_LOCK
from ....passes.polyhedral.schedule_tree import Tree
from ....passes.schedules.schedule import Schedule
from ..common.computation_vectors import TiramisuFeaturiser, statement_schema
from ..common.loop_structure import Shape, structure_of
from ..common.statement_view import StatementView
from ..common.vector_schema import Field, Schema

VERSION = 1

LOOP = Schema((Field("upper"), Field("lower")))
DEPTH = Schema((Field("depth"),))


@cache
def statement_width() -> int:
    """How many numbers a computation vector has."""
    return statement_schema().width + DEPTH.width


@dataclass(frozen=True, eq=False)
class NestVectors:
    """A nest: rows of `statements` are computation vectors, those of `loops` loop vectors."""

    shape: Shape
    statements: NDArray[np.float32]
    loops: NDArray[np.float32]


class VectorDescription:
    """Computes the vectors of a nest."""

    @property
    def schema(self) -> str:
        """Name, version of the fields."""
        return f"interchange-{VERSION}-{statement_schema().version}"

    def describe(self, context: SchedulingContext, schedule: Schedule, nest: Tree) -> NestVectors:
        """The vectors of a top-level nest; raises Unsupported when it is too deep."""
        featuriser = TiramisuFeaturiser()
        with ISL_LOCK:
            structure = structure_of(context, schedule, nest)
            statistics = context.statistics(schedule.scop)
            statements: list[NDArray[np.float32]] = []
            loops: dict[int, NDArray[np.float32]] = {}
            for computation in structure.computations:
                view = StatementView(
                    statistics, statistics.statements[computation.statement], computation.levels
                )
                vector, _ = featuriser.describe_statement(view)
                depth = DEPTH.vector({"depth": len(computation.loops)})
                statements.append(np.concatenate([vector, depth]))
                for number, (lower, upper) in zip(computation.loops, view.bounds, strict=True):
                    loops.setdefault(number, LOOP.vector({"upper": upper, "lower": lower}))
        return NestVectors(
            structure.shape,
            np.stack(statements),
            np.stack([loops[number] for number in range(structure.loops)]),
        )
