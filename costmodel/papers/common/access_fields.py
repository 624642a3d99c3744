"""Fields for what a statement accesses, the same in both published models."""

from __future__ import annotations

from collections.abc import Mapping

from .loop_structure import MOST_LEVELS
from .statement_view import MOST_ACCESSES, MOST_RANK, StatementView
from .vector_schema import Field

COLUMNS = MOST_LEVELS + 1
"""Of an access matrix: one per loop, and the constant."""


def access_fields() -> list[Field]:
    """The shape of what is written; of each access the matrix and the number of the array."""
    return [
        Field("written.shape", MOST_RANK),
        *(
            field
            for position in range(MOST_ACCESSES)
            for field in (
                Field(f"access{position}.matrix", MOST_RANK * COLUMNS),
                Field(f"access{position}.array"),
            )
        ),
    ]


def access_values(view: StatementView) -> Mapping[str, float | list[float]]:
    """The values of these fields; accesses beyond `MOST_ACCESSES` are left out."""
    numbers = {array.name: number + 1 for number, array in enumerate(view.statistics.scop.arrays)}
    values: dict[str, float | list[float]] = {}
    if view.accesses:
        values["written.shape"] = view.shape(view.accesses[0])
    for position, access in enumerate(view.accesses[:MOST_ACCESSES]):
        matrix: list[float] = []
        for row in view.access_matrix(access):
            *coefficients, constant = row
            padding = [0.0] * (MOST_LEVELS - len(coefficients))
            matrix += [*coefficients, *padding, constant]
        values[f"access{position}.matrix"] = matrix
        values[f"access{position}.array"] = float(numbers[access.array.name])
    return values
