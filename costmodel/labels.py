"""Labels and workloads: the data exchanged along the labelled-data pipeline.

A *workload* (programs and schedules, no machine code) says what to label; what compiles and runs
gives *labels* back. Neither side imports the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ..passes.schedules.schedule import Schedule

Status = Literal["measured", "censored"]

TOO_MUCH_MEMORY = "memory"
"""The kind of incident where a schedule needs more memory than a process may have."""

LASTING = ("refused", "not-finite")
"""The kinds of incident that lie in a program itself: it will not go better another time."""


@dataclass(frozen=True)
class ProgramInstance:
    """A program to label schedules of: MLIR text with one function, and values of its sizes.

    `origin` says where it is from (`random`, `looperset` ...), `seed` and the versions how it can
    be made again.
    """

    text: str
    sizes: Mapping[str, int]
    origin: str
    seed: int = 0
    generator_version: int = 0
    sampler_version: int = 0


class Workload(Protocol):
    """Programs by number, and the schedules of each to label; it is sent to other processes."""

    def instance(self, item: int) -> ProgramInstance:
        """The program with this number; the same at every call."""
        ...

    def schedules(
        self, item: int, original: Schedule, sizes: Mapping[str, int]
    ) -> Iterator[tuple[Schedule, str]]:
        """Different legal schedules of that program, each with a word on how it was found.

        `sizes` binds every size, those that follow from others included.
        """
        ...


@dataclass(frozen=True)
class Label:
    """One measured schedule; the unscheduled program itself has an empty `schedule`.

    `seconds` is the lower decile of `repetitions` runs, `spread` the interquartile range as a share
    of the median, `fastest` the shortest run. Censored labels were cut off because they are surely
    slower than a factor of the baseline; `seconds` is what is known then, a lower bound.
    `baseline_seconds` is what the unscheduled program, on one thread, took at that time.
    `difference` is the largest difference from its results, relative to the largest value.
    `compile_seconds` includes the time to apply the schedule. `measured_at` is in seconds since
    1970.
    """

    schedule: str
    origin: str
    status: Status
    seconds: float
    spread: float
    fastest: float
    repetitions: int
    threads: int
    baseline_seconds: float
    difference: float
    compile_seconds: float
    measured_at: float

    @property
    def speedup(self) -> float:
        """How many times faster than the unscheduled program; an upper bound when censored."""
        return self.baseline_seconds / self.seconds


@dataclass(frozen=True)
class Incident:
    """A schedule that gave no label: a wrong result, a crash, a hang, an error, too much memory.

    `kind` is one word; `text` and `sizes` and `schedule` reproduce it.
    """

    kind: str
    message: str
    text: str
    sizes: Mapping[str, int]
    schedule: str
    seed: int

    @property
    def is_mistake(self) -> bool:
        """Whether it needs inspection: excessive memory does not."""
        return self.kind != TOO_MUCH_MEMORY


@dataclass(frozen=True)
class LabelledProgram:
    """All labels of one program; `baseline` is None where the program itself could not be measured.

    `sizes` binds every size, those that follow from others included. `machine` and `compiler` are
    JSON texts that tell machines and code generators apart. `stages` says, in seconds, where the
    time went: that of the processor for compiling, that of the clock for measuring.
    """

    item: int
    instance: ProgramInstance
    sizes: Mapping[str, int]
    baseline: Label | None
    machine: str
    compiler: str
    labels: tuple[Label, ...] = ()
    incidents: tuple[Incident, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def is_settled(self) -> bool:
        """Whether labelling it once more would give no more than this: nothing went wrong."""
        kinds = {incident.kind for incident in self.incidents}
        return self.baseline is not None or kinds <= set(LASTING)
