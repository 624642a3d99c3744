"""Timing: when repetitions end, what a result says, that nothing is left changed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from support.runtime_programs import GEMM, SAXPY

import loopwright
from loopwright.runtime.jit.threads import pinned, run_in_team
from loopwright.runtime.measuring.timing import (
    MINIMUM_REPETITIONS,
    Timing,
    format_seconds,
    is_steady,
    quantile,
    repeat,
)
from loopwright.support.stage_times import StageTimes, record_stages, stage


def test_statistics() -> None:
    timing = Timing((4.0, 1.0, 2.0, 3.0, 5.0), 2, True, False, False)
    assert (timing.median, timing.min, timing.repetitions) == (3.0, 1.0, 5)
    assert timing.spread == pytest.approx((4.0 - 2.0) / 3.0)
    assert str(timing) == (
        "median 3 s, min 1 s, spread 66.7% (5 repetitions, 2 threads, pinned, not steady)"
    )
    assert Timing((1.0,), 1, False, True, False).spread == 0.0


def test_quantiles_are_interpolated() -> None:
    assert [quantile([1.0, 2.0, 4.0], share) for share in (0.0, 0.25, 0.5, 1.0)] == [1, 1.5, 2, 4]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (123.4, "123 s"),
        (1.0, "1 s"),
        (0.01234, "12.3 ms"),
        (4.5e-6, "4.5 us"),
        (1e-9, "1 ns"),
        (12345.0, "12345 s"),
    ],
)
def test_seconds_are_readable(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_steadiness() -> None:
    assert not is_steady([1.0] * (MINIMUM_REPETITIONS - 1))
    assert is_steady([1.0] * MINIMUM_REPETITIONS)
    assert not is_steady([1.0, 2.0] * 10)
    assert is_steady([1.0] * 20 + [50.0])


class Clock:
    """A clock that calls move forward."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.calls = 0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def call(self, *seconds: float) -> None:
        self.now += seconds[self.calls % len(seconds)]
        self.calls += 1


def test_ends_when_steady(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    seconds, steady = repeat(lambda: clock.call(0.25), None, 100.0)
    assert steady
    assert seconds == (0.25,) * MINIMUM_REPETITIONS
    assert clock.calls == MINIMUM_REPETITIONS + 1


def test_ends_with_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    seconds, steady = repeat(lambda: clock.call(1.0, 2.0), None, 20.0)
    assert not steady
    assert sum(seconds) <= 20.0 + 2.0


def test_measures_at_least_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    assert repeat(lambda: clock.call(50.0), None, 1.0) == ((50.0,), False)


def test_preparation_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def prepare() -> None:
        clock.now += 1000.0

    seconds, _ = repeat(lambda: clock.call(0.25), prepare, 1e6)
    assert set(seconds) == {0.25}


def test_arrays_are_restored_when_asked() -> None:
    kernel = loopwright.load(SAXPY)["saxpy"].compile()
    x, y = np.ones(8, "f4"), np.arange(8, dtype="f4")
    before = y.copy()
    timing = kernel.time(8, 1.0, x, y, budget=0.02, restore=True)
    assert (y == before).all()
    assert timing.repetitions >= 1
    assert timing.threads == 1
    kernel.time(8, 1.0, x, y, budget=0.02)
    assert (y > before).all()


def test_cold_caches() -> None:
    kernel = loopwright.load(GEMM)["gemm"].compile("parallel{loops=i}", threads=2)
    a, b, c = np.ones((4, 4)), np.ones((4, 4)), np.zeros((4, 4))
    timing = kernel.time(4, 4, 4, c, a, b, budget=0.01, cold=True, restore=True)
    assert timing.cold
    assert timing.threads == 2
    assert not c.any()


def test_pinning_is_undone() -> None:
    before = os.sched_getaffinity(0)
    with pinned(1) as is_pinned:
        assert is_pinned
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_more_threads_than_processors_are_not_pinned() -> None:
    before = os.sched_getaffinity(0)
    with pinned(len(before) + 1) as is_pinned:
        assert not is_pinned
        assert os.sched_getaffinity(0) == before


def test_a_team_runs_a_task_in_every_thread() -> None:
    identities: list[int] = []
    run_in_team(2, lambda: identities.append(threading.get_native_id()))
    assert len(set(identities)) == 2
    run_in_team(1, identities.clear)
    assert identities == []


def test_stages_are_exclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    times = StageTimes()
    with record_stages(times):
        clock.call(1.0)
        with stage("outer"):
            clock.call(2.0)
            with stage("inner"):
                clock.call(4.0)
            clock.call(8.0)
    with record_stages(times), stage("inner"):
        clock.call(16.0)
    assert times.seconds == {"outer": 10.0, "inner": 20.0}
    assert times.total == 31.0
    assert str(times).splitlines() == [
        "outer   10000.00 ms",
        "inner   20000.00 ms",
        "other    1000.00 ms",
        "total   31000.00 ms",
    ]


def test_stages_of_a_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CACHE", "off")
    with record_stages() as times:
        kernel = loopwright.load(SAXPY)["saxpy"].compile("tile{loops=i sizes=4}")
        kernel.specialise(8, 1.0, np.ones(8, "f4"), np.ones(8, "f4"))
    for name in ("parse", "raise", "dependences", "legality", "LLVM IR", "optimise", "codegen"):
        assert times.seconds[name] > 0
    assert sum(times.seconds.values()) <= times.total


def test_stages_outside_of_a_recording_cost_nothing() -> None:
    with stage("nobody listens"):
        pass


def test_the_default_number_of_threads_is_that_of_the_runtime() -> None:
    program = (
        "import numpy as np, loopwright\n"
        "from support.runtime_programs import SAXPY\n"
        "kernel = loopwright.load(SAXPY)['saxpy'].compile('parallel{loops=i}')\n"
        "x, y = np.ones(64, 'f4'), np.ones(64, 'f4')\n"
        "print(kernel.time(64, 1.0, x, y, budget=0.0).threads)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "3"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("3\n", "")
