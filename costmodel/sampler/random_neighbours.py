"""Random neighbours of a schedule: other parameters, a step less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule, Transformation

CHANGES = {1: 0.5, 2: 0.3, 3: 0.2}
"""Steps that are changed."""

DROPPED = 0.25
"""Changes that leave a step out, and all later ones that cannot do without it."""

SCALES = (0.25, 0.5, 0.5, 2, 2, 4)

NUMBERS: Mapping[str, tuple[str, int, int]] = {
    "tile": ("sizes", 2, 1024),
    "strip-mine": ("size", 2, 1024),
    "unroll": ("factor", 2, 16),
    "unroll-and-jam": ("factor", 2, 12),
    "vectorize": ("width", 2, 64),
}
"""The option of a transformation that is changed, and its smallest and largest value."""


def neighbour(random: Random, original: Schedule, schedule: Schedule) -> Schedule | None:
    """A schedule with some steps of another one changed; None where none of them is left."""
    steps = list(schedule.transformations)
    if not steps:
        return None
    count = random.choices(list(CHANGES), list(CHANGES.values()))[0]
    dropped: set[int] = set()
    for position in random.sample(range(len(steps)), min(count, len(steps))):
        changed = None if random.random() < DROPPED else _changed(random, steps[position])
        if changed is None:
            dropped.add(position)
        else:
            steps[position] = changed
    kept = [step for position, step in enumerate(steps) if position not in dropped]
    return _apply(original, kept)


def _apply(original: Schedule, steps: Sequence[Transformation]) -> Schedule | None:
    """The schedule after all of the steps that can be applied, one after the other."""
    schedule = original
    for step in steps:
        try:
            schedule = schedule.apply(step)
        except TransformationError:
            continue
    return schedule if schedule.transformations else None


def _changed(random: Random, step: Transformation) -> Transformation | None:
    """The step with another number; None where it has none."""
    if step.name not in NUMBERS:
        return None
    option, least, most = NUMBERS[step.name]

    def scaled(value: int) -> int:
        return min(most, max(least, round(value * random.choice(SCALES))))

    value: Any = getattr(step, option)
    if isinstance(value, tuple):
        numbers: list[int] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        position = random.randrange(len(numbers))
        numbers[position] = scaled(numbers[position])
        return replace(step, **{option: tuple(numbers)})
    return replace(step, **{option: scaled(value)}) if value else None
