"""The command itself: help, version, exit codes, interruptions, programs that are none."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.runtime_programs import GEMM

from loopwright import __version__
from loopwright.cli import main
from loopwright.commands import COMMANDS

COMMAND = [sys.executable, "-m", "loopwright"]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], env=environment(), capture_output=True, text=True, timeout=120
    )


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"loopwright {__version__}\n")


def test_help_lists_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    for name, text in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(text)}$", done.stdout, re.MULTILINE)
    assert "examples:" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: loopwright {name} ")
    assert f"loopwright {name} " in out.partition("example")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], f"no command given; there are {', '.join(COMMANDS)}"),
        (["frobnicate"], f"no command 'frobnicate'; there are {', '.join(COMMANDS)}"),
    ],
)
def test_no_such_command(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"loopwright: error: {message} (see loopwright --help)\n"


def test_import_is_quick() -> None:
    """Neither the compiler nor NumPy nor torch is loaded before it is used."""
    program = (
        "import sys, loopwright; from loopwright import __version__; "
        "print(sorted({'xdsl', 'islpy', 'llvmlite', 'numpy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["emit", "--c"],
        ["run"],
        ["schedule"],
        ["schedule", "-t", "0", "--explain"],
        ["bench", "-t", "0"],
        ["tune"],
        ["tune", "-t", "0"],
        ["report"],
        ["report", "-t", "0"],
        ["calibrate", "-t", "0", "-o"],
        ["verify", "polybench/gemm"],
        ["deps"],
    ],
)
def test_wrong_arguments_are_told_without_the_compiler(arguments: list[str]) -> None:
    program = (
        "import sys; from loopwright.cli import main; "
        f"code = main({[*arguments, 'missing.mlir']!r}); "
        "print(code, sorted({'xdsl', 'islpy', 'llvmlite', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True
    )
    assert done.stdout == "1 []\n"
    assert ("missing.mlir" if "-t" not in arguments else "--threads") in done.stderr


def test_torch_is_not_imported_by_a_run(tmp_path: Path) -> None:
    path = tmp_path / "gemm.mlir"
    path.write_text(GEMM)
    program = (
        "import sys; from loopwright.cli import main; "
        f"main(['run', {str(path)!r}, '--seconds', '0', '-p', 'parallel{{loops=i}}',"
        " '-s', 'ni=4', '-s', 'nj=4', '-s', 'nk=4']); print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deps", "/no/such/file.mlir"]) == 1
    assert capsys.readouterr().err == (
        "loopwright: error: cannot read '/no/such/file.mlir': No such file or directory\n"
    )


PROGRAMS = {
    "no MLIR": b"int main() { return 0; }",
    "binary": bytes(range(256)),
    "unfinished": GEMM.encode()[:300],
    "unknown operation": GEMM.replace("arith.addf", "arith.addff").encode(),
    "wrong type": GEMM.replace("%0, %3 : f64", "%0, %3 : f32").encode(),
    "call of what is not there": b"""
func.func @caller(%n: index, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    func.call @unknown(%x) : (memref<?xf64>) -> ()
  }
  return
}
""",
}


@pytest.mark.parametrize("command", ["run", "deps"])
@pytest.mark.parametrize("kind", PROGRAMS)
def test_wrong_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, command: str
) -> None:
    path = tmp_path / "program.mlir"
    path.write_bytes(PROGRAMS[kind])
    assert main([command, str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    first = captured.err.splitlines()[0]
    assert re.match(rf"({re.escape(str(path))}:\d+:\d+|loopwright): error: ", first), captured.err


def test_broken_pipe_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "gemm.mlir"
    path.write_text(GEMM * 1)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.Popen(
        [*COMMAND, "deps", str(path)], env=environment(), stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    _, err = done.communicate(timeout=120)
    assert (done.returncode, err) == (141, b"")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    path = tmp_path / "gemm.mlir"
    path.write_text(GEMM)
    sizes = ["-s", "ni=400", "-s", "nj=400", "-s", "nk=400", "--timing"]
    # `--timing` prints before the measurement begins.
    process = subprocess.Popen(
        [*COMMAND, "run", str(path), *sizes, "--seconds", "1000"],
        env={**environment(), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(sent)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (code, b"loopwright: interrupted\n")


def test_warnings_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "gemm.mlir"
    path.write_text(GEMM)
    sizes = ["-s", "ni=4", "-s", "nj=4", "-s", "nk=4", "--seconds", "0"]
    done = subprocess.run(
        [*COMMAND, "run", str(path), *sizes],
        env={**environment(), "LOOPWRIGHT_CACHE": str(path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert done.stderr == (
        f"loopwright: warning: loopwright works without its cache: {path}: File exists "
        "(set LOOPWRIGHT_CACHE to another directory, or to 'off')\n"
    )
