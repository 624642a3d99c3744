"""How many elements a program touches."""

from __future__ import annotations

import pytest
from support.runtime_programs import GEMM

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.touched_elements import touched_elements
from loopwright.runtime.program import load


def test_only_what_is_touched_counts() -> None:
    """Not the rest of larger arrays; C is read and written."""
    scop = loopwright.load(GEMM)["gemm"].scop
    sizes = {"ni": 4, "nj": 5, "nk": 3}
    sizes |= {f"{array}_dim{d}": 100 for array in "ABC" for d in (0, 1)}
    assert touched_elements(scop, sizes) == {3: (20, 20), 4: (12, 0), 5: (15, 0)}


@pytest.mark.parametrize(("name", "touched"), [("seidel-2d", (400, 324)), ("trmm", None)])
def test_kernels(name: str, touched: tuple[int, int] | None) -> None:
    entry = catalogue()[f"polybench/{name}"]
    scop = load(entry.text)[entry.function].scop
    found = touched_elements(scop, {"tsteps": 3, "m": 20, "n": 20})
    if touched is not None:
        assert list(found.values()) == [touched]
    else:  # of A, what is below the diagonal
        assert list(found.values()) == [(190, 0), (400, 400)]


def test_elements_between_gaps_are_counted() -> None:
    program = """
    func.func @f(%n: index, %A: memref<?xf64>) {
      %one = arith.constant 1.0 : f64
      affine.for %i = 0 to %n {
        affine.store %one, %A[3 * %i] : memref<?xf64>
      }
      return
    }
    """
    scop = loopwright.load(program)["f"].scop
    assert list(touched_elements(scop, {"n": 5, "A_dim0": 20}).values()) == [(0, 5)]
