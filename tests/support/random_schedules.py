"""Random transformations of a schedule, and the legal ones among them.

Every transformation of the registry takes part: its options are made from their types, or from a
row of `random_options.OPTIONS` where some values are more telling than others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass

from hypothesis import strategies as st

from loopwright.dialects.errors import SourceError
from loopwright.passes.polyhedral.schedule_tree import loops, loops_around
from loopwright.passes.schedules.errors import (
    IllegalTransformation,
    MalformedTransformation,
    TransformationError,
)
from loopwright.passes.schedules.schedule import Schedule, Transformation
from loopwright.passes.syntax.formats import apply_text
from loopwright.passes.transformations.registry import all_transformations

from .choice import Chooser, DrawnChooser, chance, choose
from .random_options import random_options
from .random_subjects import SUBJECTS, one_loop

# Kinds of steps that are likely to meet in one schedule, in any order; () stands for all kinds.
THEMES = (
    (),
    ("tile", "strip-mine", "split", "interchange", "reverse", "shift"),
    ("pack", "tile", "strip-mine", "wavefront", "skew", "shift", "unroll", "pack"),
    ("tile", "strip-mine", "parallel", "vectorize", "unroll", "unroll-and-jam"),
    ("fuse", "distribute", "split", "strip-mine", "reorder", "shift", "tile"),
    ("sink", "interchange", "distribute", "split", "tile", "vectorize"),
)

# Kinds of steps one after the other: what goes wrong may take several that build on each other.
RECIPES = (
    ("strip-mine", "reverse"),
    ("tile", "split"),
    ("pack", "strip-mine", "wavefront"),
    ("tile", "pack", "skew"),
    ("strip-mine", "strip-mine", "vectorize"),
    ("sink", "interchange", "distribute"),
    ("retime", "fuse", "fuse"),
    ("retime", "distribute", "tile"),
    ("modulo-unroll", "fuse", "tile"),
    ("modulo-unroll", "split", "modulo-unroll"),
    ("double-buffer", "fuse", "tile"),
    ("hoist", "distribute", "vectorize"),
    ("separate-offsets", "distribute", "tile"),
)


@dataclass
class _Plan:
    """Which kinds of steps a schedule draws; `percent` of them are of the theme or the recipe.

    `recent` are names of loops that the last step changed.
    """

    theme: Sequence[str]
    recipe: list[str]
    percent: int = 75
    recent: Set[str] = frozenset()

    @classmethod
    def draw(cls, chooser: Chooser) -> _Plan:
        """A theme or a recipe."""
        if chance(chooser, 40):
            return cls((), list(choose(chooser, RECIPES)))
        return cls(choose(chooser, THEMES), [])

    def kind(self, chooser: Chooser) -> type[Transformation]:
        """As a rule what comes next in the recipe, or what is in the theme; else any kind."""
        kinds = dict(all_transformations())
        planned = self.recipe[:1] or self.theme
        if planned and chance(chooser, self.percent):
            return kinds[choose(chooser, planned)]
        if not chance(chooser, 10):
            # it solves integer programs, in a process of its own
            kinds.pop("affine-schedule", None)
        return choose(chooser, list(kinds.values()))

    def applied(self, before: Schedule, step: Transformation, after: Schedule) -> None:
        """Notes a step that was legal."""
        if self.recipe[:1] == [step.name]:
            del self.recipe[0]
        named = {name.rpartition(".")[2] for name in step.loops}
        self.recent = named | (_loop_names(after) - _loop_names(before))


def _loop_names(schedule: Schedule) -> set[str]:
    return {loop.name for loop in loops(schedule.tree)}


def _propose(chooser: Chooser, schedule: Schedule, plan: _Plan) -> Transformation | None:
    """A random transformation, legal or not; None when the program has no loops."""
    existing = list(loops(schedule.tree))
    if not existing:
        return None
    changed = [loop for loop in existing if loop.name in plan.recent]
    if changed and chance(chooser, 50):
        existing = changed
    cls = plan.kind(chooser)
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


Watch = Callable[[Schedule, Transformation], None]


def attempts(
    chooser: Chooser,
    schedule: Schedule,
    count: int,
    names: Sequence[str] | None = None,
    watch: Watch | None = None,
) -> list[Attempt]:
    """`count` proposals one after the other, each on top of the legal ones before.

    `names` are those to choose from; one that is there twice comes twice as often. `watch` sees
    each proposal before it is tried.
    """
    result: list[Attempt] = []
    plan = _Plan.draw(chooser) if names is None else _Plan(names, [], percent=100)
    for _ in range(count):
        transformation = _propose(chooser, schedule, plan)
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
            plan.applied(schedule, transformation, after)
            schedule = after
    return result


def random_schedule(
    chooser: Chooser,
    schedule: Schedule,
    count: int = 6,
    names: Sequence[str] | None = None,
    watch: Watch | None = None,
) -> Schedule:
    """The schedule after the legal ones of `count` random proposals."""
    made = attempts(chooser, schedule, count, names, watch)
    return next((a.after for a in reversed(made) if a.after is not None), schedule)


def long_vectors(chooser: Chooser, schedule: Schedule) -> Schedule:
    """Innermost loops as vectors, or rows in the lanes, each some columns behind the other."""
    chains = dict.fromkeys(loops_around(schedule.tree, s.name) for s in schedule.scop.statements)
    in_lanes = chance(chooser, 50)
    lag, width = choose(chooser, (1, 2, 3)), choose(chooser, (4, 8, 16) if in_lanes else (4, 8))
    for chain in chains:
        *_, i, j = ("", "", *map(schedule.short_name, chain))
        steps = f"vectorize{{loops={j} width={width}}}"
        if in_lanes:
            steps = (
                f"skew{{loops={i},{j} factors={lag}}},strip-mine{{loops={i} size={width}}},"
                f"interchange{{loops={j},{i}}},vectorize{{loops={i} width={width}}},"
                f"unroll{{loops={i}}}"
            )
        with suppress(SourceError, TransformationError):
            schedule = apply_text(steps, schedule)
    return schedule


@st.composite
def schedules(draw: st.DrawFn, original: Schedule, count: int = 6) -> Schedule:
    """Hypothesis strategy of legal schedules."""
    return random_schedule(DrawnChooser(draw), original, count)
