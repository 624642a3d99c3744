"""`loopwright-opt` answers every mistake with one line and exit status 1, never a traceback."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.scops import KERNELS

from loopwright import opt

GEMM = str(KERNELS / "polybench" / "gemm.mlir")
TWO = """
func.func @f(%x: memref<8xf64>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf64>
    affine.store %0, %x[%i] : memref<8xf64>
  }
  return
}
func.func @g() {
  return
}
"""


@pytest.fixture
def two(tmp_path: Path) -> str:
    """A file with two functions."""
    path = tmp_path / "two.mlir"
    path.write_text(TWO)
    return str(path)


MISTAKES = [
    (["{gemm}", "-x"], "loopwright-opt: error: unrecognized arguments: -x"),
    (["missing.mlir"], "loopwright-opt: error: cannot open 'missing.mlir': No such file"),
    (["/"], "loopwright-opt: error: cannot open '/': Is a directory"),
    (
        ["{gemm}", "-o", "/no/such/folder/x"],
        "loopwright-opt: error: cannot open '/no/such/fo",
    ),
    (["{gemm}", "-t", "z80"], "loopwright-opt: error: argument -t/--target: invalid choice: 'z80'"),
    (["{two}", "--no-implicit-module"], "{two}:1:1: error: module expected"),
    (["{gemm}", "-p", "tiel"], "<pipeline>:1:1: error: unknown pass: 'tiel'"),
    (["{gemm}", "-p", "cse,tile{{loops=}}"], "<pipeline>:1:16: error: expected a value, not '}}'"),
    (["{gemm}", "-p", "tile{{loops=k}}"], "<pipeline>:1:1: error: tile needs the option sizes"),
    (["{gemm}", "-p", "cse{{x=1}}"], 'loopwright-opt: error: provided arguments ["x"] not found'),
    (["{gemm}", "-p", "cse,lower-affine"], "loopwright-opt: error: pass lower-affine failed: "),
    (
        ["{gemm}", "-p", "parallel{{loops=k}}"],
        "loopwright-opt: error: parallel of k is illegal: the flow dependence from S1 to S1 on C",
    ),
    (
        ["{gemm}", "-p", "parallel{{loops=i func=f}}"],
        "loopwright-opt: error: there is no function f; the module has gemm",
    ),
    (
        ["{two}", "-p", "parallel{{loops=i}}"],
        "loopwright-opt: error: say which function with the option func: the module has f, g",
    ),
    (
        ["{gemm}", "-p", "apply-schedule{{sizes=100}}"],
        "loopwright-opt: error: apply-schedule: write sizes as N:100, not '100'",
    ),
    (
        ["{gemm}", "-p", "apply-schedule{{sizes=x:1}}"],
        "loopwright-opt: error: apply-schedule: the size x does not exist; the sizes are ni, nj,",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(
    arguments: list[str], message: str, two: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opt.run([argument.format(gemm=GEMM, two=two) for argument in arguments]) == 1
    assert capsys.readouterr().err.startswith(message.format(two=two))


@pytest.mark.parametrize(
    ("name", "hint"),
    [("tiel", "did you mean tile?"), ("qqqqqq", "--help lists what there is")],
)
def test_unknown_passes(name: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.run([GEMM, "-p", name]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"<pipeline>:1:1: error: unknown pass: '{name}'"
    assert lines[3] == f"hint: {hint}"


BROKEN = [
    b"",
    b"\xff\xfe",
    b"func.func @f(",
    b"func.func @f() { return",
    b"}",
    b"(((((",
    b'"',
    b"// -----\n//",
    b"%0 = arith.constant 1 : i32 -> i32",
    b"schedule.sequence @f { schedule.tile by [1] }",
    b"schedule.sequence @f { %i = schedule.loops }",
    b"schedule.sequence @f::@g { }",
    b'"schedule.tile"() : () -> ()',
    b'schedule.sequence @f {\n"schedule.tile"() <{options = {sizes = 1.5 : f32}}> : () -> ()\n}',
    b'schedule.sequence @f {\n"schedule.parallel"() <{options = {a = 1 : i64}}> : () -> ()\n}',
    b"builtin.module { schedule.sequence @f { } schedule.sequence @f { } }",
    b"schedule.sequence @f { }",
]


@pytest.mark.parametrize("text", BROKEN)
def test_any_input_is_answered(
    text: bytes, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for pipeline in ("", "parallel{loops=i}", "apply-schedule", "canonicalize,cse"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        status = opt.run(["-p", pipeline])
        error = capsys.readouterr().err
        assert status == (1 if error else 0)
        assert "Traceback" not in error
        assert not error or "error: " in error.splitlines()[0]


def test_stock_passes_and_dialects_stay_usable(
    two: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opt.run([two, "-p", "parallel{loops=i func=f},canonicalize,cse,dce"]) == 0
    assert "schedule.parallel %i" in capsys.readouterr().out


def test_sequences_of_unknown_functions_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(TWO + "schedule.sequence @h {\n}\n")
    assert opt.run([str(path), "-p", "apply-schedule"]) == 1
    assert "there is no function h; the module has f, g" in capsys.readouterr().err


def test_help_lists_passes_with_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        opt.run(["--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    options = "loops=NAME,... sizes=INTEGER|NAME,... [func=NAME] [names=NAME,...]"
    assert f"tile{{{options}}}\n      Splits" in text
    assert "lower-affine" in text


def test_prints_between_passes(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [GEMM, "-p", "tile{loops=k sizes=8},parallel{loops=i}", "--print-between-passes"]
    assert opt.run(arguments) == 0
    text = capsys.readouterr().out
    assert "IR after tile:" in text
    assert text.count("schedule.sequence @gemm") == 2


def start(stdin: int | None = None, stdout: int | None = None) -> subprocess.Popen[bytes]:
    """The tool in a process of its own, on the standard input."""
    environment = {**os.environ, "PYTHONPATH": str(KERNELS.parent / "src")}
    command = [sys.executable, "-m", "loopwright.opt"]
    return subprocess.Popen(
        command, env=environment, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE
    )


def test_a_closed_pipe_is_no_crash() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = start(stdin=subprocess.PIPE, stdout=writer)
    os.close(writer)
    _, error = process.communicate(Path(GEMM).read_bytes())
    assert (process.returncode, error) == (1, b"")


def test_the_universe_has_what_stock_tools_lack() -> None:
    from xdsl.universe import XDSL_UNIVERSE

    from loopwright.universe import LOOPWRIGHT_UNIVERSE

    assert not LOOPWRIGHT_UNIVERSE.all_passes.keys() & XDSL_UNIVERSE.all_passes.keys()
    assert not LOOPWRIGHT_UNIVERSE.all_dialects.keys() & XDSL_UNIVERSE.all_dialects.keys()
    assert {"tile", "apply-schedule"} <= LOOPWRIGHT_UNIVERSE.all_passes.keys()
