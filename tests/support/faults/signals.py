"""Ctrl-C and SIGTERM anywhere: the right code, no traceback, no process left behind."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from random import Random

from .kills import GENERATE
from .processes import Home, interrupted

COMMANDS = (
    ["tune", "polybench/gemm", "--size", "SMALL", "--threads", "2", "--budget", "60s"],
    ["tune", "polybench/gemm", "--size", "SMALL", "--threads", "1", "--tiles", "--budget", "60s"],
    ["bench", "polybench/gemm", "--size", "MEDIUM", "--seconds", "30", "--peers", "numpy"],
    ["run", "polybench/gemm", "--size", "SMALL", "--seconds", "60"],
    [*GENERATE, "500"],
)

STARTED = 1.5
"""Seconds after which a command handles SIGTERM: before, Python is loading it."""


def signals(number: signal.Signals, code: int) -> Callable[[Home, Random, int], Iterator[str]]:
    """Each command in turn is sent the signal at a random moment."""

    def check(home: Home, random: Random, times: int) -> Iterator[str]:
        for turn in range(times):
            command = COMMANDS[turn % len(COMMANDS)]
            seconds = random.uniform(STARTED, 12.0)
            end = interrupted(home, command, number, seconds)
            # Who has something to show after Ctrl-C, or has ended before, may say that all is well;
            # shells tell the end by a signal, as when Python is ending by itself, by the same code.
            is_well = number == signal.SIGINT or not end.was_there
            for problem in end.problems([code, -number, *([0] if is_well else [])]):
                yield f"{' '.join(command[:2])} after {seconds:.1f} s: {problem}"
            if not (end.out + end.err).strip():
                yield f"{' '.join(command[:2])} after {seconds:.1f} s says nothing"

    return check
