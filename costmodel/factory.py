"""Workloads of the data factory: random programs, and which schedules to label of each."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import ClassVar

from ..passes.default.default_schedule import candidates
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.schedules.schedule import Schedule
from ..passes.search.beam import BeamSearch
from ..passes.search.result import Task
from ..passes.search.searching import explored
from ..passes.search.space.swaps import swaps
from ..passes.search.space.trees import certain_names, chains
from ..passes.transformations.interchange import Interchange
from .find import find_model
from .generator import (
    CONTRACTION,
    GENERAL,
    GENERATOR_VERSION,
    INTERCHANGE,
    RECTANGULAR,
    Mix,
    random_program,
)
from .labels import Subject
from .sampler import SAMPLER_VERSION, TIRAMISU, sample_schedules
from .sampler.neighbours import neighbour
from .sampler.paths import BEST, DEFAULT, NEAR_DEFAULT


@dataclass(frozen=True)
class SeededWorkload(ABC):
    """Program number `n` of a seed; `origin` tells the labels of workloads apart."""

    seed: int
    origin: ClassVar[str]
    mix: ClassVar[Mix]

    def program_seed(self, item: int) -> int:
        """The seed of a program: two runs with different seeds have no programs in common."""
        digest = hashlib.sha256(f"loopwright {self.seed} {item}".encode()).digest()
        return int.from_bytes(digest[:6], "big")

    def identity(self, item: int) -> tuple[str, int, int, int]:
        """What the labels of a program are found by: origin, seed, versions."""
        return self.origin, self.program_seed(item), GENERATOR_VERSION, SAMPLER_VERSION

    def subject(self, item: int) -> Subject:
        """Program number `item`."""
        program = random_program(self.program_seed(item), self.mix)
        return Subject(program.text, program.sizes, *self.identity(item))

    @abstractmethod
    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """What `labels.Workload` says."""


@dataclass(frozen=True)
class RandomWorkload(SeededWorkload):
    """Random schedules of programs of the general mix, between `fewest` and `most` of each.

    The default schedules among them are those for so many `threads`.
    """

    origin: ClassVar[str] = "random"
    mix: ClassVar[Mix] = GENERAL
    fewest: int = 32
    most: int = 128
    threads: int = 1

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """Its schedules: more of programs with more loops, whose space is larger."""
        random = Random(self.program_seed(item))
        statements = len(original.scop.statements)
        depth = max(len(statement.loops) for statement in original.scop.statements)
        share = min(1.0, 0.2 + 0.1 * statements + 0.12 * depth)
        count = round(self.fewest + share * random.random() * (self.most - self.fewest))
        defaults = list(candidates(original, SchedulingContext(sizes, self.threads)))
        for sample in sample_schedules(random, original, count, defaults):
            yield sample.schedule, sample.origin


@dataclass(frozen=True)
class SearchedWorkload(SeededWorkload):
    """What a search with a model takes for fast, of programs of the general mix.

    Random schedules do not show where a model is wrong about what it prefers: it is the errors in
    one direction that a search picks out. Of each program there are the default schedule for so
    many `threads` (where it is not the program as written), the `best` by the model of all that a
    beam search meets in `budget` seconds, so many `others` of them at random, and variations
    `near` the default schedule.
    """

    origin: ClassVar[str] = "searched"
    mix: ClassVar[Mix] = GENERAL
    threads: int = 1
    model: str = "ensemble"
    budget: float = 4.0
    best: int = 8
    others: int = 6
    near: int = 0

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """The default schedule, then the best ones, then others."""
        random = Random(self.program_seed(item))
        task = Task(
            original, SchedulingContext(sizes, self.threads), _model(self.model), budget=self.budget
        )
        state = explored(BeamSearch(), task)
        met = [schedule for schedule in state.ranked() if schedule.transformations]
        best, rest = met[: self.best], met[self.best :]
        others = random.sample(rest, min(self.others, len(rest)))
        default = state.default_schedule
        usual = [default] if default.transformations else []
        near = self._near(random, original, default)
        seen: set[object] = set()
        for schedules, name in (
            (usual, DEFAULT),
            (best, BEST),
            (others, "other"),
            (near, NEAR_DEFAULT),
        ):
            for schedule in schedules:
                if state.key(schedule) not in seen:
                    seen.add(state.key(schedule))
                    yield schedule, name

    def _near(self, random: Random, original: Schedule, default: Schedule) -> Iterator[Schedule]:
        """Some variations of the default schedule."""
        for _ in range(self.near):
            found = neighbour(random, original, default)
            if found is not None:
                yield found


_model = cache(find_model)


@dataclass(frozen=True)
class ContractionWorkload(SearchedWorkload):
    """The same of products of matrices and the like, whose best schedules take many steps.

    Among random schedules of small programs there are hardly any with packed panels and register
    tiles, and none is as fast.
    """

    origin: ClassVar[str] = "contraction"
    mix: ClassVar[Mix] = CONTRACTION
    near: int = 10


@dataclass(frozen=True)
class InterchangeWorkload(SeededWorkload):
    """Every legal interchange of two levels of programs of one nest, and nothing else.

    The order as written is among the schedules, as an interchange that leaves all loops where
    they are: it is compiled as the others are, other than the program itself, and the best of them
    is the best order and not the best compiler.
    """

    origin: ClassVar[str] = "interchange"
    mix: ClassVar[Mix] = INTERCHANGE

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """The order as written (`I()`), then the others, named by levels: `I(L0,L2)`."""
        yield from every_interchange(original)


@dataclass(frozen=True)
class TiramisuWorkload(SeededWorkload):
    """Tiramisu's space: single rectangular nests; fusion, interchange, tiling, unrolling.

    At most `count` of each program: to learn from, more programs are worth more.
    """

    origin: ClassVar[str] = "tiramisu"
    mix: ClassVar[Mix] = RECTANGULAR
    count: int = 8

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """Its schedules, other ones than the order as written."""
        random = Random(self.program_seed(item))
        for sample in sample_schedules(random, original, self.count, space=TIRAMISU):
            yield sample.schedule, sample.origin


def every_interchange(original: Schedule) -> Iterator[tuple[Schedule, str]]:
    """All legal interchanges of two levels of a program of one nest; none where there is none."""
    changed = [
        (schedule, f"I(L{outer},L{inner})")
        for (outer, inner), move in swaps(original.tree).items()
        if (schedule := move.apply(original)) is not None
    ]
    if changed:
        longest = max(chains(original.tree), key=len)
        yield original.apply(Interchange(certain_names(longest))), "I()"
        yield from changed


WORKLOADS: Mapping[str, type[SeededWorkload]] = {
    workload.origin: workload
    for workload in (
        RandomWorkload,
        SearchedWorkload,
        ContractionWorkload,
        InterchangeWorkload,
        TiramisuWorkload,
    )
}
"""By the name that `loopwright data generate --workload` takes."""
