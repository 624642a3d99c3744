"""The database of tuned schedules: what is kept, who may write, what happens to broken files."""

from __future__ import annotations

import multiprocessing
import sqlite3
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.unanimity import unanimous_gains
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.choosing import auto
from loopwright.runtime.choosing.auto import GAIN, modelled_schedule
from loopwright.runtime.choosing.database import (
    Question,
    Tuned,
    TuningDatabase,
    database_path,
    default_database,
)
from loopwright.runtime.program import load

SCALE = """
func.func @scale(%n: index, %A: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    %b = arith.addf %a, %a : f64
    affine.store %b, %A[%i] : memref<?xf64>
  }
  return
}
"""

QUESTION = Question("digest", "scale", {"n": 10, "A_dim0": 10}, "machine", 2, False)


def test_the_fastest_schedule_is_kept(tmp_path: Path) -> None:
    database = TuningDatabase(tmp_path / "deep" / "tuning.sqlite")
    assert database.get(QUESTION) is None
    for seconds in (3.0, 1.0, 2.0):
        database.put(QUESTION, Tuned(f"took {seconds}", seconds, 6.0 / seconds))
    assert database.get(QUESTION) == Tuned("took 1.0", 1.0, 6.0)


def test_functions_of_a_module_that_call_others_are_different_questions() -> None:
    caller = "func.func @{0}() {{\n  func.call @nothing() : () -> ()\n  return\n}}\n"
    text = "func.func @nothing() {\n  return\n}\n" + caller.format("up") + caller.format("down")
    questions = [
        Question.of(function.function, {}, Target.host(), threads=1, fast_math=False)
        for name, function in load(text).items()
        if name != "nothing"
    ]
    assert len({question.key for question in questions}) == 2


@pytest.mark.parametrize(
    "other",
    [
        replace(QUESTION, program="other"),
        replace(QUESTION, sizes={"n": 11, "A_dim0": 11}),
        replace(QUESTION, target="other"),
        replace(QUESTION, threads=1),
        replace(QUESTION, fast_math=True),
    ],
)
def test_other_questions_have_other_answers(tmp_path: Path, other: Question) -> None:
    database = TuningDatabase(tmp_path / "tuning.sqlite")
    database.put(QUESTION, Tuned("this", 1.0, 1.0))
    assert database.get(other) is None
    database.put(other, Tuned("that", 1.0, 1.0))
    assert database.get(QUESTION) == Tuned("this", 1.0, 1.0)


def test_a_newer_compiler_has_the_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = TuningDatabase(tmp_path / "tuning.sqlite")
    database.put(QUESTION, Tuned("fast then", 1.0, 1.0))
    module = "loopwright.runtime.choosing.database.code_generator"
    monkeypatch.setattr(module, lambda: "another one")
    database.put(QUESTION, Tuned("best now", 2.0, 1.0))
    assert database.get(QUESTION) == Tuned("best now", 2.0, 1.0)


def _write(path: Path, number: int) -> None:
    database = TuningDatabase(path)
    for step in range(10):
        question = replace(QUESTION, threads=step)
        database.put(question, Tuned(f"{number}", 100.0 - number, 1.0))


def test_processes_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "tuning.sqlite"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(path, number)) for number in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    for step in range(10):
        found = TuningDatabase(path).get(replace(QUESTION, threads=step))
        assert found == Tuned("5", 95.0, 1.0)


def _write_once(path: Path, number: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TuningDatabase(path).put(replace(QUESTION, threads=number), Tuned("x", 1.0, 1.0))


def test_processes_may_make_the_file_at_once(tmp_path: Path) -> None:
    """SQLite does not wait for who switches to a journal: one was told that it is locked."""
    context = multiprocessing.get_context("fork")
    for turn in range(20):
        path = tmp_path / f"{turn}.sqlite"
        writers = [context.Process(target=_write_once, args=(path, each)) for each in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(60)
        assert [writer.exitcode for writer in writers] == [0] * 4
        known = [TuningDatabase(path).get(replace(QUESTION, threads=each)) for each in range(4)]
        assert None not in known


def test_what_was_slower_side_by_side_is_not_kept(tmp_path: Path) -> None:
    """However short a time it had once: that may have been chance."""
    database = TuningDatabase(tmp_path / "tuning.sqlite")
    lucky, steady = Tuned("lucky", 1.0, 9.0), Tuned("steady", 2.0, 4.5)
    assert database.put(QUESTION, lucky)
    assert not database.put(QUESTION, steady)
    assert not database.put(QUESTION, steady, Tuned("other", 1.0, 9.0))
    assert database.get(QUESTION) == lucky
    assert database.put(QUESTION, steady, lucky)
    assert database.get(QUESTION) == steady


def test_a_broken_file_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "tuning.sqlite"
    path.write_bytes(b"this is no database" * 100)
    with pytest.warns(RuntimeWarning, match="without tuned schedules.*LOOPWRIGHT_TUNING"):
        assert TuningDatabase(path).get(QUESTION) is None
    with pytest.warns(RuntimeWarning, match="without tuned schedules"):
        TuningDatabase(path).put(QUESTION, Tuned("x", 1.0, 1.0))


def test_a_file_with_bytes_that_are_no_text_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "tuning.sqlite"
    TuningDatabase(path).put(QUESTION, Tuned("parallel{loops=i}", 1.0, 2.0))
    contents = path.read_bytes()
    assert b"CREATE TABLE schedules" in contents
    path.write_bytes(contents.replace(b"CREATE TABLE schedules", b"CREATE TABLE sch\xdddules"))
    with pytest.warns(RuntimeWarning, match="works without tuned schedules"):
        assert TuningDatabase(path).get(QUESTION) is None


def test_a_row_that_nobody_has_written_is_not_used(tmp_path: Path) -> None:
    database = TuningDatabase(tmp_path / "tuning.sqlite")
    database.put(QUESTION, Tuned("x", 1.0, 1.0))
    with sqlite3.connect(database.path) as connection:
        connection.execute("UPDATE schedules SET seconds = 'abc'")
    assert database.get(QUESTION) is None


def test_a_place_that_cannot_be_looked_at_is_not_used(tmp_path: Path) -> None:
    database = TuningDatabase(tmp_path / ("long" * 100) / "tuning.sqlite")
    with pytest.warns(RuntimeWarning, match="works without tuned schedules"):
        assert database.get(QUESTION) is None


def test_a_file_of_another_format_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tuning.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.warns(RuntimeWarning, match="format 99"):
        TuningDatabase(path).put(QUESTION, Tuned("x", 1.0, 1.0))


def test_the_environment_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", "off")
    assert default_database() is None
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "x"))
    assert database_path() == tmp_path / "x"
    monkeypatch.delenv("LOOPWRIGHT_TUNING")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert database_path() == tmp_path / "loopwright" / "tuning.sqlite"


def _question(text: str, n: int) -> Question:
    function = load(text)["scale"].function
    sizes = {"n": n, "A_dim0": n}
    return Question.of(function, sizes, Target.host(), threads=2, fast_math=False)


def test_a_tuned_schedule_is_what_auto_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "x"))
    database = default_database()
    assert database is not None
    database.put(_question(SCALE, 50), Tuned("vectorize{loops=i width=4}", 1.0, 1.0))
    function = load(SCALE)["scale"]
    chosen = function.choose_schedule("auto", {"n": 50}, threads=2)
    assert str(chosen) == "vectorize{loops=i width=4}"
    other = function.choose_schedule("auto", {"n": 51}, threads=2)
    assert str(other) == ""


def test_a_stale_schedule_is_ignored_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "x"))
    database = default_database()
    assert database is not None
    for text in ("vectorize{loops=gone}", "no-such-step{loops=i}"):
        database.put(_question(SCALE, 50), Tuned(text, 1.0, 1.0))
        with pytest.warns(RuntimeWarning, match="scale: .* does not apply any more"):
            chosen = load(SCALE)["scale"].choose_schedule("auto", {"n": 50}, threads=2)
        assert str(chosen) == ""


def test_names_of_loops_belong_to_the_question() -> None:
    """The text of a schedule says them."""
    assert _question(SCALE, 9).program != _question(SCALE.replace("%i", "%k"), 9).program
    assert _question(SCALE, 9).program == _question(f"\n{SCALE}  ", 9).program


def test_auto_says_nothing_without_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "none"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(SCALE)["scale"].choose_schedule("auto", {"n": 50}, threads=2)
    assert not (tmp_path / "none").exists()


@dataclass(frozen=True)
class Divided:
    """Takes a schedule with steps for twice as fast; its members do so or not."""

    members: tuple[float, ...]

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> Sequence[float]:
        return [2.0 if schedule.transformations else 1.0 for schedule in schedules]

    def opinions(
        self, context: SchedulingContext, schedules: Sequence[Schedule]
    ) -> Sequence[Sequence[float]]:
        return [
            [member if schedule.transformations else 1.0 for schedule in schedules]
            for member in self.members
        ]


@pytest.mark.parametrize(
    ("members", "gain"), [((1.5, 3.0), 1.5), ((0.9, 3.0), 0.9), ((2.5, 3.0), 2.0)]
)
def test_the_least_convinced_member_of_a_committee_counts(
    members: tuple[float, ...], gain: float
) -> None:
    original = Schedule.original(load(SCALE)["scale"].scop)
    schedule = original.apply_all(parse_pipeline("reverse{loops=i}"))
    context = SchedulingContext({"n": 9, "A_dim0": 9}, 1)
    assert unanimous_gains(Divided(members), context, [original, schedule]) == [1.0, gain]


def test_a_model_must_promise_more_than_the_default_schedule() -> None:
    """The roofline finds nothing that is better by its own measure here."""
    scop = load(SCALE)["scale"].scop
    sizes = {"n": 4_000_000, "A_dim0": 4_000_000}
    original = Schedule.original(scop)
    default = modelled_schedule(original, sizes, 2, None)
    assert default.transformations
    assert str(modelled_schedule(original, sizes, 2, "roofline")) == str(default)


class _Hopeful:
    """Takes everything but the default schedule for so many times faster."""

    def __init__(self, default: Schedule, gain: float) -> None:
        self.default, self.gain = str(default), gain

    def predict(self, context: SchedulingContext, schedules: Sequence[Schedule]) -> Sequence[float]:
        return [1.0 if str(each) == self.default else self.gain for each in schedules]


def test_a_default_schedule_that_labels_do_not_cover_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = Schedule.original(load(SCALE)["scale"].scop)
    split = original.apply_all(parse_pipeline("split{loops=i at=9}"))
    sizes = {"n": 4_000_000, "A_dim0": 4_000_000}
    for default in (split, original):
        monkeypatch.setattr(auto, "find_model", lambda _, each=default: _Hopeful(each, 9.0))
        found = modelled_schedule(original, sizes, 2, "hopeful", lambda each=default: each)
        assert (found is default) == (default is split)


@pytest.mark.parametrize(("gain", "is_taken"), [(0.99 * GAIN, False), (1.01 * GAIN, True)])
def test_a_schedule_that_was_not_run_must_be_clearly_faster(
    gain: float, is_taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scop = load(SCALE)["scale"].scop
    sizes = {"n": 4_000_000, "A_dim0": 4_000_000}
    original = Schedule.original(scop)
    default = modelled_schedule(original, sizes, 2, None)
    monkeypatch.setattr(auto, "find_model", lambda name: _Hopeful(default, gain))
    found = modelled_schedule(original, sizes, 2, "hopeful")
    assert (str(found) != str(default)) == is_taken
