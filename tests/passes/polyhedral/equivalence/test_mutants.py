"""No broken program is called equal to what it was made from, and most that are the same are."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from support.equivalence import outcome
from support.program_mutations import mutants
from support.scops import KERNELS, polybench
from xdsl.dialects.builtin import ModuleOp

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_file
from loopwright.passes.polyhedral.equivalence.equivalence import compare
from loopwright.passes.polyhedral.equivalence.parameters import with_parameters_of
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.scop import Scop

SIZES = (4, 3, 6)

# Loops whose order matters, sums, triangles, several nests.
QUICK = ("gemm", "mvt", "trmm", "jacobi-1d")
ALL = (
    *QUICK,
    *("atax", "syrk", "trisolv", "gemver", "gesummv", "seidel-2d", "floyd-warshall"),
    *("cholesky", "durbin", "covariance"),
)


def is_same(scop: Scop, module: ModuleOp, mutant: ModuleOp, size: int) -> bool:
    """Whether runs of both programs leave the same, bit for bit."""
    one, other = outcome(scop, module, size), outcome(scop, mutant, size)
    if one is None or other is None:
        return one is other
    pairs = zip(one, other, strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True) for a, b in pairs)


def check_mutants(name: str, step: int = 1) -> Counter[tuple[str, bool]]:
    """Compares every `step`th mutant; counts whether it is the same, and called equal."""
    scop = polybench(name)
    module = parse_file(KERNELS / "polybench" / f"{name}.mlir")
    found: Counter[tuple[str, bool]] = Counter()
    for what, mutant in islice(mutants(module), 0, None, step):
        try:
            (changed,) = raise_module(mutant).values()
        except SourceError:
            continue
        other = with_parameters_of(changed, scop)
        comparison = compare(scop, other, operations=2_000_000)
        same = all(is_same(scop, module, mutant, size) for size in SIZES)
        assert same or not comparison.is_proved, f"{name}: {what}"
        found["same" if same else "broken", comparison.is_proved] += 1
    return found


@pytest.mark.parametrize("name", QUICK)
def test_no_broken_program_is_equal(name: str) -> None:
    found = check_mutants(name, 5)
    assert found["broken", False] > 5
    assert not found["same", False]


@pytest.mark.campaign
@pytest.mark.parametrize("name", ALL)
def test_no_broken_program_is_equal_of_many(name: str) -> None:
    assert check_mutants(name)["broken", False] > 25
