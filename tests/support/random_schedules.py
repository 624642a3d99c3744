"""Random transformations of a schedule, and the legal ones among them.

Every transformation of the registry takes part: its options are made from their types, or from a
row of `random_options.OPTIONS` where some values are more telling than others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from hypothesis import strategies as st

from loopwright.passes.registry import all_transformations
from loopwright.passes.schedule import Schedule
from loopwright.passes.schedule_tree import loops
from loopwright.passes.transformation import (
    IllegalTransformation,
    MalformedTransformation,
    Transformation,
)

from .choice import Chooser, DrawnChooser, chance, choose
from .random_options import random_options
from .random_subjects import SUBJECTS, one_loop

# Kinds of steps that are likely to meet in one schedule; a schedule draws most steps from one row.
THEMES = (
    (),
    ("tile", "strip-mine", "split", "interchange", "reverse", "shift"),
    ("pack", "tile", "strip-mine", "wavefront", "skew", "shift", "unroll", "pack"),
    ("tile", "strip-mine", "parallel", "vectorize", "unroll", "unroll-and-jam"),
    ("fuse", "distribute", "split", "strip-mine", "reorder", "shift", "tile"),
)


def propose(
    chooser: Chooser, schedule: Schedule, theme: Sequence[str], recent: Set[str]
) -> Transformation | None:
    """A random transformation, legal or not; None when the program has no loops.

    Three of four are of the kinds in `theme`, where it names some; half of them are about loops
    called as in `recent`.
    """
    existing = list(loops(schedule.tree))
    if not existing:
        return None
    changed = [loop for loop in existing if loop.name in recent]
    if changed and chance(chooser, 50):
        existing = changed
    kinds = dict(all_transformations())
    if not chance(chooser, 10):
        # it solves integer programs, in a process of its own
        kinds.pop("affine-schedule", None)
    if theme and chance(chooser, 75):
        cls = kinds[choose(chooser, theme)]
    else:
        cls = choose(chooser, list(kinds.values()))
    subjects = SUBJECTS.get(cls.name, one_loop)(chooser, schedule, existing)
    names = tuple(schedule.short_name(loop) for loop in subjects)
    return cls(names, **random_options(chooser, schedule, cls, subjects))


@dataclass(frozen=True)
class Attempt:
    """A proposed transformation, and what became of it."""

    before: Schedule
    transformation: Transformation
    after: Schedule | None
    error: IllegalTransformation | MalformedTransformation | None


def _loop_names(schedule: Schedule) -> set[str]:
    return {loop.name for loop in loops(schedule.tree)}


Watch = Callable[[Schedule, Transformation], None]


def attempts(
    chooser: Chooser, schedule: Schedule, count: int, watch: Watch | None = None
) -> list[Attempt]:
    """`count` proposals one after the other, each on top of the legal ones before.

    `watch` sees each of them before it is tried.
    """
    result: list[Attempt] = []
    theme = choose(chooser, THEMES)
    recent: set[str] = set()
    for _ in range(count):
        transformation = propose(chooser, schedule, theme, recent)
        if transformation is None:
            break
        if watch is not None:
            watch(schedule, transformation)
        after, error = None, None
        try:
            after = schedule.apply(transformation)
        except (IllegalTransformation, MalformedTransformation) as caught:
            error = caught
        result.append(Attempt(schedule, transformation, after, error))
        if after is not None:
            recent = _loop_names(after) - _loop_names(schedule)
            recent |= {name.rpartition(".")[2] for name in transformation.loops}
            schedule = after
    return result


def random_schedule(
    chooser: Chooser, schedule: Schedule, count: int = 6, watch: Watch | None = None
) -> Schedule:
    """The schedule after the legal ones of `count` random proposals."""
    made = attempts(chooser, schedule, count, watch)
    return next((a.after for a in reversed(made) if a.after is not None), schedule)


@st.composite
def schedules(draw: st.DrawFn, original: Schedule, count: int = 6) -> Schedule:
    """Hypothesis strategy of legal schedules."""
    return random_schedule(DrawnChooser(draw), original, count)
