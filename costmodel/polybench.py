"""Workload `polybench`: a held-out test set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random

from ..kernels.catalogue import KernelEntry, catalogue
from ..passes.default.default_schedule import candidates
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.polyhedral.counting import cardinality, fix_parameters
from ..passes.polyhedral.extents import infer_extents
from ..passes.schedules.schedule import Schedule
from .labels import ProgramInstance
from .original import original_schedule
from .sampler import SAMPLER_VERSION, sample_schedules

ORIGIN = "polybench"

SIZES = ("LARGE", "MEDIUM", "SMALL")
"""The first of these at which a kernel is not too much work is labelled."""

MOST_INSTANCES = 30_000_000
"""Executions of statements, some 30 ms: labelling all kernels at LARGE would take hours."""


@dataclass(frozen=True)
class PolybenchWorkload:
    """Kernel number `n`, in alphabetical order, with at most `count` schedules.

    The default schedules among them are those for so many `threads`.
    """

    count: int = 24
    threads: int = 1

    def __len__(self) -> int:
        """The number of kernels."""
        return len(_kernels())

    def identity(self, item: int) -> tuple[str, int, int, int]:
        """What the labels of a kernel are found by: origin, number, versions."""
        return ORIGIN, item, 0, SAMPLER_VERSION

    def instance(self, item: int) -> ProgramInstance:
        """Kernel number `item`."""
        entry = _kernels()[item]
        return ProgramInstance(entry.text, _sizes(entry), ORIGIN, item, 0, SAMPLER_VERSION)

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """Its schedules, the default ones first."""
        defaults = list(candidates(original, SchedulingContext(sizes, self.threads)))
        for sample in sample_schedules(Random(item), original, self.count, defaults):
            yield sample.schedule, sample.origin


@cache
def _kernels() -> tuple[KernelEntry, ...]:
    return tuple(
        entry for name, entry in sorted(catalogue().items()) if name.startswith(f"{ORIGIN}/")
    )


def _sizes(entry: KernelEntry) -> Mapping[str, int]:
    """The values of the parameters at the largest size that is little enough work."""
    scop = original_schedule(entry.text).scop
    for size in SIZES[:-1]:
        values = entry.parameter_values(size)
        names = infer_extents(scop, values)
        domains = (fix_parameters(statement.domain, names) for statement in scop.statements)
        if sum(map(cardinality, domains)) <= MOST_INSTANCES:
            return dict(values)
    return dict(entry.parameter_values(SIZES[-1]))
