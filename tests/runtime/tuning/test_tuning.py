"""Running candidates: what crashes, hangs or computes something else is never chosen."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
from support.runtime_programs import DOT, SQUARES

from loopwright.cli import main
from loopwright.opt import run as run_opt
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.algorithm import Search
from loopwright.passes.search.result import Result, Task
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.choosing.database import Question, Tuned, TuningDatabase
from loopwright.runtime.measuring import candidate_loops
from loopwright.runtime.measuring.workers import Overdue, Worker
from loopwright.runtime.program import Function, load
from loopwright.runtime.tuning import evaluator as evaluating
from loopwright.runtime.tuning import schedule_compiler
from loopwright.runtime.tuning.evaluator import RunningEvaluator, Substitute
from loopwright.runtime.tuning.trial_messages import Comparison, Outcome, Program, Trial
from loopwright.runtime.tuning.tune import TuningOptions, tune

SUM = """
func.func @sum(%n: index, %A: memref<?x?xf64>, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i, %j] : memref<?x?xf64>
      %b = affine.load %x[%j] : memref<?xf64>
      %c = arith.addf %a, %b : f64
      affine.store %c, %x[%j] : memref<?xf64>
    }
  }
  return
}
"""
N = 300


def function() -> Function:
    return load(SUM)["sum"]


def arguments() -> list[object]:
    return [N, np.ones((N, N)), np.zeros(N)]


def request_for() -> SchedulingContext:
    return SchedulingContext({"n": N, "A_dim0": N, "A_dim1": N, "x_dim0": N}, 1)


def test_schedules_are_measured_and_the_arguments_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    program, values = function(), arguments()
    outcomes: list[Outcome] = []
    ask = RunningEvaluator._ask  # pyright: ignore[reportPrivateUsage]

    def listen(evaluator: RunningEvaluator, trial: Trial, limit: float) -> Outcome:
        outcomes.append(ask(evaluator, trial, limit))
        return outcomes[-1]

    monkeypatch.setattr(RunningEvaluator, "_ask", listen)
    original = program.schedule()
    fast = original.apply_all(parse_pipeline("vectorize{loops=j width=8}"))
    slow = original.apply_all(parse_pipeline("interchange{loops=j,i}"))
    with RunningEvaluator(program, values, threads=1, compilers=1) as evaluator:
        found = evaluator.measure(request_for(), [original, fast, slow])
        reference, *candidates = [outcome.seconds for outcome in outcomes]
        assert evaluator.baseline_seconds == reference > 0
        assert found == [reference / seconds for seconds in candidates]
        assert len(found) == 3
        assert evaluator.measure(request_for(), []) == []
        assert evaluator.failures == {}
        assert 0 < evaluator.baseline_seconds < 1
    assert not np.any(np.asarray(values[2]))


def test_a_program_that_writes_nothing_is_measured() -> None:
    program = load(DOT)["dot"]
    values = [1000, np.ones(1000), np.ones(1000)]
    with RunningEvaluator(program, values, threads=1, compilers=1) as evaluator:
        context = SchedulingContext({"n": 1000, "x_dim0": 1000, "y_dim0": 1000}, 1)
        (found,) = evaluator.measure(context, [program.schedule()])
    assert found > 0


def test_an_evaluator_that_is_closed_at_once_leaves_no_process() -> None:
    before = set(Path("/proc").iterdir())
    for _ in range(3):
        with RunningEvaluator(function(), arguments(), threads=1, compilers=1):
            pass
    time.sleep(0.5)
    children = [each for each in set(Path("/proc").iterdir()) - before if _is_child(each)]
    assert children == []


def _is_child(process: Path) -> bool:
    try:
        stat = (process / "stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[1] == str(os.getpid())


def test_wrong_results_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the text that is compiled is that of another, illegal order of the same loops."""
    program = function()
    with RunningEvaluator(program, arguments(), threads=1, compilers=1) as evaluator:
        original = program.schedule()
        assert evaluator.measure(request_for(), [original])[0] > 0
        text = "vectorize{loops=j width=8}"
        other = load(SUM.replace("addf %a, %b", "subf %a, %b"))["sum"]
        with RunningEvaluator(other, arguments(), threads=1, compilers=1) as wrong:
            wrong.measure(request_for(), [other.schedule(text)])
            evaluator._codes[text] = wrong._codes[text]  # pyright: ignore[reportPrivateUsage]
        assert evaluator.measure(request_for(), [program.schedule(text)]) == [0.0]
        assert "its results differ by" in evaluator.failures[text]


def test_a_process_that_ends_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    program = function()
    monkeypatch.setattr(evaluating, "LEAST_LIMIT", 1.0)
    with RunningEvaluator(program, arguments(), threads=1, compilers=1) as evaluator:
        original = program.schedule()
        assert evaluator.measure(request_for(), [original])[0] > 0
        child = evaluator._runner._child  # pyright: ignore[reportPrivateUsage]
        child._process.kill()  # pyright: ignore[reportPrivateUsage]
        text = "vectorize{loops=j width=8}"
        assert evaluator.measure(request_for(), [program.schedule(text)]) == [0.0]
        assert "process" in evaluator.failures[text]
        assert evaluator.measure(request_for(), [original])[0] > 0


def test_code_that_hangs_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    program = function()
    with RunningEvaluator(program, arguments(), threads=1, compilers=1) as evaluator:
        schedules = [program.schedule("interchange{loops=j,i}")]
        evaluator.measure(request_for(), [program.schedule()])

        def ask(trial: Trial, limit: float) -> None:
            raise evaluating.Lost("it took too long")

        monkeypatch.setattr(evaluator, "_ask", ask)
        assert evaluator.measure(request_for(), schedules) == [0.0]
        assert list(evaluator.failures.values()) == ["it took too long"]


def test_what_takes_too_long_as_written_is_compared_with_another_schedule() -> None:
    program = function()
    vectors, turned = "vectorize{loops=j width=8}", "interchange{loops=j,i}"
    substitute = Substitute(0.0, lambda: program.schedule(vectors))
    with RunningEvaluator(
        program, arguments(), threads=1, compilers=1, substitute=substitute
    ) as evaluator:
        schedules = [program.schedule(text) for text in ("", vectors, turned)]
        # Speed-ups are over no seconds here, but the runs went well.
        assert evaluator.measure(request_for(), schedules) == [0.0, 0.0, 0.0]
        assert evaluator.bound == 0.0
        assert list(evaluator.failures) == [""]
        assert "it takes more than" in evaluator.failures[""]


def test_wrong_results_are_found_by_another_schedule() -> None:
    program, text = function(), "interchange{loops=j,i}"
    other = load(SUM.replace("addf %a, %b", "subf %a, %b"))["sum"]
    substitute = Substitute(0.0, lambda: program.schedule("vectorize{loops=j width=8}"))
    with (
        RunningEvaluator(other, arguments(), threads=1, compilers=1) as wrong,
        RunningEvaluator(
            program, arguments(), threads=1, compilers=1, substitute=substitute
        ) as evaluator,
    ):
        wrong.measure(request_for(), [other.schedule(text)])
        evaluator._codes[text] = wrong._codes[text]  # pyright: ignore[reportPrivateUsage]
        evaluator.measure(request_for(), [program.schedule(text)])
        assert "its results differ by" in evaluator.failures[text]


def test_what_is_too_large_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_loops, "LARGEST_OF_SEARCHES", 40)
    sizes = {"n": N, "A_dim0": N, "A_dim1": N, "x_dim0": N}
    compiler = schedule_compiler.Compiler(Program(SUM, "sum", sizes, 1, False, 1 << 30))
    found = compiler.compile("unroll{loops=j factor=64}")
    assert found.code is None and found.message == "the code is too large: more than 40 operations"
    assert compiler.compile("").code is not None


def test_a_program_that_nothing_makes_faster_is_run_to_its_end() -> None:
    program = function()
    substitute = Substitute(0.0, program.schedule)
    with RunningEvaluator(
        program, arguments(), threads=1, compilers=1, substitute=substitute
    ) as evaluator:
        assert evaluator.measure(request_for(), [program.schedule()])[0] > 0
        assert evaluator.bound is None


def test_the_program_as_written_is_run_to_its_end_where_its_substitute_fails() -> None:
    program = function()
    other = load(SUM.replace("%i", "%p"))["sum"]
    foreign = other.schedule("interchange{loops=j,p}")
    with RunningEvaluator(
        program, arguments(), threads=1, compilers=1, substitute=Substitute(0.0, lambda: foreign)
    ) as evaluator:
        assert evaluator.measure(request_for(), [program.schedule()])[0] > 0
        assert evaluator.bound is None


def test_a_program_is_too_slow_also_where_its_answer_came_before_the_clock_was_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask = Worker.ask

    def ask_patiently(worker: Worker, question: object, _: float) -> None:
        ask(worker, question, 60.0)

    monkeypatch.setattr(Worker, "ask", ask_patiently)
    program = function()
    vectors = "vectorize{loops=j width=8}"
    substitute = Substitute(1e-9, lambda: program.schedule(vectors))
    with RunningEvaluator(
        program, arguments(), threads=1, compilers=1, substitute=substitute
    ) as evaluator:
        assert evaluator.measure(request_for(), [program.schedule(vectors)])[0] > 0
        assert evaluator.bound == 1e-9


def test_the_budget_is_not_spent_on_the_program_as_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evaluating, "AS_WRITTEN", 1e-9)
    command = "tune polybench/gemm --size SMALL --threads 1 --budget 5s --forget"
    assert main(command.split()) == 0
    output = capsys.readouterr().out
    assert "results were compared with the default schedule's" in output
    assert re.search(r"[1-9]\d* measurements", output)


def test_nothing_is_begun_after_the_time() -> None:
    program = function()
    schedules = [program.schedule(), program.schedule("vectorize{loops=j width=8}")]
    with RunningEvaluator(program, arguments(), threads=1, compilers=1) as evaluator:
        assert evaluator.measure(request_for(), schedules, 0.0) == []
        assert len(evaluator.measure(request_for(), schedules)) == 2
        assert evaluator.measure(request_for(), schedules, 0.0) == []
        assert evaluator.failures == {}


@pytest.mark.parametrize(
    ("comparison", "is_right"),
    [
        (Comparison(), False),
        (Comparison({"x": None}), False),
        (Comparison({"x": None}, tolerance=3.0), True),
        (Comparison({"x": np.arange(N) > 0}), True),
        (Comparison({"x": np.arange(N) < 1}), False),
        (Comparison({}), True),
    ],
)
def test_only_what_is_determined_is_compared(comparison: Comparison, is_right: bool) -> None:
    """Here the other program has another first element of `x`."""
    values = arguments()
    first = "%c = arith.addf %a, %b : f64"
    twice = "%c0 = arith.addf %a, %b : f64\n      %c = arith.addf %c0, %a : f64"
    program, other = function(), load(SUM.replace(first, twice))["sum"]
    matrix = np.zeros((N, N))
    matrix[:, 0] = 1.0
    values[1] = matrix
    text = "vectorize{loops=j width=8}"
    with (
        RunningEvaluator(other, values, threads=1, compilers=1) as wrong,
        RunningEvaluator(
            program, values, threads=1, compilers=1, comparison=comparison
        ) as evaluator,
    ):
        wrong.measure(request_for(), [other.schedule(text)])
        evaluator._codes[text] = wrong._codes[text]  # pyright: ignore[reportPrivateUsage]
        assert (evaluator.measure(request_for(), [program.schedule(text)])[0] > 0) == is_right


def _question() -> Question:
    sizes = function().checked_sizes(arguments())
    return Question.of(function().function, sizes, Target.host(), threads=1, fast_math=False)


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TuningDatabase:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "tuning.sqlite"))
    return TuningDatabase(tmp_path / "tuning.sqlite")


@pytest.mark.parametrize("before", ["interchange{loops=j,i}", "vectorize{loops=gone}"])
def test_what_was_kept_by_chance_is_put_right(database: TuningDatabase, before: str) -> None:
    """A time that no run reaches again stayed for ever, and `auto` used what it was of."""
    database.put(_question(), Tuned(before, 1e-12, 1e9))
    options = TuningOptions(budget=20.0, threads=1, model="roofline", search="mcts")
    result = tune(function(), arguments(), options)
    found = database.get(_question())
    assert found is not None
    assert found.seconds > 1e-12
    assert found.schedule == str(result.best)


@pytest.mark.parametrize(("default", "is_kept"), [(None, False), (2.5, False), (1.5, True)])
def test_what_is_no_faster_than_the_default_schedule_is_not_kept(
    default: float | None,
    is_kept: bool,
    database: TuningDatabase,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After Ctrl-C it may not have run beside it."""

    def stopped(how: Search, given: Task) -> Result:
        assert given.evaluator is not None
        given.evaluator.measure(given.context, [given.original])
        return Result(given.original, 1.0, 2.0, default, (), 1, 1, 1, 1.0, "interrupted")

    monkeypatch.setattr("loopwright.runtime.tuning.tune.search", stopped)
    result = tune(function(), arguments(), TuningOptions(budget=9.0, threads=1, model="roofline"))
    assert (database.get(_question()) is not None) == is_kept
    assert any("not kept" in remark for remark in result.remarks) != is_kept


def test_tune_without_runs_keeps_to_its_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sum.mlir"
    file.write_text(SUM)
    command = ["tune", str(file), "--set", f"n={N}", "-t", "1", "--no-runs", "--budget", "1ms"]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert ", 0 measurements in" in told and "the budget is spent" in told


def test_tune_writes_a_schedule_that_auto_uses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "tuning.sqlite"))
    file, output = tmp_path / "sum.mlir", tmp_path / "schedule.mlir"
    file.write_text(SUM)
    arguments = [str(file), "--set", f"n={N}"]
    assert (
        main(
            [
                "tune",
                *arguments,
                "--search",
                "mcts",
                "--budget",
                "120s",
                "-t",
                "1",
                "-o",
                str(output),
            ]
        )
        == 0
    )
    printed = capsys.readouterr().out
    assert re.search(r"step +predicted +measured\nas written +1.00x", printed)
    assert re.search(r"\d+ schedules, \d+ predictions, \d+ measurements in", printed)
    assert "over the default schedule" in printed
    chosen = printed.strip().splitlines()[-1]
    assert output.read_text().startswith("schedule.sequence @sum")
    assert main(["run", *arguments, "-S", str(output), "-t", "1", "--seconds", "0.1"]) == 0
    assert capsys.readouterr().out
    assert main(["run", *arguments, "-p", "auto", "-t", "1", "--seconds", "0.1"]) == 0
    assert f"auto schedule: {chosen}" in capsys.readouterr().out
    text = "" if chosen == "as written" else chosen
    assert str(Schedule.original(function().scop).apply_all(parse_pipeline(text))) == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "soon"], "--budget expects a time such as 2s, 5m or 300ms, got 'soon'"),
        (["--seconds", "0s"], "--seconds expects a time"),
        (["--search", "beam-execution"], "say how long with --budget"),
        (["--search", "luck"], "invalid choice: 'luck'"),
        (["--model", "rofline"], "there is no cost model 'rofline'; did you mean roofline?"),
        (["--model", "none.npz"], "none.npz: No such file"),
        (["--beam", "0"], "--beam must be between 1 and 1000, got 0"),
        (["--threads", "0"], "--threads must be between 1 and"),
        (["--sample", "2"], "--sample is for --tiles"),
        (["--tile-search", "random"], "--tile-search is for --tiles"),
        (["-o", "."], ". is a directory; name a file"),
        (["--tiles", "--beam", "7"], "--tiles tunes nothing but tile sizes: leave out --beam"),
        (["--registers", "--space", "looper"], "--registers learns nothing but register tiles"),
        (["--search", "registers", "--beam", "2"], "--search registers learns nothing but"),
        (["--search", "ranked", "--space", "looper"], "--search ranked tries its own orders"),
        (["--search", "mcts", "--beam", "2"], "--search mcts has no beam: leave out --beam"),
        (["--no-runs", "--search", "hybrid"], "--no-runs is for searches by model"),
        (["--no-runs", "--tiles"], "--no-runs is for searches by model"),
        (["--seed", str(2**63)], "--seed must be less than 9223372036854775808"),
    ],
)
def test_mistakes_are_told_in_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sum.mlir"
    file.write_text(SUM)
    assert main(["tune", str(file), "--set", "n=9", *arguments]) == 1
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("options", [[], ["-b9s"], ["--seconds=9"], ["--tiles"], ["--registers"]])
def test_arrays_that_are_too_small_are_refused(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sum.mlir"
    file.write_text(SUM)
    assert main(["tune", str(file), "--set", "n=9", "--set", "A_dim0=3", *options]) == 1
    place, _, message = capsys.readouterr().err.splitlines()[0].partition(": error: ")
    assert place == f"{file}:5:12"
    assert message.startswith("reads A[i, j] outside of the array: element [3, 0] of 3x9")


@pytest.mark.parametrize(
    "options", [["--search", "beam"], ["--search", "mcts"], ["--budget", "1s"], ["--rank"]]
)
@pytest.mark.parametrize(
    "loops", ["", "affine.for %i = 0 to 0 { affine.store %c, %A[%i] : memref<4xf64> }"]
)
def test_what_does_nothing_stays_as_written(
    loops: str, options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nothing.mlir"
    file.write_text(
        f"""func.func @nothing(%A: memref<4xf64>) {{
          %c = arith.constant 1.0 : f64
          {loops}
          return
        }}"""
    )
    assert main(["tune", str(file), "-t", "1", "--forget", *options]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "as written"


def test_functions_that_call_others_are_run() -> None:
    program = load(SQUARES)["squares"]
    original = program.schedule()
    vectors = original.apply_all(parse_pipeline("vectorize{loops=i width=8}"))
    with RunningEvaluator(program, [50, np.full(50, 1.5)], threads=1, compilers=1) as evaluator:
        found = evaluator.measure(
            SchedulingContext({"n": 50, "A_dim0": 50}, 1), [original, vectors]
        )
        assert min(found) > 0 and not evaluator.failures


def test_tiles_that_the_budget_cuts_short_have_not_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    tiling = function().schedule("tile{loops=i sizes=T}")
    with RunningEvaluator(function(), arguments(), threads=1, compilers=1) as evaluator:
        assert (evaluator.time_tiles(tiling, {"T": 8}) or 0.0) > 0.0

        def wait(_: RunningEvaluator, trial: Trial, limit: float) -> Outcome:
            time.sleep(0.2)
            raise Overdue

        monkeypatch.setattr(RunningEvaluator, "_ask", wait)
        assert evaluator.time_tiles(tiling, {"T": 16}, seconds=0.1) is None
        assert evaluator.time_tiles(tiling, {"T": 16}, seconds=100.0) == float("inf")


def test_the_pass_writes_the_schedule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sum.mlir"
    file.write_text(SUM)
    options = "sizes=n:500 model=roofline beam=2 threads=1"
    assert run_opt([str(file), "-p", f"autoschedule{{{options}}}"]) == 0
    assert "schedule.sequence @sum" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "autoschedule: give all sizes: sizes=n:..."),
        ("sizes=m:3", "autoschedule: the size m does not exist"),
        ("sizes=n:9 beam=0", "autoschedule: beam must be 1 to 1000"),
        ("sizes=n:9 beam=100000000", "autoschedule: beam must be 1 to 1000"),
        ("sizes=n:9 threads=0", "autoschedule: threads must be at least 1"),
        ("sizes=n:9 model=oracle", "autoschedule: there is no cost model 'oracle'"),
    ],
)
def test_mistakes_in_the_pass_are_told(
    options: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sum.mlir"
    file.write_text(SUM)
    assert run_opt([str(file), "-p", f"autoschedule{{{options}}}"]) == 1
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
