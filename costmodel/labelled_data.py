"""Workloads of the labelled-data pipeline: random programs and the schedules to label.

Plug-ins add to them: entry points `loopwright.workloads`.
"""

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
from ..support.plugins import PluginError, describe, load_plugin, plugins
from .find import find_model
from .generator import CONTRACTION, GENERAL, GENERATOR_VERSION, Mix, random_program
from .labels import ProgramInstance
from .sampler import SAMPLER_VERSION, sample_schedules
from .sampler.paths import BEST, DEFAULT, NEAR_DEFAULT
from .sampler.random_neighbours import neighbour

GROUP = "workloads"


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

    def instance(self, item: int) -> ProgramInstance:
        """Program number `item`."""
        program = random_program(self.program_seed(item), self.mix)
        return ProgramInstance(program.text, program.sizes, *self.identity(item))

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
    """Schedules found by a model-guided search, for programs of the general mix.

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
    """Schedules found by a model-guided search, for contractions, whose best schedules are long.

    Among random schedules of small programs there are hardly any with packed panels and register
    tiles, and none is as fast.
    """

    origin: ClassVar[str] = "contraction"
    mix: ClassVar[Mix] = CONTRACTION
    near: int = 10


OWN: Mapping[str, type[SeededWorkload]] = {
    workload.origin: workload
    for workload in (RandomWorkload, SearchedWorkload, ContractionWorkload)
}
"""Our own workloads by the name that `loopwright data generate --workload` takes."""


def workload_names() -> tuple[str, ...]:
    """The names of all workloads; no plug-in is imported. Raises PluginError for a name of two."""
    return (*OWN, *plugins(GROUP, tuple(OWN)))


def find_workload(name: str) -> type[SeededWorkload]:
    """The workload of this name, one of `workload_names()`; raises PluginError."""
    if name in OWN:
        return OWN[name]
    entry = plugins(GROUP, tuple(OWN))[name]
    found = load_plugin(entry)
    if not (isinstance(found, type) and issubclass(found, SeededWorkload)):
        raise PluginError(f"'{name}' of {describe(entry)} is no SeededWorkload")
    return found
