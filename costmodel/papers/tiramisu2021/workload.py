"""Workload `tiramisu`: single rectangular nests, and four kinds of transformations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from ....passes.schedules.schedule import Schedule
from ...generator import DEPTHS, Mix
from ...labelled_data import SeededWorkload
from ...sampler import Space, Stage, random_moves, sample_schedules

RECTANGULAR = Mix(nests={1: 1.0}, depths=DEPTHS, seconds=(8e-4, 1.2e-2), triangular=0.0)
"""One rectangular nest, as the programs of Tiramisu 2021 are."""

TIRAMISU = Space(
    (
        Stage("fusion", {random_moves.fuse: 1.0}, (0.35, 0.35)),
        Stage("interchange", {random_moves.interchange: 1.0}, (0.5, 0.3)),
        Stage("tiling", {random_moves.tile: 1.0}, (0.6, 0.2)),
        Stage("unrolling", {random_moves.unroll: 1.0}, (0.4,)),
    ),
    affine_start=0.0,
)
"""The steps of Tiramisu 2021 (section 4.1)."""


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
