"""Random transformations of a schedule, and the legal ones among them.

Every transformation of the registry takes part: its options are made from their types, or from a
row of `OPTIONS` where some values are more telling than others.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from loopwright.passes.registry import all_transformations
from loopwright.passes.schedule import Schedule
from loopwright.passes.schedule_tree import Loop, chain, loops
from loopwright.passes.transformation import (
    IllegalTransformation,
    MalformedTransformation,
    Transformation,
)

from .choice import Chooser, DrawnChooser, chance, choose, distinct

TILE_SIZES = (2, 4, 8, 1, 3, 5, 7, 16, 32, 40)

Option = Callable[[Chooser, int], Any]


def _sizes(chooser: Chooser, loops: int) -> tuple[int, ...]:
    return tuple(choose(chooser, TILE_SIZES) for _ in range(loops))


# (transformation, option) -> a value, given the number of loops
OPTIONS: dict[tuple[str, str], Option] = {
    ("tile", "sizes"): _sizes,
    ("vectorize", "width"): lambda chooser, _: choose(chooser, (4, 8, 2)),
    ("unroll", "factor"): lambda chooser, _: choose(chooser, (2, 4, 3, 8)),
}

# transformations that are about several loops of a chain, in a new order or in theirs
PERMUTED = frozenset({"interchange"})
MULTIPLE = frozenset({"interchange", "tile"})


def propose(chooser: Chooser, schedule: Schedule) -> Transformation | None:
    """A random transformation, legal or not; None when the program has no loops."""
    existing = list(loops(schedule.tree))
    if not existing:
        return None
    cls = choose(chooser, list(all_transformations().values()))
    subjects = _subjects(chooser, cls.name, existing)
    names = tuple(schedule.short_name(loop) for loop in subjects)
    return cls(names, **_options(chooser, cls, len(names)))


def _subjects(chooser: Chooser, name: str, existing: Sequence[Loop]) -> list[Loop]:
    if name not in MULTIPLE:
        return [choose(chooser, existing)]
    starts = [loop for loop in existing if len(chain(loop)) > 1] or list(existing)
    members = chain(choose(chooser, starts))
    count = chooser.integer(1 if name == "tile" else min(2, len(members)), len(members))
    if name in PERMUTED:
        return distinct(chooser, members, count)
    return list(members[:count])


def _options(chooser: Chooser, cls: type[Transformation], loops: int) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.name == "loops":
            continue
        make = OPTIONS.get((cls.name, field.name))
        if make is not None:
            values[field.name] = make(chooser, loops)
        elif field.default is dataclasses.MISSING or chance(chooser, 30):
            value = _by_type(chooser, hints[field.name], loops)
            if value is not None:
                values[field.name] = value
    return values


def _by_type(chooser: Chooser, kind: Any, loops: int) -> Any:
    """A value of an option that has no row in `OPTIONS`; None where the default must do."""
    number = {int: lambda: chooser.integer(1, 8), bool: lambda: chance(chooser, 50)}
    if kind in number:
        return number[kind]()
    if typing.get_origin(kind) is tuple and typing.get_args(kind)[0] is int:
        return tuple(chooser.integer(1, 8) for _ in range(loops))
    return None


@dataclasses.dataclass(frozen=True)
class Attempt:
    """A proposed transformation, and what became of it."""

    before: Schedule
    transformation: Transformation
    after: Schedule | None
    error: IllegalTransformation | MalformedTransformation | None


def attempts(chooser: Chooser, schedule: Schedule, count: int) -> list[Attempt]:
    """`count` proposals one after the other, each on top of the legal ones before."""
    result: list[Attempt] = []
    for _ in range(count):
        transformation = propose(chooser, schedule)
        if transformation is None:
            break
        after, error = None, None
        try:
            after = schedule.apply(transformation)
        except (IllegalTransformation, MalformedTransformation) as caught:
            error = caught
        result.append(Attempt(schedule, transformation, after, error))
        schedule = after or schedule
    return result


def random_schedule(chooser: Chooser, schedule: Schedule, count: int = 6) -> Schedule:
    """The schedule after the legal ones of `count` random proposals."""
    made = attempts(chooser, schedule, count)
    return next((a.after for a in reversed(made) if a.after is not None), schedule)


@st.composite
def schedules(draw: st.DrawFn, original: Schedule, count: int = 6) -> Schedule:
    """Hypothesis strategy of legal schedules."""
    return random_schedule(DrawnChooser(draw), original, count)
