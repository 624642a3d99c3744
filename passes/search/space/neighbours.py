"""Neighbourhood of a schedule: other parameters or loops, a step less or more.

Sizes that are equal often belong together (the tile, the panel that it walks through, the loop that
fills the panel), so that they are changed one at a time and all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ...estimate.scheduling_context import SchedulingContext
from ...polyhedral.isl_context import ISL_LOCK
from ...polyhedral.schedule_tree import Loop, nests
from ...schedules.errors import TransformationError
from ...schedules.schedule import Schedule, Transformation
from .moves import changes
from .parallelisation import parallel_loops
from .registers import jams, unrollings
from .trees import certain_names

NUMBERS: Mapping[str, tuple[str, int, int]] = {
    "tile": ("sizes", 2, 2048),
    "strip-mine": ("size", 2, 2048),
    "unroll": ("factor", 2, 16),
    "unroll-and-jam": ("factor", 2, 16),
    "pack": ("panels", 2, 2048),
}
"""The option of a transformation that is changed, and its smallest and largest value."""

MOVING = ("parallel", "pack", "unroll-and-jam")
"""Steps that may as well be at the next loop."""

SCALES = (0.5, 2.0, 0.75, 1.5)

SMALL = 16
"""Sizes up to this one are also changed by a little: they count rows of registers."""

Place = tuple[int, int]
"""A number in a list of steps: which step, and which of its numbers."""

Allowance = Callable[[Iterable[Transformation]], bool]
"""Whether these steps may be applied, too."""


def neighbours(
    original: Schedule,
    schedule: Schedule,
    context: SchedulingContext,
    allows: Allowance = lambda steps: True,
) -> Iterator[Schedule]:
    """All schedules one change away that can be applied, each once, as far as work is allowed."""
    seen = {schedule, original}
    steps = schedule.transformations
    if not allows(steps):
        return
    prefixes = _prefixes(original, steps)
    for changed in _changes(prefixes, steps):
        first = next(
            (n for n, (a, b) in enumerate(zip(steps, changed, strict=False)) if a != b),
            len(changed),
        )
        if not allows(changed[first:]):
            return
        result = _replay(prefixes[first], changed[first:])
        if result not in seen:
            seen.add(result)
            yield result
    yield from (each for each in _more(schedule, context, allows) if each not in seen)


def _more(schedule: Schedule, context: SchedulingContext, allows: Allowance) -> Iterator[Schedule]:
    """The schedule with one move more of those that can come last."""
    for nest in nests(schedule.tree):
        for propose in (parallel_loops, jams, unrollings):
            moves = propose(schedule, nest, context)
            yield from changes(schedule, takewhile(lambda move: allows(move.steps), moves))


def _prefixes(original: Schedule, steps: Sequence[Transformation]) -> list[Schedule]:
    """The schedules before each of the steps, which all can be applied, and after the last."""
    found = [original]
    with ISL_LOCK:
        for step in steps:
            found.append(found[-1].apply(step))
    return found


def _replay(start: Schedule, steps: Sequence[Transformation]) -> Schedule:
    """The schedule after all of the steps that can be applied."""
    result = start
    with ISL_LOCK:
        for step in steps:
            try:
                result = result.apply(step)
            except TransformationError:
                continue
    return result


def _changes(
    prefixes: Sequence[Schedule], steps: Sequence[Transformation]
) -> Iterator[tuple[Transformation, ...]]:
    yield from _without(steps, "parallel")
    places = _places(steps)
    equal: dict[int, list[Place]] = {}
    for place, value in places.items():
        equal.setdefault(value, []).append(place)
    for value, group in equal.items():
        for new in _variants(value):
            yield _with_numbers(steps, dict.fromkeys(group, new))
    for position, step in enumerate(steps):
        for moved in _moved(prefixes[position], step):
            yield (*steps[:position], moved, *steps[position + 1 :])
    for place, value in places.items():
        if len(equal[value]) > 1:
            for new in _variants(value):
                yield _with_numbers(steps, {place: new})
    for position in range(len(steps)):
        yield (*steps[:position], *steps[position + 1 :])


def _without(steps: Sequence[Transformation], name: str) -> Iterator[tuple[Transformation, ...]]:
    """The steps without all those of a kind, where there are several."""
    rest = tuple(step for step in steps if step.name != name)
    if len(rest) + 1 < len(steps):
        yield rest


def _moved(schedule: Schedule, step: Transformation) -> Iterator[Transformation]:
    """The same step at the next loop further out or in, where it may as well be."""
    if step.name not in MOVING or len(step.loops) != 1:
        return
    loop = schedule.loop(step.loops[0])
    inner = (loop.body,) if isinstance(loop.body, Loop) else ()
    for other in (*schedule.outer(loop)[-1:], *inner):
        yield replace(step, loops=certain_names([other]))


def _places(steps: Sequence[Transformation]) -> dict[Place, int]:
    return {
        (position, index): value
        for position, step in enumerate(steps)
        for index, value in enumerate(_numbers(step))
        if value > 1
    }


def _numbers(step: Transformation) -> tuple[int, ...]:
    if step.name not in NUMBERS:
        return ()
    value: Any = getattr(step, NUMBERS[step.name][0])
    return tuple(value) if isinstance(value, tuple) else (value,)  # pyright: ignore


def _variants(value: int) -> list[int]:
    """Other values for a size, each once."""
    scaled = [round(value * scale) for scale in SCALES]
    near = [value - 1, value + 1, value - 2, value + 2] if value <= SMALL else []
    return [new for new in dict.fromkeys([*scaled, *near]) if new != value]


def _with_numbers(
    steps: Sequence[Transformation], new: Mapping[Place, int]
) -> tuple[Transformation, ...]:
    result = list(steps)
    for (position, index), value in new.items():
        step = result[position]
        option, least, most = NUMBERS[step.name]
        numbers = list(_numbers(step))
        numbers[index] = min(most, max(least, value))
        old: Any = getattr(step, option)
        result[position] = replace(
            step, **{option: tuple(numbers) if isinstance(old, tuple) else numbers[0]}
        )
    return tuple(result)
