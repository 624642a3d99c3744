"""The default workload of the data factory: random programs, and random schedules of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from ..passes.default.default_schedule import candidates
from ..passes.default.request import Request
from ..passes.schedule import Schedule
from .generator import GENERATOR_VERSION, random_program
from .labels import Subject
from .sampler import SAMPLER_VERSION, sample_schedules

ORIGIN = "random"


@dataclass(frozen=True)
class RandomWorkload:
    """Program number `n` of a seed, with between `fewest` and `most` schedules.

    The default schedules among them are those for so many `threads`.
    """

    seed: int
    fewest: int = 32
    most: int = 128
    threads: int = 1

    def program_seed(self, item: int) -> int:
        """The seed of a program: two runs with different seeds have no programs in common."""
        digest = hashlib.sha256(f"loopwright {self.seed} {item}".encode()).digest()
        return int.from_bytes(digest[:6], "big")

    def identity(self, item: int) -> tuple[str, int, int, int]:
        """What the labels of a program are found by: origin, seed, versions."""
        return ORIGIN, self.program_seed(item), GENERATOR_VERSION, SAMPLER_VERSION

    def subject(self, item: int) -> Subject:
        """Program number `item`."""
        seed = self.program_seed(item)
        program = random_program(seed)
        return Subject(
            program.text, program.sizes, ORIGIN, seed, GENERATOR_VERSION, SAMPLER_VERSION
        )

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """Its schedules: more of programs with more loops, whose space is larger."""
        random = Random(self.program_seed(item))
        statements = len(original.scop.statements)
        depth = max(len(statement.loops) for statement in original.scop.statements)
        share = min(1.0, 0.2 + 0.1 * statements + 0.12 * depth)
        count = round(self.fewest + share * random.random() * (self.most - self.fewest))
        defaults = list(candidates(original, Request(sizes, self.threads)))
        for sample in sample_schedules(random, original, count, defaults):
            yield sample.schedule, sample.origin
