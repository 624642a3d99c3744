"""Tags: per loop level, whether a kind of step was applied to it, and with what parameter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .step_events import KINDS, PARAMETERS, Event
from .vector_schema import Field

AFFINE = frozenset({"affine-schedule", "interchange", "reverse", "shift", "skew", "wavefront"})
"""Steps that can be applied many times in any order: vectors in LOOPer (section 5.1), not tags."""

ALL = frozenset(KINDS) - {"strip-mine"}
"""All steps; making strips of one loop is a tile of one loop."""

INNER_TILE = "tile.inner"
"""The size of the last of several levels of tiles; the first is the parameter of `tile`."""


def tag_fields(kinds: Collection[str], prefix: str) -> list[Field]:
    """The fields of one level, in the order of `KINDS`."""
    fields: list[Field] = []
    for kind in KINDS:
        if kind in kinds:
            fields.append(Field(f"{prefix}.{kind}", is_tag=True))
            if kind in PARAMETERS:
                fields.append(Field(f"{prefix}.{kind}.parameter"))
    if "tile" in kinds:
        fields.append(Field(f"{prefix}.{INNER_TILE}"))
    return fields


def tag_values(
    events: Sequence[Event], iterators: Sequence[int | None], kinds: Collection[str]
) -> Sequence[Mapping[str, float]]:
    """For each level (by its iterator), the fields that are not zero, without their prefix."""
    levels = {iterator: level for level, iterator in enumerate(iterators) if iterator is not None}
    result: list[dict[str, float]] = [{} for _ in iterators]
    for event in events:
        kind = "tile" if event.kind == "strip-mine" else event.kind
        if kind not in kinds:
            continue
        for iterator, number in event.parameters:
            if iterator not in levels:
                continue
            values = result[levels[iterator]]
            if kind == "tile" and kind in values:
                values[INNER_TILE] = number
                continue
            values[kind] = 1.0
            if kind in PARAMETERS:
                values[f"{kind}.parameter"] = number
    return result
