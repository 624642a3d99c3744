"""The commands bench, machine and emit, as they are called."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from support.documents import check_document, check_file
from support.machines import make_machine
from support.runtime_programs import SQUARES

from loopwright.cli import main
from loopwright.kernels.catalogue import catalogue
from loopwright.runtime.machine import measured as machines


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache in which the machine is known already."""
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(tmp_path / "cache"))
    machines.save(make_machine())
    return tmp_path


def test_bench_prints_a_table_and_writes_files(
    own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, data = own_cache / "rows.csv", own_cache / "rows.json"
    options = ["--size", "MINI", "--peers", "none", "--seconds", "0.001", "--threads", "1,2"]
    schedule = ["--schedule", "tiled=tile{loops=S1.k,S1.j sizes=8,8}"]
    files = ["--csv", str(table), "--json", str(data)]
    assert main(["bench", "polybench/gemm", "polybench/trisolv", *options, *schedule, *files]) == 0
    printed = capsys.readouterr().out
    assert "polybench/gemm MINI: 0.0311 MFLOP" in printed
    assert "loopwright tiled" in printed and "geometric mean" in printed
    assert "not run: loopwright parallel: no loop of the program can be parallel" in printed
    with table.open() as file:
        rows = list(csv.DictReader(file))
    measured = {(row["kernel"], row["variant"], row["threads"]) for row in rows if row["median"]}
    assert ("polybench/gemm", "loopwright parallel", "2") in measured
    assert ("polybench/trisolv", "loopwright tiled", "1") not in measured
    assert len(check_file(data, "bench")["rows"]) == len(rows)


def test_bench_writes_each_case_as_a_line(
    own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--size", "MINI", "--peers", "none", "--seconds", "0.001", "--json"]
    assert main(["bench", "polybench/trisolv", *options]) == 0
    *lines, result = capsys.readouterr().out.splitlines()
    cases = [line for line in lines if '"urn:loopwright:bench-case:1"' in line]
    (case,) = (check_document(line, "bench-case") for line in cases)
    assert case["rows"] == check_document(result, "bench")["rows"]


def test_a_machine_that_is_not_known_is_measured_and_stored(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(own_cache / "other"))
    machine = make_machine()

    def measure(_: object) -> machines.MeasuredMachine:
        return machine

    monkeypatch.setattr("loopwright.commands.bench_run.measure_machine", measure)
    assert machines.load() is None
    options = ["--size", "MINI", "--peers", "none", "--seconds", "0.001"]
    assert main(["bench", "polybench/trisolv", *options]) == 0
    assert machines.load() == machine
    assert f"limits measured {machine.date}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no kernel or suite 'nothing'"),
        (["atax", "--size", "TINY"], "no size 'TINY'"),
        (["atax", "--peers", "icc"], "no peer 'icc'"),
        (["atax", "--threads", "0"], "--threads expects numbers from 1 to 1024"),
        (["atax", "--threads", "two"], "--threads expects numbers from 1 to 1024"),
        (["atax", "--schedule", "tile{loops=i}"], "--schedule expects NAME=PASSES"),
        (["atax", "--seconds", "0"], "--seconds must be positive"),
        (["atax", "--seconds", "nan"], "--seconds must be positive"),
        (["atax", "--plot", "picture.txt"], "picture"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_machine_prints_what_is_stored(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = own_cache / "out.json"
    assert main(["machine", "--stored", "--threads", "1", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "GFLOP/s by FLOP/byte, f64, 1 thread" in printed and "DRAM read" in printed
    assert check_file(path, "machine")["peaks"]["f64"]["1"]["best"] == 100e9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stored", "--threads", "0"], "--threads must be between 1 and"),
        (["--stored", "--type", "f16"], "invalid choice"),
    ],
)
def test_mistakes_with_machine(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["machine", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_machine_was_not_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOPWRIGHT_CACHE", str(tmp_path / "empty"))
    assert main(["machine", "--stored"]) == 1
    assert "not measured yet" in capsys.readouterr().err


@pytest.fixture
def gemm(tmp_path: Path) -> str:
    path = tmp_path / "gemm.mlir"
    path.write_text(catalogue()["polybench/gemm"].text)
    return str(path)


SIZES = ["-s", "ni=4", "-s", "nj=5", "-s", "nk=6"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--c"], "C[i][j] += alpha * A[i][k] * B[k][j];"),
        (["--c", *SIZES], "double C[restrict 4][5]"),
        (["--c", *SIZES, "-p", "parallel{loops=i}"], "#pragma omp parallel for"),
        (["--c", *SIZES, "-p", "vectorize{loops=S1.j width=8}"], "#pragma omp simd simdlen(8)"),
        (["--mlir"], "affine.for %i = 0 to %ni"),
        (["--mlir", *SIZES, "-p", "parallel{loops=i}"], "affine.parallel (%i)"),
        (["--llvm"], 'define void @"loopwright_gemm"'),
        (["--asm", *SIZES], "loopwright_gemm:"),
    ],
)
def test_emit(
    gemm: str, arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emit", gemm, *arguments]) == 0
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize("sizes", [[], ["-s", "n=9"]])
def test_emit_a_function_with_those_that_it_calls(
    sizes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "squares.mlir"
    file.write_text(SQUARES + "func.func @unrelated(%x: f64) { return }\n")
    assert main(["emit", str(file), "-f", "squares", "--c", *sizes]) == 0
    text = capsys.readouterr().out
    assert text.count("double square(double x);") == 1 and text.count("square(A[i])") == 1
    assert "unrelated" not in text


def test_emit_shipped_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", "polybench/gemm", "--c", "--size", "MINI", "-s", "ni=7"]) == 0
    assert "double C[restrict 7][25]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--c", "--size", "MINI"], "--size is for shipped kernels"),
        (["--c", "-s", "x=4"], "there is no size 'x'"),
        (["--c", "-s", "ni"], "--set expects NAME=INTEGER"),
        (["--c", "-s", "ni=two"], "--set expects NAME=INTEGER"),
        (["--c", "-p", "parallel{loops=i}"], "needs all sizes; add --set ni=..."),
        (["--c", *SIZES, "-s", "C_dim0=2"], "C"),
        ([], "required"),
    ],
)
def test_mistakes_with_emit(
    gemm: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emit", gemm, *arguments]) == 1
    assert message in capsys.readouterr().err
