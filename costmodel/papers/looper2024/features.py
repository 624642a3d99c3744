"""What LOOPer's cost model learns from.

Source: Merouani et al., "LOOPer: a learned automatic code optimizer for polyhedral compilers",
2024, section 5.1. Per statement: the iteration domain as a matrix of constraints, access matrices,
the expression as a sequence of operations in post-order, the steps of the schedule as a sequence of
vectors, tags for steps that are applied once. Per loop: bounds and tags. Steps that LOOPer does not
have (packing, vectors, register tiles, wavefronts ...) have a kind of their own among the vectors,
and tags as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ...learning.errors import LearningError
from ..common.access_fields import COLUMNS, access_fields, access_values
from ..common.computation_vectors import COUNTED
from ..common.loop_structure import MOST_LEVELS, Computation
from ..common.statement_view import (
    ELEMENT_TYPES,
    MOST_CONSTRAINTS,
    MOST_OPERATIONS,
    OPERATION_KINDS,
    StatementView,
    count_operations,
)
from ..common.step_events import KINDS, Event
from ..common.step_tags import AFFINE, ALL, tag_fields, tag_values
from ..common.tree_features import Numbers, TreeFeaturiser
from ..common.vector_schema import Field, Schema

VERSION = 1

MOST_STEPS = 32
"""Steps that concern one statement; of longer sequences, the last ones."""

CHOICES = {
    "domain": ("matrix", "box"),
    "expression": ("sequence", "histogram"),
    "transformations": ("vectors", "tags"),
}
"""The representations that section 6.3 compares, LOOPer's own first."""

OPERATION = Schema((Field("kind", len(OPERATION_KINDS), True), Field("type", 4, True)))
STEP = Schema(
    (
        Field("kind", len(KINDS), True),
        Field("touched", MOST_LEVELS, True),
        Field("parameters", MOST_LEVELS),
    )
)


@cache
def statement_schema(domain: str, expression: str) -> Schema:
    """The vector of a statement by itself."""
    return Schema(
        (
            *(
                [Field(f"constraint{n}", COLUMNS) for n in range(MOST_CONSTRAINTS)]
                if domain == "matrix"
                else [Field("lower", MOST_LEVELS), Field("upper", MOST_LEVELS)]
            ),
            Field("reduction", MOST_LEVELS, is_tag=True),
            Field("type", len(ELEMENT_TYPES), is_tag=True),
            *access_fields(),
            *([Field("operations", len(COUNTED))] if expression == "histogram" else []),
        )
    )


@cache
def tag_schema(transformations: str) -> Schema:
    """The tags of a statement's loops."""
    kinds = tag_kinds(transformations)
    levels = range(MOST_LEVELS)
    return Schema(tuple(field for level in levels for field in tag_fields(kinds, f"loop{level}")))


@cache
def loop_schema(transformations: str) -> Schema:
    """The features of a loop."""
    kinds = tag_kinds(transformations)
    return Schema((Field("lower"), Field("upper"), *tag_fields(kinds, "loop")))


def tag_kinds(transformations: str) -> frozenset[str]:
    """Which steps have tags: with vectors, those that are applied once."""
    return ALL if transformations == "tags" else ALL - AFFINE


@dataclass(frozen=True)
class LooperFeaturiser(TreeFeaturiser):
    """Options are among `CHOICES`."""

    domain: str = "matrix"
    expression: str = "sequence"
    transformations: str = "vectors"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise LearningError(f"{name} is {' or '.join(choices)}, not '{value}'")

    @property
    def schema(self) -> str:
        """Name, options, version of the fields."""
        versions = (
            statement_schema(self.domain, self.expression).version,
            tag_schema(self.transformations).version,
            loop_schema(self.transformations).version,
            STEP.version,
            OPERATION.version,
        )
        options = f"{self.domain}-{self.expression}-{self.transformations}"
        return f"looper-{VERSION}-{options}-{''.join(version[:4] for version in versions)}"

    def describe_statement(self, view: StatementView) -> tuple[Numbers, Numbers]:
        """Domain, accesses, type; the operations in post-order."""
        values: dict[str, float | Sequence[float]] = dict(access_values(view))
        if self.domain == "matrix":
            for number, (*row, constant) in enumerate(view.constraints):
                padding = [0.0] * (MOST_LEVELS - len(row))
                values[f"constraint{number}"] = [*row, *padding, constant]
        else:
            values["lower"] = [float(low) for low, _ in view.bounds]
            values["upper"] = [float(high) for _, high in view.bounds]
        values["reduction"] = [float(is_reduced) for is_reduced in view.reduction_levels]
        values["type"] = _one_hot(ELEMENT_TYPES, view.element_type)
        if self.expression == "histogram":
            values["operations"] = count_operations(view.expression, COUNTED)
        operations = [
            OPERATION.vector(
                {"kind": _one_hot(OPERATION_KINDS, kind), "type": _one_hot(ELEMENT_TYPES, type_)}
            )
            for kind, type_ in view.expression[:MOST_OPERATIONS]
        ]
        return statement_schema(self.domain, self.expression).vector(values), _matrix(
            operations if self.expression == "sequence" else [], OPERATION.width
        )

    def describe_tags(self, computation: Computation, events: Sequence[Event]) -> Numbers:
        """Tags and parameters of every loop."""
        levels = tag_values(events, computation.levels, tag_kinds(self.transformations))
        return tag_schema(self.transformations).vector(
            {
                f"loop{level}.{name}": value
                for level, values in enumerate(levels)
                for name, value in values.items()
            }
        )

    def describe_steps(self, computation: Computation, events: Sequence[Event]) -> Numbers:
        """A vector per step: its kind, the loops that it concerns, a parameter for each."""
        if self.transformations == "tags":
            return _matrix([], STEP.width)
        levels = {d: level for level, d in enumerate(computation.levels) if d is not None}
        rows: list[Numbers] = []
        for event in events[-MOST_STEPS:]:
            touched, parameters = [0.0] * MOST_LEVELS, [0.0] * MOST_LEVELS
            for iterator, number in event.parameters:
                if iterator in levels:
                    touched[levels[iterator]] = 1.0
                    parameters[levels[iterator]] = number
            kind = _one_hot(KINDS, event.kind)
            rows.append(STEP.vector({"kind": kind, "touched": touched, "parameters": parameters}))
        return _matrix(rows, STEP.width)

    def describe_loop(
        self, view: StatementView, computation: Computation, level: int, events: Sequence[Event]
    ) -> Numbers:
        """Bounds and tags of one loop."""
        kinds = tag_kinds(self.transformations)
        own = tag_values(events, computation.levels, kinds)[level]
        low, high = view.bounds[level]
        values = {f"loop.{name}": value for name, value in own.items()}
        return loop_schema(self.transformations).vector(
            {"lower": float(low), "upper": float(high), **values}
        )


def _one_hot(names: Sequence[str], name: str) -> list[float]:
    """All zeros for a name that is not there."""
    return [float(each == name) for each in names]


def _matrix(rows: Sequence[Numbers], width: int) -> Numbers:
    return np.stack(rows) if rows else np.zeros((0, width), np.float32)
