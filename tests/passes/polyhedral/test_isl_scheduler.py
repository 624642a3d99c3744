"""The process that solves affine scheduling problems: answers in order, time-outs, leftovers."""

from collections.abc import Iterator

import pytest

from loopwright.passes.polyhedral.isl_scheduler import (
    FUSIONS,
    NoSchedule,
    SchedulerOptions,
    SchedulerProblem,
    SchedulerTimeOut,
    Worker,
)

TWO_LOOPS = SchedulerProblem(
    "[n] -> { : n > 0 }",
    "[n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }",
    "[n] -> { S[i] -> T[i] : 0 <= i < n }",
    "[n] -> { S[i] -> T[i] : 0 <= i < n }",
)
ONE_LOOP = SchedulerProblem("{ : }", "{ S[i] : 0 <= i < 9 }", "{ }", "{ }")
OPTIONS = [SchedulerOptions(fusion) for fusion in FUSIONS]


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


def test_questions_that_were_begun_have_their_own_answers(worker: Worker) -> None:
    alone = [worker.ask(TWO_LOOPS, options, 30) for options in OPTIONS]
    assert "sequence" in alone[0] and alone[0] != alone[2]
    worker.answers.clear()
    worker.begin(TWO_LOOPS, OPTIONS)
    assert [worker.ask(TWO_LOOPS, options, 30) for options in OPTIONS] == alone


def test_a_question_out_of_turn(worker: Worker) -> None:
    worker.begin(TWO_LOOPS, OPTIONS)
    assert not worker.is_up, "its start is not waited for"
    one = worker.ask(ONE_LOOP, OPTIONS[0], 30)
    assert "T[" not in one
    assert "T[" in worker.ask(TWO_LOOPS, OPTIONS[2], 30)
    assert worker.ask(ONE_LOOP, OPTIONS[0], 0) == one, "it is remembered"


def test_an_answer_that_is_cut_short(worker: Worker) -> None:
    whole = worker.ask(TWO_LOOPS, OPTIONS[0], 30)
    worker.answers.clear()
    worker.received = b'"{ domain\n'
    with pytest.raises(SchedulerTimeOut):
        worker.ask(TWO_LOOPS, OPTIONS[0], 30)
    assert worker.ask(TWO_LOOPS, OPTIONS[0], 30) == whole, "another worker answers"


def test_no_answer_in_time(worker: Worker) -> None:
    names = [f"S{k}" for k in range(20)]
    domain = "; ".join(f"{name}[i, j, k] : 0 <= i, j, k < n" for name in names)
    edges = [
        f"{source}[i, j, k] -> {sink}[i + 1, j - {shift}, k + {shift}] : 0 <= i, j, k < n"
        for shift, source in enumerate(names)
        for sink in names
    ]
    dependences = f"[n] -> {{ {'; '.join(edges)} }}"
    hard = SchedulerProblem(
        "[n] -> { : n > 0 }", f"[n] -> {{ {domain} }}", dependences, dependences
    )  # 7 s for 14 statements, and the time grows with their fifth power
    worker.begin(TWO_LOOPS, OPTIONS)
    with pytest.raises(SchedulerTimeOut):
        worker.ask(hard, OPTIONS[0], 0.1)
    assert "T[" in worker.ask(TWO_LOOPS, OPTIONS[0], 30)


def test_isl_gives_up_on_one_question(worker: Worker, capfd: pytest.CaptureFixture[str]) -> None:
    cycle = "{ S[i] -> S[i + 1] : 0 <= i < 8; S[i] -> S[i - 1] : 0 < i < 9 }"
    impossible = SchedulerProblem("{ : }", "{ S[i] : 0 <= i < 9 }", cycle, "{ }")
    worker.begin(impossible, OPTIONS)
    started = worker.process
    for options in OPTIONS:
        with pytest.raises(NoSchedule):
            worker.ask(impossible, options, 30)
    assert "S[" in worker.ask(ONE_LOOP, OPTIONS[0], 30) and worker.process is started
    assert capfd.readouterr().err == ""
