"""Random paths through the space of schedules.

The space and its order are LOOPer's (section 4): fusion, then sequences of interchange, skewing and
reversal, then parallelisation, tiling and unrolling; and ours: distribution, several levels of
tiles, register tiles, packing, vectors, isl's affine schedules as other starting points, the
default schedules, and variations of all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random

from ...passes.schedules.schedule import Schedule
from ...passes.search.space.trees import tree_key
from . import random_moves
from .random_neighbours import neighbour

SAMPLER_VERSION = 1
"""Schedules of one seed and program are the same as long as this is the same."""

# Origins of schedules; the best are those that a search likes.
DEFAULT = "default"
NEIGHBOUR_NAME = "neighbour"
NEAR_DEFAULT = f"{DEFAULT}+{NEIGHBOUR_NAME}"
BEST = "best"

Move = Callable[[Random, Schedule], Schedule | None]


@dataclass(frozen=True)
class Stage:
    """A level of the search space: each repetition takes one of the moves with a probability.

    `probabilities` are those of the first, the second ... repetition; the first that is not made
    ends the stage.
    """

    name: str
    moves: Mapping[Move, float]
    probabilities: tuple[float, ...]


STAGES = (
    Stage("fusion", {random_moves.fuse: 0.6, random_moves.distribute: 0.4}, (0.35, 0.35)),
    Stage(
        "affine",
        {random_moves.interchange: 0.82, random_moves.skew: 0.12, random_moves.reverse: 0.06},
        (0.55, 0.4, 0.3),
    ),
    Stage("tiling", {random_moves.tile: 1.0}, (0.55, 0.2)),
    Stage("packing", {random_moves.pack: 1.0}, (0.07,)),
    Stage(
        "parallelism", {random_moves.parallel: 0.88, random_moves.wavefront_of_tiles: 0.12}, (0.6,)
    ),
    Stage("register tiling", {random_moves.register_tile: 1.0}, (0.22, 0.35)),
    Stage("vectors", {random_moves.vectorize: 1.0}, (0.75,)),
    Stage("unrolling", {random_moves.unroll: 1.0}, (0.35,)),
)

AFFINE_START = 0.12
"""Paths that start from a schedule of isl's, not from the program's order."""


@dataclass(frozen=True)
class Space:
    """The stages of a path, and how many paths start from an affine schedule."""

    stages: tuple[Stage, ...]
    affine_start: float


FULL = Space(STAGES, AFFINE_START)

NEIGHBOUR = 0.25
"""Schedules that are variations of one that was found before, or of a default one."""

NEIGHBOUR_OF_DEFAULT = 0.5

KEPT_PREFIX = 0.25
"""Steps on the way to a schedule that are candidates themselves, as those of a search are."""

PATHS_PER_SCHEDULE = 4
"""Paths until a program is held to have no more schedules."""


@dataclass(frozen=True)
class Sample:
    """A legal schedule, and the stages that led to it."""

    schedule: Schedule
    origin: str


def sample_schedules(
    random: Random,
    original: Schedule,
    count: int,
    defaults: Sequence[Schedule] = (),
    space: Space = FULL,
) -> Iterator[Sample]:
    """At most `count` different schedules of a program, without its own order.

    The `defaults` come first, and variations of them later. The order of two schedules differs, or
    how their loops run; the same decisions of `random` give the same schedules.
    """
    seen = {tree_key(original.tree)}
    found: list[Sample] = []
    for sample in chain(
        (Sample(schedule, DEFAULT) for schedule in defaults),
        _candidates(random, original, defaults, found, PATHS_PER_SCHEDULE * count, space),
    ):
        if len(found) == count:
            return
        key = tree_key(sample.schedule.tree)
        if key not in seen:
            seen.add(key)
            found.append(sample)
            yield sample


def _candidates(
    random: Random,
    original: Schedule,
    defaults: Sequence[Schedule],
    found: Sequence[Sample],
    attempts: int,
    space: Space,
) -> Iterator[Sample]:
    """Variations of what was found, and what lies on random paths."""
    for _ in range(attempts):
        if found and random.random() < NEIGHBOUR:
            of_default = bool(defaults) and random.random() < NEIGHBOUR_OF_DEFAULT
            base = Sample(random.choice(defaults), DEFAULT) if of_default else random.choice(found)
            changed = neighbour(random, original, base.schedule)
            if changed is not None:
                origin = base.origin.removesuffix(f"+{NEIGHBOUR_NAME}")
                yield Sample(changed, f"{origin}+{NEIGHBOUR_NAME}")
            continue
        for sample, is_kept in _path(random, original, space):
            if is_kept:
                yield sample


def _path(random: Random, original: Schedule, space: Space) -> Iterator[tuple[Sample, bool]]:
    """The schedules on a way through the stages, and whether each is a candidate."""
    schedule, origin = original, ""
    if random.random() < space.affine_start:
        schedule, origin = (
            random_moves.affine_schedule(random, original) or original,
            "affine-schedule",
        )
    reached = None
    for stage in space.stages:
        for probability in stage.probabilities:
            if random.random() >= probability:
                break
            move = random.choices(list(stage.moves), list(stage.moves.values()))[0]
            changed = move(random, schedule)
            if changed is None:
                break
            if reached is not None:
                yield reached, random.random() < KEPT_PREFIX
            schedule = changed
            if not origin.endswith(stage.name):
                origin = f"{origin}+{stage.name}" if origin else stage.name
            reached = Sample(schedule, origin)
    if reached is not None:
        yield reached, True
