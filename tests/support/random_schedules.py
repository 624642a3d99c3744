"""Random transformations of a schedule, and the legal ones among them.

Every transformation of the registry takes part: its options are made from their types, or from a
row of `OPTIONS` where some values are more telling than others.
"""

from __future__ import annotations

import dataclasses
import itertools
import typing
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from loopwright.passes.polyhedral import schedule_tree
from loopwright.passes.polyhedral.schedule_tree import Loop, chain, loops, walk
from loopwright.passes.schedules.errors import IllegalTransformation, MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule, Transformation
from loopwright.passes.transformations.registry import all_transformations

from .choice import Chooser, DrawnChooser, chance, choose, distinct

TILE_SIZES = (2, 4, 8, 1, 3, 5, 7, 16, 32, 40)

Option = Callable[[Chooser, Schedule, int], Any]


def _one_of(*values: Any) -> Option:
    return lambda chooser, _, __: choose(chooser, values)


def _per_loop(*values: int, fewer: int = 0) -> Option:
    return lambda chooser, _, loops: tuple(choose(chooser, values) for _ in range(loops - fewer))


def _array(chooser: Chooser, schedule: Schedule, _: int) -> str:
    return choose(chooser, [array.name for array in schedule.scop.arrays])


def _split_value(chooser: Chooser, schedule: Schedule, _: int) -> str:
    names = ["", *(parameter.name for parameter in schedule.scop.parameters)]
    return f"{choose(chooser, names)}{choose(chooser, ['+1', '-1', '+2', '-2', '+3', '+0'])}"


def _parts(chooser: Chooser, schedule: Schedule, _: int) -> tuple[str, ...]:
    """One statement of some of the parts of a sequence, in any order."""
    bodies = [n for n in walk(schedule.tree) if isinstance(n, schedule_tree.Sequence)]
    if not bodies:
        return ()
    parts = choose(chooser, bodies).children
    chosen = distinct(chooser, list(parts), chooser.integer(2, len(parts)))
    return tuple(choose(chooser, list(schedule_tree.statements(part))) for part in chosen)


# (transformation, option) -> a value, given the schedule and the number of loops
OPTIONS: dict[tuple[str, str], Option] = {
    ("tile", "sizes"): _per_loop(*TILE_SIZES),
    ("strip-mine", "size"): _one_of(*TILE_SIZES),
    ("vectorize", "width"): _one_of(4, 8, 2),
    ("unroll", "factor"): _one_of(2, 4, 3, 8),
    ("skew", "factors"): _per_loop(1, 2, -1, fewer=1),
    ("wavefront", "factors"): lambda chooser, _, loops: (
        (choose(chooser, (1, 2, 3)), choose(chooser, (1, 2, -1, 3))) if loops == 2 else (1, 1)
    ),
    ("shift", "offset"): _one_of(1, -1, 2, 5),
    # Enough also on a busy machine: what comes next must not depend on the time.
    ("affine-schedule", "seconds"): _one_of(60),
    ("affine-schedule", "fusion"): _one_of("balanced", "minimal", "maximal"),
    ("pack", "array"): _array,
    ("expand", "array"): _array,
    ("split", "at"): _split_value,
    ("reorder", "statements"): _parts,
    ("unroll-and-jam", "factor"): _one_of(2, 4, 3),
    ("diamond", "size"): _one_of(2, 3, 4, 8),
    ("fuse", "shift"): _one_of("none", "auto"),
}


def propose(chooser: Chooser, schedule: Schedule) -> Transformation | None:
    """A random transformation, legal or not; None when the program has no loops."""
    if not any(loops(schedule.tree)):
        return None
    kinds = dict(all_transformations())
    if not chance(chooser, 10):
        # it solves integer programs, in a process of its own
        kinds.pop("affine-schedule", None)
    cls = choose(chooser, list(kinds.values()))
    subjects = SUBJECTS.get(cls.name, _one_loop)(chooser, schedule)
    names = tuple(schedule.short_name(loop) for loop in subjects)
    return cls(names, **_options(chooser, schedule, cls, len(names)))


def _one_loop(chooser: Chooser, schedule: Schedule) -> list[Loop]:
    return [choose(chooser, list(loops(schedule.tree)))]


def _innermost(chooser: Chooser, schedule: Schedule) -> list[Loop]:
    """As a rule a loop without others inside."""
    existing = list(loops(schedule.tree))
    inner = [loop for loop in existing if len(list(loops(loop))) == 1]
    return [choose(chooser, inner if chance(chooser, 75) else existing)]


def _chain(chooser: Chooser, schedule: Schedule) -> list[Loop]:
    """Loops directly inside each other, outermost first."""
    existing = list(loops(schedule.tree))
    starts = [loop for loop in existing if len(chain(loop)) > 1] or existing
    members = chain(choose(chooser, starts))
    return list(members[: chooser.integer(min(2, len(members)), len(members))])


def _pair(chooser: Chooser, schedule: Schedule) -> list[Loop]:
    return _chain(chooser, schedule)[:2]


def _chain_or_one(chooser: Chooser, schedule: Schedule) -> list[Loop]:
    pick = _one_loop if chance(chooser, 30) else _chain
    return pick(chooser, schedule)


def _permuted(chooser: Chooser, schedule: Schedule) -> list[Loop]:
    members = _chain(chooser, schedule)
    return distinct(chooser, members, len(members))


def _siblings(chooser: Chooser, schedule: Schedule) -> list[Loop]:
    """Loops that follow each other."""
    runs: list[list[Loop]] = []
    for node in walk(schedule.tree):
        if isinstance(node, schedule_tree.Sequence):
            for one, other in itertools.pairwise(node.children):
                if isinstance(one, Loop) and isinstance(other, Loop):
                    runs.append([one, other])
    return choose(chooser, runs) if runs else _chain(chooser, schedule)


def _nested(chooser: Chooser, schedule: Schedule) -> list[Loop]:
    """A loop, with or without one somewhere inside."""
    outer = _one_loop(chooser, schedule)
    inside = list(loops(outer[0].body))
    return [*outer, choose(chooser, inside)] if inside and chance(chooser, 30) else outer


def _nothing(_chooser: Chooser, _schedule: Schedule) -> list[Loop]:
    return []


# what a transformation is about, where that is not one loop
SUBJECTS: dict[str, Callable[[Chooser, Schedule], list[Loop]]] = {
    "vectorize": _innermost,
    "interchange": _permuted,
    "tile": _chain_or_one,
    "skew": _chain,
    "wavefront": _pair,
    "distribute": _chain_or_one,
    "fuse": _siblings,
    "affine-schedule": _nothing,
    "reorder": _nothing,
    "diamond": _pair,
    "expand": _nested,
}


def _options(
    chooser: Chooser, schedule: Schedule, cls: type[Transformation], loops: int
) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.name == "loops":
            continue
        make = OPTIONS.get((cls.name, field.name))
        if make is not None:
            values[field.name] = make(chooser, schedule, loops)
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
