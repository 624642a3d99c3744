"""The computation vectors of Tiramisu's cost model.

Source: Baghdadi et al., "A deep learning based cost model for automatic code optimization", MLSys
2021, section 4.1 and table 1. One vector per statement: bounds and tags of every loop, access
matrices, counts of operations; all but tags are log-transformed. Bounds of loops that are not
rectangular are those of the box around them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ...learning.errors import LearningError
from ...learning.spaces import TIRAMISU
from .access_fields import access_fields, access_values
from .loop_structure import MOST_LEVELS, Computation
from .statement_view import StatementView, count_operations
from .step_events import Event
from .step_tags import ALL, tag_fields, tag_values
from .tree_features import Numbers, TreeFeaturiser
from .vector_schema import Field, Schema

VERSION = 1

COUNTED = ("add", "multiply", "subtract", "divide")

TAGS: Mapping[str, frozenset[str]] = {"all": ALL, "published": TIRAMISU}
"""Which steps have tags: all that there are, or those of the paper."""


@cache
def statement_schema() -> Schema:
    """The part of a computation vector that does not depend on the schedule's tags."""
    loops = [
        field
        for level in range(MOST_LEVELS)
        for field in (
            Field(f"loop{level}.upper"),
            Field(f"loop{level}.lower"),
            Field(f"loop{level}.reduction", is_tag=True),
        )
    ]
    return Schema((*loops, *access_fields(), Field("operations", len(COUNTED))))


@cache
def tag_schema(tags: str) -> Schema:
    """The tags of all loops."""
    return Schema(
        tuple(
            field
            for level in range(MOST_LEVELS)
            for field in tag_fields(TAGS[tags], f"loop{level}")
        )
    )


@dataclass(frozen=True)
class TiramisuFeaturiser(TreeFeaturiser):
    """Computation vectors; `tags` is a key of `TAGS`."""

    tags: str = "all"

    def __post_init__(self) -> None:
        if self.tags not in TAGS:
            raise LearningError(f"tags are {' or '.join(TAGS)}, not '{self.tags}'")

    @property
    def schema(self) -> str:
        """Name, options, version of the fields."""
        versions = f"{statement_schema().version}{tag_schema(self.tags).version}"
        return f"tiramisu-{VERSION}-{self.tags}-{versions}"

    def describe_statement(self, view: StatementView) -> tuple[Numbers, Numbers]:
        """Bounds, accesses, counts of operations; no operations one by one."""
        values: dict[str, float | Sequence[float]] = dict(access_values(view))
        for level, (low, high) in enumerate(view.bounds):
            values[f"loop{level}.lower"] = low
            values[f"loop{level}.upper"] = high
            values[f"loop{level}.reduction"] = float(view.reduction_levels[level])
        values["operations"] = count_operations(view.expression, COUNTED)
        return statement_schema().vector(values), np.zeros((0, 0), np.float32)

    def describe_tags(self, computation: Computation, events: Sequence[Event]) -> Numbers:
        """Tags and parameters of every loop."""
        levels = tag_values(events, computation.levels, TAGS[self.tags])
        return tag_schema(self.tags).vector(
            {
                f"loop{level}.{name}": value
                for level, values in enumerate(levels)
                for name, value in values.items()
            }
        )

    def describe_steps(self, computation: Computation, events: Sequence[Event]) -> Numbers:
        """None: tags say it all."""
        return np.zeros((0, 0), np.float32)

    def describe_loop(
        self, view: StatementView, computation: Computation, level: int, events: Sequence[Event]
    ) -> Numbers:
        """Nothing: loops are described in computation vectors."""
        return np.zeros(0, np.float32)
