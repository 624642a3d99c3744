"""Messages between the processes of a labelling worker."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...costmodel.labels import Incident, ProgramInstance
from ..calling.signature import Signature, Sizes
from ..measuring.candidate_code import ObjectCode

OUT_OF_MEMORY = 12
"""The exit code of a measuring process whose memory limit a candidate exceeds."""


@dataclass(frozen=True)
class Opened:
    """A program, with its unscheduled loops compiled."""

    item: int
    instance: ProgramInstance
    sizes: Sizes
    names: Mapping[str, int]
    signature: Signature
    baseline: ObjectCode
    seconds: float


@dataclass(frozen=True)
class Begun:
    """The candidate to be compiled next: the culprit of a hang or crash.

    Without a schedule, the next one is being looked for; the program itself has an empty one.
    """

    item: int
    instance: ProgramInstance
    schedule: str | None


@dataclass(frozen=True)
class Candidate:
    """A compiled schedule of the program that was opened last."""

    item: int
    schedule: str
    origin: str
    code: ObjectCode
    seconds: float


@dataclass(frozen=True)
class Closed:
    """End of a program's candidates, with compile times by stage."""

    item: int
    instance: ProgramInstance
    stages: Mapping[str, float]
    is_complete: bool = True


@dataclass(frozen=True)
class Skip:
    """Request to stop compiling candidates of a program."""

    item: int


@dataclass(frozen=True)
class Failed:
    """A candidate, or (without a schedule) a program, that failed to compile."""

    item: int
    incident: Incident


FromCompiler = Opened | Begun | Candidate | Closed | Skip | Failed | None
"""What a compiling process sends: `None` when it is ready."""


@dataclass(frozen=True)
class Measurement:
    """Times of all runs, or of the one that exceeded the limit, and the error of the results.

    `stages` says where the time of measuring went.
    """

    runs: tuple[float, ...]
    is_censored: bool
    difference: float
    started: float
    stages: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def is_possible(self) -> bool:
        """Whether it can take so long."""
        return bool(self.runs) and all(0 < seconds < math.inf for seconds in self.runs)
