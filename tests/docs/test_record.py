"""Records of benchmarks: what is written, and what is made of the rows of `loopwright bench`."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "record.py"


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, which writes below a folder of the test."""
    spec = importlib.util.spec_from_file_location("benchmark_record", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in {"ROOT": tmp_path, "FOLDER": tmp_path, "MACHINES": tmp_path / "m"}.items():
        monkeypatch.setattr(module, name, value)
    (tmp_path / "m").write_text("{}")
    monkeypatch.setattr(module, "_git", lambda *_: "0123abc")
    return module


def test_a_record_keeps_its_title_and_loses_its_headline(
    record: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"page": "compile", "title": "Checks", "text": "Worst.", "headline": "1 ms", "rows": []}
    (tmp_path / "legality.json").write_text(json.dumps(old))
    script = tmp_path / "benchmarks" / "legality.py"
    monkeypatch.setattr(sys, "argv", [str(script), "--record", "legality", "gemm"])
    record.write("legality", ("kernel", "ms"), [("gemm", 1.5)])
    new = json.loads((tmp_path / "legality.json").read_text())
    assert (new["page"], new["title"], new["text"]) == ("compile", "Checks", "Worst.")
    assert "headline" not in new
    assert new["command"] == "python benchmarks/legality.py gemm"
    assert (new["commit"], new["rows"]) == ("0123abc", [["gemm", 1.5]])
    assert json.loads((tmp_path / "m").read_text()).keys() == {new["machine"]}


def test_a_new_record_has_the_title_that_it_is_given(record: ModuleType, tmp_path: Path) -> None:
    record.write("field", ("kernel", "ms"), [("fir", 1.5)], command="x", title="New", text="Of us.")
    new = json.loads((tmp_path / "field.json").read_text())
    assert (new["page"], new["title"], new["text"]) == ("speed", "New", "Of us.")


def test_nothing_is_written_without_a_name(record: ModuleType, tmp_path: Path) -> None:
    record.write(None, ("kernel",), [("gemm",)])
    assert not list(tmp_path.glob("*.json"))


def row(peer: str, variant: str, threads: int, median: float | None, *, correct: bool = True):
    return {
        "kernel": "polybench/gemm",
        "size": "LARGE",
        "peer": peer,
        "variant": variant,
        "threads": threads,
        "median": median,
        "correct": correct,
    }


def test_speedups_are_over_the_fastest_sequential_peer(record: ModuleType) -> None:
    rows = [
        row("loopwright", "loopwright", 1, 8.0),
        row("loopwright", "loopwright default", 1, 4.0),
        row("loopwright", "loopwright default", 2, 2.0),
        row("clang", "clang -O3", 1, 10.0),
        row("clang", "clang -O3 -ffast-math", 1, 9.0),
        row("clang", "clang -O3", 2, 1.0),
        row("gcc", "gcc -O3", 1, 0.5, correct=False),
        row("gcc", "gcc -O3", 1, None),
    ]
    assert record.speedups(rows) == [("gemm", 4.5)]
    assert record.speedups(rows[:3]) == []
