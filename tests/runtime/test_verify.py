"""`verify=True` and `--verify`: what they say, and that a violation is an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.nest_mutations import nest_mutants
from support.runtime_programs import GEMM

from loopwright.cli import main
from loopwright.errors import USER_ERRORS, ValidationError
from loopwright.lowering import generate as generating
from loopwright.lowering.nest.nest import Nest
from loopwright.runtime.program import load

PIPELINE = "interchange{loops=j,i},parallel{loops=j}"


def arguments() -> list[object]:
    shapes = [(5, 6), (5, 7), (7, 6)]
    return [5, 6, 7, *(np.ones(shape) for shape in shapes)]


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nest lacks an iteration of its outermost loop."""
    cut = generating.split_index_sets

    def broken(nest: Nest) -> Nest:
        found = nest_mutants(cut(nest))
        return next(mutant for what, mutant in found if what.startswith("upper bound"))

    monkeypatch.setattr(generating, "split_index_sets", broken)


def test_verdict_of_a_kernel() -> None:
    kernel = load(GEMM)["gemm"].compile(PIPELINE, threads=2, verify=True)
    kernel(*arguments())
    assert kernel.verdict is not None
    assert kernel.verdict.is_proved


def test_no_verdict_without_being_asked() -> None:
    kernel = load(GEMM)["gemm"].compile(PIPELINE, threads=2)
    kernel(*arguments())
    assert kernel.verdict is None


def test_nothing_is_generated_for_a_program_as_written() -> None:
    kernel = load(GEMM)["gemm"].compile(None, verify=True)
    kernel(*arguments())
    assert kernel.verdict is not None
    assert kernel.verdict.is_proved


@pytest.mark.usefixtures("fault")
def test_a_violation_is_an_error() -> None:
    kernel = load(GEMM)["gemm"].compile(PIPELINE, threads=2, verify=True)
    with pytest.raises(ValidationError) as error:
        kernel(*arguments())
    assert isinstance(error.value, USER_ERRORS)
    first, *_ = str(error.value).splitlines()
    assert f"the code generated for '{PIPELINE}' is not the program" in first
    assert "for instance S0[" in first
    assert "with ni=5, nj=6, nk=7" in first


@pytest.mark.usefixtures("fault")
def test_build_raises(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="is not the program"):
        load(GEMM).build(tmp_path / "gemm.o", {"gemm": PIPELINE}, verify=True)
    assert not (tmp_path / "gemm.o").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--seconds", "0", "-t", "2"],
        ["emit", "--mlir"],
        ["build", "-o", "gemm.o"],
    ],
)
def test_commands(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gemm.mlir").write_text(GEMM)
    sizes = [option for name in ("ni=5", "nj=6", "nk=7") for option in ("--set", name)]
    name, *options = command
    assert main([name, "gemm.mlir", *options, *sizes, "-p", PIPELINE, "--verify"]) == 0
    assert capsys.readouterr().err == "loopwright: gemm: validation: proved\n"


@pytest.mark.usefixtures("fault")
def test_command_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gemm.mlir"
    path.write_text(GEMM)
    assert (
        main(
            [
                "emit",
                str(path),
                "--mlir",
                "-s",
                "ni=5",
                "-s",
                "nj=6",
                "-s",
                "nk=7",
                "-p",
                PIPELINE,
                "--verify",
            ]
        )
        == 1
    )
    error = capsys.readouterr().err
    assert error.startswith(f"{path}:")
    assert "is not the program" in error
    assert "Traceback" not in error
