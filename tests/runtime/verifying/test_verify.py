"""`loopwright verify` and `loopwright.verify`: answers, witnesses, exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.equivalence import BACKWARDS, SUM
from support.runtime_programs import GEMM

import loopwright
from loopwright.cli import main
from loopwright.runtime.verifying.answer import Relation

TWICE = BACKWARDS.replace("affine.store %2", "%3 = arith.addf %2, %1 : f64\n    affine.store %3")
FLAWED = GEMM.replace("arith.addf", "arith.subf")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    paths = tmp_path / "one.mlir", tmp_path / "other.mlir"
    for path, text in zip(paths, (GEMM, FLAWED), strict=True):
        path.write_text(text, encoding="utf-8")
    return str(paths[0]), str(paths[1])


def test_different() -> None:
    (one,), (other,) = (loopwright.load(text).values() for text in (GEMM, FLAWED))
    answer = loopwright.verify(one, other)
    assert answer.relation is Relation.DIFFERENT
    assert answer.witness is not None and answer.demonstration is not None
    assert "subf" in answer.witness.second.value and "subf" not in answer.witness.first.value
    assert answer.demonstration.first != answer.demonstration.second
    assert loopwright.verify(one, one).is_equal


def test_same_results_by_other_operations() -> None:
    """No run tells programs apart that compute the same in ways that the proof does not know."""
    text = """func.func @f(%A: memref<4xi32>) {
      affine.for %i = 0 to 4 {
        %0 = affine.load %A[%i] : memref<4xi32>
        %1 = arith.addi %0, %0 : i32
        affine.store %1, %A[%i] : memref<4xi32>
      }
      return
    }"""
    doubled = text.replace(
        "%1 = arith.addi %0, %0", "%2 = arith.constant 2 : i32\n        %1 = arith.muli %0, %2"
    )
    (one,), (other,) = (loopwright.load(each).values() for each in (text, doubled))
    answer = loopwright.verify(one, other)
    assert answer.relation is Relation.NOT_KNOWN
    assert "runs give the same" in str(answer)


def test_sums_in_another_order() -> None:
    (one,), (other,), (twice,) = (
        loopwright.load(text).values() for text in (SUM, BACKWARDS, TWICE)
    )
    assert loopwright.verify(one, other, fast_math=True).is_equal
    assert loopwright.verify(one, twice, fast_math=True).relation is Relation.DIFFERENT
    with pytest.raises(TypeError, match="fast_math is True or False"):
        loopwright.verify(one, other, fast_math="yes")  # pyright: ignore[reportArgumentType]


def test_command(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    one, other = files
    assert main(["verify", one, one]) == 0
    assert capsys.readouterr().out.endswith(": equal\n")
    assert main(["verify", one, other]) == 1
    assert ": different: " in capsys.readouterr().out


def test_mistakes(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    one, _ = files
    assert main(["verify", one, "polybench/mvt"]) == 1
    assert "another signature" in capsys.readouterr().err
    assert main(["verify", one, one, "--assume", "what >"]) == 1
    assert "cannot read the assumption" in capsys.readouterr().err
