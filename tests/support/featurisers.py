"""Featurisers that show what processes do; other processes must be able to import them."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule


@dataclass(frozen=True)
class Blocked:
    """Features that say whether the process that computes them would miss Ctrl-C."""

    schema: str = "blocked-1"

    def featurise(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[bool]:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        return [signal.SIGINT in mask] * len(schedules)


@dataclass(frozen=True)
class Ended:
    """A process that is killed while it computes features."""

    schema: str = "ended-1"

    def featurise(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> list[bool]:
        os.kill(os.getpid(), signal.SIGKILL)
        return []
