"""`--json`: every command writes documents, and these are what their schemas say."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest
from schemas import FOLDER, documents, file_of, text_of
from support.documents import check_document, check_file, check_lines
from support.labels import write_labels
from support.machines import make_machine

from loopwright.cli import main, parser_of
from loopwright.commands import COMMANDS
from loopwright.commands.data import ACTIONS
from loopwright.commands.json_output import json_output
from loopwright.costmodel.generator.program_coverage import random_coverage
from loopwright.costmodel.labels import LabelledProgram
from loopwright.support.progress import ProgressLine

PLAIN = """
func.func @scale(%n: index, %A: memref<?xf64>) {
  %c = arith.constant 3.0 : f64
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    %b = arith.mulf %a, %c : f64
    affine.store %b, %A[%i] : memref<?xf64>
  }
  return
}
"""

REGION = """
void scale(int n, double *a) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = a[i] * 3.0;
#pragma endscop
}
"""

COVERAGE = "loopwright.costmodel.generator.program_coverage"

FILES = {
    "a.mlir": PLAIN,
    "b.mlir": PLAIN.replace("3.0", "2.0"),
    "fixed.mlir": PLAIN.replace("%n: index, ", "").replace("?", "8").replace("to %n", "to 8"),
    "a.c": REGION,
}

CASES = [
    ("deps", "deps a.mlir --input-dependences"),
    ("schedule", "schedule a.mlir"),
    ("schedule", "schedule a.mlir -p parallel{loops=i}"),
    ("convert", "convert a.mlir --to python"),
    ("report", "report a.mlir -s n=8 --no-runs"),
    ("job-script", "data generate --programs 9 -o x --cluster-folder y --cluster slurm"),
    ("emit", "emit a.mlir --mlir"),
    ("emit", "emit a.mlir --c -s n=5 -p parallel{loops=i} --verify"),
    ("run", "run a.mlir -s n=50 -t 1 --seconds 0.01"),
    ("run", "run a.mlir -s n=50 -t 1 --seconds 0.01 -p none"),
    ("build", "build a.mlir -o a.o"),
    ("build", "build a.c -o b.c"),
    ("build-wheel", "build fixed.mlir --wheel tiny --levels x86-64-v2"),
    ("tune", "tune a.mlir -s n=50 -t 1 --no-runs --model roofline"),
    ("tuning", "tuning export tuned.jsonl"),
    ("completion", "completion bash"),
    ("machine", "machine --stored"),
    ("data-show", "data show 3"),
    ("data-cover", "data cover --programs 1"),
    ("data-cluster", "data generate --programs 1 -o put-together --cluster-folder shared"),
    ("data-stats", "data stats labels"),
    ("data-check", "data check labels"),
    ("data-export", "data export labels -o labels.csv"),
    ("data-merge", "data merge labels -o merged"),
]
"""Quick commands, and what their result is called."""

ELSEWHERE = {
    "bench": "runtime/bench/test_commands.py",
    "bench-case": "runtime/bench/test_commands.py",
    "calibrate": "costmodel/learning/test_adapting.py",
    "data-labelling": "runtime/labelling/test_commands.py",
    "data-retest": "runtime/labelling/test_commands.py",
    "serve": "serving/test_command.py",
    "train": "costmodel/learning/test_train.py",
    "tune-cluster": "runtime/tuning/test_shared_search.py",
    "tune-tiles": "runtime/tuning/test_small_budgets.py",
}
"""Where the results of commands that take seconds are checked."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("json")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    write_labels(folder / "labels", 4)
    return folder


def empty() -> Generator[LabelledProgram]:
    """No labels: other workers have made them all."""
    yield from ()


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("loopwright.runtime.machine.measured.load", make_machine)
    monkeypatch.setattr("loopwright.commands.data.cluster.label_in_share", lambda *_, **__: empty())
    # All kernels of PolyBench take seconds.
    monkeypatch.setattr(f"{COVERAGE}.benchmark_coverage", lambda: random_coverage([1]))


def test_schema_files_are_those_of_the_records() -> None:
    found = {file_of(each): text_of(each) for each in documents()}
    assert {path: path.read_text() for path in FOLDER.iterdir()} == found, (
        "run tools/schemas.py; a field that is gone or means something else is a new version"
    )


def test_every_document_is_checked() -> None:
    known = {each.document for each in documents()}
    assert set(COMMANDS) <= {name.partition("-")[0] for name in known}
    checked = {name for name, _ in CASES} | set(ELSEWHERE)
    assert known - checked == {"cc", "data-plugin", "problem", "progress", "verify"}  # below
    tests = Path(__file__).parents[1]
    for name, file in ELSEWHERE.items():
        assert f'"{name}")' in (tests / file).read_text(), name


@pytest.mark.parametrize("command", [*COMMANDS, *(f"data {action}" for action in ACTIONS)])
def test_every_command_has_the_option(command: str) -> None:
    name, *action = command.split()
    text = parser_of(name).format_help()
    if name == "data" and action:
        choices = next(a.choices for a in parser_of(name)._actions if a.dest == "action")  # pyright: ignore
        text = choices[action[0]].format_help()  # pyright: ignore
    assert "--json [FILE]" in text or command == "data"


@pytest.mark.parametrize(("name", "command"), CASES)
def test_a_command_writes_its_document(
    name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--json"]) == 0
    check_lines(capsys.readouterr().out, name)


def test_a_document_in_a_file_leaves_the_text_as_it_is(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert main(["deps", "a.mlir"]) == 0
    text = capsys.readouterr().out
    assert main(["deps", "a.mlir", "--json", "deps.json"]) == 0
    assert capsys.readouterr().out == text
    found = check_file(folder / "deps.json", "deps")
    assert found["functions"][0]["model"]["statements"][0]["writes"] == ["A[i]"]


@pytest.mark.parametrize(
    ("other", "code", "relation"), [("a.mlir", 0, "equal"), ("b.mlir", 1, "different")]
)
def test_verify_answers_in_its_exit_code_and_document(
    other: str, code: int, relation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "a.mlir", other, "--json"]) == code
    (answer,) = check_lines(capsys.readouterr().out, "verify")["answers"]
    assert answer["relation"] == relation
    assert (answer["difference"] is None) == (relation == "equal")


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ("illegal", "schedule polybench/jacobi-2d -p parallel{loops=t}"),
        ("malformed", "schedule a.mlir -p parallel{loops=x}"),
        ("source", "schedule a.mlir -p parallell{loops=i}"),
        ("source", "deps nowhere.mlir"),
        ("input", "run a.mlir"),
        ("input", "schedule a.mlir --frobnicate"),
        ("unknown", "emit a.mlir --c --func g"),
        ("input", "verify a.mlir"),
        ("input", "tune a.mlir -s n=9 --beam 0"),
    ],
)
def test_a_problem_is_a_document_as_well(
    code: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--json"]) == 1
    shown = capsys.readouterr()
    document = check_document(shown.out, "problem")
    assert document["command"] == command.split()[0]
    assert document["problem"]["code"] == code
    assert "error" in shown.err


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_the_c_compiler_reports_what_it_has_replaced(
    capfd: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert main(["cc", "--json", "-O1", "-c", "a.c", "-o", "a.o"]) == 0
    document = check_document(capfd.readouterr().out, "cc")
    (file,) = document["files"]
    assert file["replaced"] == ["scale"]
    assert main(["cc", "--json", "--version"]) == 0
    assert check_document(capfd.readouterr().out, "cc")["files"] == []


def test_progress_is_reported_in_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loopwright.support.progress.REPORTED_EVERY", 0.0)
    with json_output("bench", argparse.Namespace(json="-")):
        print("for people")
        with ProgressLine(3) as line:
            line.update("looking for peers")
            line.update("gemm", 1)
    found = [check_document(each, "progress") for each in capsys.readouterr().out.splitlines()]
    assert [(each["message"], each["completed"], each["total"]) for each in found] == [
        ("looking for peers", None, 3),
        ("gemm", 1, 3),
    ]
    assert all(each["command"] == "bench" for each in found)


def test_actions_of_other_packages_give_their_lines(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "empty.jsonl").write_text("")
    main(["data", "looperset", "empty.jsonl", "-o", "imported", "--json"])
    document = check_document(capsys.readouterr().out, "data-plugin")
    assert document["lines"] == ["0 programs, 0 pairs; 0 schedules were skipped"]


def test_a_program_is_not_overwritten(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    before = (folder / "a.mlir").read_text()
    assert main(["deps", "b.mlir", "--json", "a.mlir"]) == 1
    assert "a.mlir exists" in capsys.readouterr().err
    assert (folder / "a.mlir").read_text() == before


def test_documents_are_one_line_each_and_plain_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", "a.mlir", "--mlir", "--json"]) == 0
    text = capsys.readouterr().out
    assert text.count("\n") == 1
    assert "func.func @scale" in json.loads(text)["functions"][0]["text"]
