"""The benchmark of the suite `field`: what it takes from its file, and the table that it makes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def field(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module; scripts import their neighbours."""
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("benchmark_field", FOLDER / "field.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def line(kernel: str, domain: str, default: float, fast: float | None, peer: float | None) -> Any:
    versions = {"as written": 8.0, "default": default, "fast math": fast, "peer": peer}
    which = "gcc -O3, 1" if peer else None
    return {"kernel": kernel, "domain": domain, **versions, "which": which, "spread": 0.05}


def test_only_lines_of_the_same_code_and_machine_are_known(
    field: ModuleType, tmp_path: Path
) -> None:
    here = {"code": "abc", "machine": "zen3"}
    lines = [
        {"kernel": "field/fir", "code": "old", "machine": "zen3"},
        {"kernel": "field/life", "code": "abc", "machine": "zen4"},
        {"kernel": "field/srad", "code": "abc", "machine": "zen3"},
    ]
    path = tmp_path / "lines.jsonl"
    assert field.record.known_lines(path, here) == {}
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    assert list(field.record.known_lines(path, here)) == ["field/srad"]


def test_rows_and_means(field: ModuleType) -> None:
    lines = [
        line("field/fir", "recurrences", 2.0, 1.0, 4.0),
        line("field/dtw", "recurrences", 8.0, 4.0, 4.0),
        line("field/life", "stencils", 3.0, None, None),
    ]
    rows = [field.row(each) for each in lines]
    assert rows[0] == ["fir", "recurrences", 8.0, 2.0, 1.0, 4.0, "gcc -O3, 1", 0.5, 0.25, "5.0%"]
    assert rows[2][3:9] == [3.0, "-", "-", "none", "-", "-"]
    means = {row[1]: row[7:9] for row in field.means(lines)}
    assert means == {"recurrences": [1.0, 0.5], "stencils": ["-", "-"], "all": [1.0, 0.5]}
    assert {len(row) for row in (*rows, *field.means(lines))} == {len(field.COLUMNS)}
