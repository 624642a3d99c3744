"""Results of bench that are read from their file again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loopwright.cli import main
from loopwright.runtime.bench.saved_results import ResultsError, SavedResults, read_results

BLUR = """
func.func @blur(%A: memref<?xf64>, %B: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?xf64>
  affine.for %i = 1 to %n {
    %a = affine.load %A[%i - 1] : memref<?xf64>
    affine.store %a, %B[%i] : memref<?xf64>
  }
  return
}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    (folder / "blur.mlir").write_text(BLUR)
    result = folder / "bench.json"
    command = ["bench", str(folder / "blur.mlir"), "polybench/atax", "--set", "A_dim0=50"]
    options = ["--size", "MINI", "--peers", "numpy", "--seconds", "0.001"]
    assert main([*command, *options, "--json", str(result)]) == 0
    return result


def test_rows_are_those_of_the_file(file: Path) -> None:
    results = read_results(file)
    written = json.loads(file.read_text())
    assert [vars(row) for row in results.rows] == written["rows"]
    assert (results.cpu, results.date) == (written["machine"]["cpu"], written["date"])
    assert len(repr(results)) < 300


def test_they_show_a_table_for_each_case(file: Path) -> None:
    text = read_results(file)._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert text.count("<table>") == 2
    assert "polybench/atax MINI" in text and "blur.mlir A_dim0=50" in text
    assert "there is no NumPy form of this kernel" in text


def test_many_rows_are_cut_and_names_escaped(file: Path) -> None:
    found = read_results(file)
    text = SavedResults(found.rows * 200, "<b>", found.date, found.command)._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert len(text) < 50_000 and "<b>" not in text
    assert f"... {200 * len(found.rows) - 40} more" in text


def damaged(document: dict[str, Any], name: str) -> object:
    match name:
        case "no object":
            return [document]
        case "another schema":
            return {**document, "schema": "urn:loopwright:deps:1"}
        case "no rows":
            return {**document, "rows": None}
        case "a row is a number":
            return {**document, "rows": [1]}
        case _:
            return {**document, "rows": [{"kernel": "gemm"}]}


@pytest.mark.parametrize(
    "name", ["no object", "another schema", "no rows", "a row is a number", "half a row"]
)
def test_what_is_no_result_is_one_line(name: str, file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(damaged(json.loads(file.read_text()), name)))
    with pytest.raises(ResultsError) as problem:
        read_results(wrong)
    assert str(wrong) in str(problem.value) and "\n" not in str(problem.value)
    wrong.write_text("{")
    with pytest.raises(ResultsError, match="is no JSON file"):
        read_results(wrong)
    with pytest.raises(ResultsError, match="cannot read"):
        read_results(tmp_path / "none.json")
