"""Measurement policy of labels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """Measurement policy: repetitions and time-outs, in seconds.

    A run of a candidate that takes more than `cutoff` times the baseline ends its measurement: it
    is censored. Others are measured in `visits` turns, with other candidates in between, so that
    what changes slowly is averaged. `budget` is the time of all runs of a turn, as far as
    `least_runs` have been made; `enough` the time after which a steady median ends it sooner. What
    is slower than `slow` times the baseline has one turn, for `enough` only. A program that
    takes less than `least_seconds` is not measured at all: clocks and calls would count. The
    baseline is measured again after `baseline_every` candidates. `threads`
    run parallel loops. `compile_limit` and `run_limit` are those of one candidate, `memory` is that
    of each process in bytes.
    """

    threads: int = 1
    cutoff: float = 8.0
    visits: int = 2
    budget: float = 0.01
    enough: float = 0.003
    steady: float = 0.015
    least_runs: int = 2
    least_seconds: float = 2e-5
    slow: float = 1.5
    baseline_every: int = 6
    compile_limit: float = 20.0
    run_limit: float = 5.0
    memory: int = 6 << 30
    fast_math: bool = False
