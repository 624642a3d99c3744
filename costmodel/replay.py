"""Workload that labels stored pairs again, elsewhere or with newer code."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median

from ..passes.schedules.errors import TransformationError
from ..passes.schedules.schedule import Schedule
from ..passes.syntax.pipeline import parse_pipeline
from .dataset.rows import Row, program_instance_of
from .labels import LabelledProgram, ProgramInstance

PAIRS_EACH = 12
"""Schedules of one program that are labelled again."""


@dataclass(frozen=True)
class ReplayWorkload:
    """Programs with the texts of their schedules; those that no longer apply are left out."""

    programs: Sequence[tuple[ProgramInstance, tuple[str, ...]]]

    def instance(self, item: int) -> ProgramInstance:
        """Program number `item`."""
        return self.programs[item][0]

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """Its schedules, in the order given."""
        for text in self.programs[item][1]:
            try:
                yield original.apply_all(parse_pipeline(text)), "replay"
            except TransformationError:
                continue


def choose_pairs(rows: Iterable[Row], pairs: int, seed: int) -> ReplayWorkload:
    """Some measured pairs, at most `PAIRS_EACH` of each program; no censored ones.

    Schedules of one program are noisy in the same way: few programs would not stand for all.
    """
    instances: dict[bytes, ProgramInstance] = {}
    schedules: dict[bytes, list[str]] = {}
    for row in rows:
        key = row["program_key"]
        if row["schedule"] and row["status"] == "measured":
            instances.setdefault(key, program_instance_of(row))
            schedules.setdefault(key, []).append(row["schedule"])
    random = Random(seed)
    keys = sorted(schedules)
    random.shuffle(keys)
    chosen: list[tuple[ProgramInstance, tuple[str, ...]]] = []
    left = pairs
    for key in keys:
        if left <= 0:
            break
        count = min(left, PAIRS_EACH, len(schedules[key]))
        texts = tuple(random.sample(schedules[key], count))
        chosen.append((instances[key], texts))
        left -= len(texts)
    return ReplayWorkload(tuple(chosen))


def differences(
    workload: ReplayWorkload, labelled: Iterable[LabelledProgram], rows: Iterable[Row]
) -> list[float]:
    """Of every pair that was measured twice, `log(speed-up now / speed-up then)`."""
    then = {
        (row["program"], row["schedule"]): row["baseline_seconds"] / row["seconds"]
        for row in rows
        if row["status"] == "measured"
    }
    return [
        math.log(label.speedup / then[program.instance.text, label.schedule])
        for program in labelled
        for label in program.labels
        if label.status == "measured" and (program.instance.text, label.schedule) in then
    ]


def median_difference(found: Sequence[float]) -> float:
    """The median of the absolute differences."""
    return median(map(abs, found))
