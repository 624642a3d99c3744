"""What a report is about: a function, its schedule, the sizes it is looked at with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..kernels.catalogue import KernelEntry
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.schedules.errors import IllegalTransformation
from ..passes.schedules.schedule import Schedule
from ..passes.search.result import PathStep
from ..runtime.machine.measured import MeasuredMachine
from ..runtime.measuring.timing import quantile
from ..runtime.program import Function
from ..support.cached_property import cached_property


@dataclass(frozen=True)
class Measured:
    """Times of one way to run the program; `note` says why there are none, or what is wrong."""

    name: str
    threads: int
    seconds: tuple[float, ...] = ()
    note: str = ""
    is_ours: bool = True

    @property
    def label(self) -> str:
        """The name, with the threads where there are several."""
        return self.name if self.threads == 1 else f"{self.name}, {self.threads} threads"

    def quantile(self, share: float) -> float:
        """A quantile of the seconds, of which there are some."""
        return quantile(sorted(self.seconds), share)

    @property
    def median(self) -> float:
        """The median in seconds."""
        return self.quantile(0.5)

    @property
    def spread(self) -> float:
        """The distance of the quartiles as a share of the median."""
        return (self.quantile(0.75) - self.quantile(0.25)) / self.median


@dataclass(frozen=True, eq=False)
class Subject:
    """A function with its source text, a schedule, and the sizes that are known.

    `title` is what the user calls the program, `chosen` how the schedule was chosen (`default`,
    `given` ...). Where a step is illegal, `illegal` is the refusal, and the schedule has the steps
    before it. `entry` is there for shipped kernels. `measured` are times, `unmeasured` the reason
    for none. `tuned` is the schedule that tuning has kept, `path` its steps with the speed-ups
    after each. `machine` are the measured limits, if they are stored.
    """

    title: str
    text: str
    function: Function
    schedule: Schedule
    chosen: str
    sizes: Mapping[str, int]
    threads: int
    fast_math: bool = False
    illegal: IllegalTransformation | None = None
    entry: KernelEntry | None = None
    measured: Sequence[Measured] = ()
    unmeasured: str | None = None
    tuned: Schedule | None = None
    path: Sequence[PathStep] = ()
    machine: MeasuredMachine | None = None

    @property
    def original(self) -> Schedule:
        """The program as written."""
        return Schedule.original(
            self.function.scop, self.schedule.target, reassociate=self.fast_math
        )

    @property
    def unknown_sizes(self) -> list[str]:
        """Sizes that have no value."""
        return [size.name for size in self.function.scop.sizes if size.name not in self.sizes]

    @cached_property
    def context(self) -> SchedulingContext | None:
        """What estimates need; None as long as sizes are unknown."""
        return None if self.unknown_sizes else SchedulingContext(self.sizes, self.threads)

    @property
    def needs_sizes(self) -> str:
        """What to say where sizes are unknown."""
        parameters = [p.name for p in self.function.scop.parameters if p.name in self.unknown_sizes]
        options = " ".join(f"--set {name}=..." for name in parameters or self.unknown_sizes)
        return f"This needs all sizes: add {options}"
