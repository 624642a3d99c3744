"""What becomes of labels when everything is suspended for a while: nothing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.workloads import FixedWorkload

from loopwright.costmodel.labels import ProgramInstance
from loopwright.runtime.labelling.policy import Policy
from loopwright.runtime.labelling.remote import RemoteLabellingWorker
from loopwright.runtime.measuring import clock as stopwatch
from loopwright.runtime.measuring.clock import LONGEST_GAP, SuspensionTolerantClock

SCALE = """
func.func @scale(%n: index, %A: memref<?xf64>) {
  affine.for %t = 0 to %n {
    affine.for %i = 0 to %n {
      %0 = affine.load %A[%i] : memref<?xf64>
      %1 = math.sqrt %0 : f64
      affine.store %1, %A[%i] : memref<?xf64>
    }
  }
  return
}
"""
INSTANCE = ProgramInstance(SCALE, {"n": 4_000}, "test", 1)
SCHEDULES = ("vectorize{loops=i width=8}", "unroll{loops=i factor=4}", "tile{loops=i sizes=64}")


def descendants(pid: int) -> Iterator[int]:
    """Children, theirs, and so on, from what Linux says of processes."""
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield child
            yield from descendants(child)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find processes")
def test_a_station_may_be_suspended() -> None:
    """All processes stand still for longer than any of them may take, in the middle of runs."""
    policy = Policy(budget=0.1, enough=0.1, run_limit=2.0, compile_limit=2.0, baseline_every=2)
    station = RemoteLabellingWorker(FixedWorkload(INSTANCE, *SCHEDULES), policy)
    ended = threading.Event()

    def suspend() -> None:
        while not ended.wait(1.0):
            family = list(descendants(os.getpid()))
            for process in family:
                os.kill(process, signal.SIGSTOP)
            ended.wait(2.5)
            for process in family:
                os.kill(process, signal.SIGCONT)

    disturbing = threading.Thread(target=suspend)
    disturbing.start()
    try:
        (labelled,) = station.label([0])
    finally:
        ended.set()
        disturbing.join()
        station.close()
    assert labelled.incidents == ()
    assert labelled.baseline is not None
    assert [label.schedule for label in labelled.labels] == list(SCHEDULES)
    for label in (labelled.baseline, *labelled.labels):
        assert label.status == "measured"
        assert label.seconds < 2 * label.fastest


def test_a_long_gap_hardly_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(stopwatch.time, "monotonic", lambda: now)
    watch = SuspensionTolerantClock()
    now += 0.5
    assert watch.look() == pytest.approx(0.5)
    assert not watch.was_suspended
    now += 3600
    assert watch.look() == pytest.approx(0.5 + LONGEST_GAP)
    assert watch.was_suspended
    watch.pause()
    now += 0.5
    watch.resume()
    now += 0.25
    assert watch.look() == pytest.approx(0.75 + LONGEST_GAP)
    watch.restart()
    assert watch.look() == 0.0 and not watch.was_suspended
