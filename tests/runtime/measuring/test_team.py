"""Parallel candidates wait while the threads of the team are far from each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from loopwright.costmodel.labels import ProgramInstance
from loopwright.runtime.calling.signature import Sizes
from loopwright.runtime.labelling import measuring_slot
from loopwright.runtime.labelling.measuring_slot import LONGEST_APART, LOOK_AGAIN, MeasuringSlot
from loopwright.runtime.labelling.messages import Candidate, Closed, Measurement, ObjectCode, Opened
from loopwright.runtime.labelling.policy import Policy
from loopwright.runtime.labelling.queues import ProgramQueue
from loopwright.runtime.measuring import team
from loopwright.runtime.measuring.team import ATTEMPTS, FAR, TeamWatch

INSTANCE = ProgramInstance("", {}, "test", 1)
SERIAL = ObjectCode(b"", (), False)
PARALLEL = ObjectCode(b"", (), True)
QUICK_RUN = Measurement((1.0,), False, 0.0, 0.0)


def candidate(name: str, code: ObjectCode) -> Candidate:
    return Candidate(0, name, "test", code, 0.0)


def queue(**codes: ObjectCode) -> ProgramQueue:
    """A program whose candidates are all compiled."""
    signature = cast(Any, SimpleNamespace(arguments=()))
    opened = Opened(0, INSTANCE, Sizes({}, {}), {}, signature, SERIAL, 0.0)
    result = ProgramQueue(0, Policy(threads=2, visits=1), INSTANCE, opened)
    result.waiting.extend(candidate(name, code) for name, code in codes.items())
    result.close(Closed(0, INSTANCE, {}))
    return result


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> deque[float]:
    """Times of forking that a watch will see, and a directory of its own."""
    times: deque[float] = deque()

    def fork(_: TeamWatch) -> float:
        return times[0]

    monkeypatch.setattr(TeamWatch, "_fork", fork)
    monkeypatch.setattr(team, "wake", lambda threads: None)
    monkeypatch.setattr(team, "cache_directory", lambda: tmp_path)
    return times


def looks(watch: TeamWatch, forks: deque[float], *seconds: float) -> list[bool]:
    found: list[bool] = []
    for time in seconds:
        forks.clear()
        forks.append(time)
        found.append(watch.is_near())
    return found


def test_a_fork_that_takes_longer_than_the_shortest_is_far(forks: deque[float]) -> None:
    near, far = 1e-5, 1e-5 * FAR * 1.1
    watch = TeamWatch(2, "this machine")
    assert looks(watch, forks, near, far, near * 1.2, far) == [True, False, True, False]


def test_one_quiet_attempt_is_enough(monkeypatch: pytest.MonkeyPatch, forks: deque[float]) -> None:
    watch = TeamWatch(2, "this machine")
    assert looks(watch, forks, 1e-5) == [True]
    times = iter([1e-3] * (ATTEMPTS - 1) + [1e-5])
    monkeypatch.setattr(TeamWatch, "_fork", lambda self: next(times))
    assert watch.is_near()


def test_the_shortest_time_is_known_to_later_processes(forks: deque[float], tmp_path: Path) -> None:
    assert looks(TeamWatch(2, "this machine"), forks, 1e-5) == [True]
    assert looks(TeamWatch(2, "this machine"), forks, 2e-5) == [False]
    assert looks(TeamWatch(3, "this machine"), forks, 2e-5) == [True], "another team, another time"
    for file in tmp_path.iterdir():
        file.write_text("nonsense", encoding="ascii")
    assert looks(TeamWatch(2, "this machine"), forks, 2e-5) == [True]


def test_a_real_team_is_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(team, "cache_directory", lambda: tmp_path)
    TeamWatch(2, "this machine").is_near()
    (file,) = tmp_path.iterdir()
    assert 0 < float(file.read_text(encoding="ascii")) < 1


def test_without_parallel_candidates_the_others_are_next() -> None:
    program = queue(first=PARALLEL, second=SERIAL)
    program.baselines.append(Measurement((1.0,), False, 0.0, 0.0))
    found = program.next_run(is_parallel=False)
    assert found is not None and found[0] is not None and found[0].schedule == "second"
    assert program.next_run(is_parallel=False) is None
    found = program.next_run()
    assert found is not None and found[0] is not None and found[0].schedule == "first"
    patience = program.patience
    program.put_back(found[0])
    assert program.patience == patience - 1
    assert program.next_run() == (found[0], PARALLEL)


class FakeMeasurer:
    """Stands for the measuring process: says what it is told to, and keeps what it is asked."""

    def __init__(self, *_: object, **__: object) -> None:
        self.asked: list[Any] = []
        self.answers: deque[Any] = deque()

    def send(self, message: Any) -> None:
        self.asked.append(message)

    def receive(self, kind: Any = Any) -> Any:
        return self.answers.popleft()

    exit_code = None

    def kill(self) -> str:
        return "killed"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    result = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(measuring_slot.time, "monotonic", lambda: result.now)
    return result


def answer(slot: MeasuringSlot, said: Any) -> None:
    cast(FakeMeasurer, slot.child).answers.append(said)
    slot.hear()


@pytest.fixture
def slot(monkeypatch: pytest.MonkeyPatch) -> MeasuringSlot:
    """One whose process has started."""
    monkeypatch.setattr(measuring_slot, "Child", FakeMeasurer)
    result = MeasuringSlot([0, 1], Policy(threads=2))
    answer(result, None)
    return result


def test_parallel_candidates_wait_while_threads_are_far(
    slot: MeasuringSlot, clock: SimpleNamespace
) -> None:
    asked = cast(FakeMeasurer, slot.child).asked
    first, second = queue(a=PARALLEL, b=SERIAL), queue(c=SERIAL, d=PARALLEL)
    for said in (True, QUICK_RUN):  # opened, the program itself
        assert slot.start_next([first, second]) == {1}
        answer(slot, said)
    assert slot.start_next([first, second]) == {0, 1}
    assert asked[-1] == ("run", PARALLEL, 1.0, True)
    answer(slot, None)
    # What has one thread goes on, of the next program as well.
    assert slot.start_next([first, second]) == {1}
    assert asked[-1] == ("run", SERIAL, 1.0, False)
    answer(slot, QUICK_RUN)
    assert slot.start_next([first, second]) == {1}
    assert asked[-1] == ("open", second.opened)
    answer(slot, True)
    # Then it looks again.
    replies = {"open": True, "run": QUICK_RUN}
    clock.now += LOOK_AGAIN
    for is_near in (False, True):
        slot.start_next([first, second])
        assert asked[-1] == ("is_near",)
        clock.now += 2 * LOOK_AGAIN  # the look takes longer than it is to the next one
        answer(slot, is_near)
        slot.start_next([first, second])
        assert asked[-1] != ("is_near",), "something runs in between"
        answer(slot, replies[asked[-1][0]])
        clock.now += LOOK_AGAIN
    while left := [each for each in (first, second) if not each.is_finished]:
        assert slot.start_next(left)
        answer(slot, replies[asked[-1][0]])
    assert first.done == {"a": [QUICK_RUN], "b": [QUICK_RUN]}
    assert second.done == {"c": [QUICK_RUN], "d": [QUICK_RUN]}


def test_a_process_that_ends_while_it_looks_is_replaced(
    slot: MeasuringSlot, clock: SimpleNamespace
) -> None:
    program = queue(a=PARALLEL)
    for said in (True, QUICK_RUN, None):
        slot.start_next([program])
        answer(slot, said)
    clock.now += LOOK_AGAIN
    slot.start_next([program])
    slot.replace("crash")
    answer(slot, None)
    clock.now += LOOK_AGAIN
    replies = {"open": True, "run": QUICK_RUN, "is_near": True}
    while not program.is_finished:
        slot.start_next([program])
        answer(slot, replies[cast(FakeMeasurer, slot.child).asked[-1][0]])
    assert program.done == {"a": [QUICK_RUN]} and not program.incidents


def test_after_a_while_parallel_candidates_run_all_the_same(
    slot: MeasuringSlot, clock: SimpleNamespace
) -> None:
    asked = cast(FakeMeasurer, slot.child).asked
    program = queue(a=PARALLEL)
    for said in (True, QUICK_RUN, None):
        assert slot.start_next([program])
        answer(slot, said)
    assert not slot.start_next([program]), "there is nothing else to run"
    clock.now += LONGEST_APART + LOOK_AGAIN
    slot.start_next([program])
    answer(slot, False)
    slot.start_next([program])
    assert asked[-1] == ("run", PARALLEL, 1.0, False)
    answer(slot, QUICK_RUN)
    assert program.done == {"a": [QUICK_RUN]}
