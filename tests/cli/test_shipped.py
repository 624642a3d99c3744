"""Shipped kernels on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loopwright.cli import main
from loopwright.kernels.catalogue import catalogue
from loopwright.kernels.references import reference


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The message of a command that fails before it has printed anything."""
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.rstrip("\n").removeprefix("loopwright: error: ")


def head(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize("folder", [".", "/", ""])
def test_folders_are_no_kernels(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert error(capsys, "run", folder) == f"cannot read '{folder or '.'}': Is a directory"


def test_standard_size_and_initial_values(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    output = tmp_path / "C.npy"
    command = ["run", "polybench/gemm", "--size", "MINI", "--seconds", "0"]
    assert main([*command, "--output", f"C={output}"]) == 0
    assert (
        head(capsys)
        == "gemm(ni=20, nj=25, nk=30, alpha=1.5, beta=1.2, C: 20x25, A: 20x30, B: 30x25)"
    )
    entry = catalogue()["polybench/gemm"]
    expected = entry.arguments("MINI")
    reference(entry)(*expected)
    np.testing.assert_allclose(np.load(output), expected[5], rtol=1e-12)


def test_settings_replace_standard_ones(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    np.save(tmp_path / "x1.npy", np.zeros(7))
    command = ["run", "polybench/mvt", "--set", "n=7", "--seconds", "0"]
    assert main([*command, "--input", f"x1={tmp_path / 'x1.npy'}", "--output", str(tmp_path)]) == 0
    entry = catalogue()["polybench/mvt"]
    expected = entry.arguments({"n": 7})
    expected[1] = np.zeros(7)
    reference(entry)(*expected)
    assert head(capsys).startswith("mvt(n=7, ")
    np.testing.assert_allclose(np.load(tmp_path / "x1.npy"), expected[1], rtol=1e-12)
    np.testing.assert_allclose(np.load(tmp_path / "x2.npy"), expected[2], rtol=1e-12)


def test_only_determined_results_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "polybench/gramschmidt", "--size", "MINI", "--seconds", "0"]
    assert main([*command, "-p", "parallel{loops=j}", "--threads", "2"]) == 0
    compared = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()[-2:]]
    assert compared == ["R", "Q"]


def test_other_commands_know_the_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deps", "tile_size/dgemm"]) == 0
    assert "S1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["polybench/gem"],
            "no file or shipped kernel 'polybench/gem' (did you mean polybench/gemm?)",
        ),
        (
            ["tile_size/lu", "--size", "HUGE"],
            "tile_size/lu has no size HUGE: it has MINI, SMALL, LARGE",
        ),
        (["polybench/lu", "--set", "n=many"], "--set n: 'many' is not an integer"),
        (["polybench/lu", "--set", "n=-4"], "--set n: the size must not be negative, got -4"),
        (
            ["polybench/lu", "--set", "m=4"],
            "lu has no scalar or size 'm' to set; there are n, A_dim0, A_dim1",
        ),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert error(capsys, "run", *arguments) == message


def test_sizes_are_for_shipped_kernels(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.mlir"
    file.write_text(catalogue()["polybench/mvt"].text)
    expected = f"--size is for shipped kernels: give {file} sizes with --set"
    assert error(capsys, "run", str(file), "--size", "MINI") == expected


@pytest.mark.parametrize("exists", [True, False])
def test_the_file_of_a_shipped_kernel_is_the_kernel(
    exists: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a checkout, or where the wheel alone is: `load` takes it as well."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "kernels" / "polybench" / "mvt.mlir"
    text = catalogue()["polybench/mvt"].text
    if exists:
        file.parent.mkdir(parents=True)
        file.write_text(text)
    command = "kernels/polybench/mvt.mlir", "--size", "MINI"
    assert main(["run", *command, "--seconds", "0"]) == 0
    assert head(capsys).startswith("mvt(n=40, ")
    assert main(["emit", *command, "--c"]) == 0
    assert main(["bench", *command, "--seconds", "0.01", "--peers", "none"]) == 0
    assert "polybench/mvt" in capsys.readouterr().out
    capsys.readouterr()
    if exists:
        file.write_text(f"// mine\n{text}")
        expected = f"--size is for shipped kernels: give {command[0]} sizes with --set"
        assert error(capsys, "run", *command) == expected


def test_impossible_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    message = error(capsys, "run", "polybench/gemm", "--set", "ni=9999999", "--set", "nk=9999999")
    assert message.startswith("polybench/gemm has no arguments for ni=9999999, nj=70, nk=9999999: ")
