"""Kernels of PolyBench as Python functions have the Scop of the shipped texts."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.scop import Scop

from . import polybench, polybench_algebra, polybench_stencils

KERNELS = {
    name: value
    for module in (polybench, polybench_algebra, polybench_stencils)
    for name, value in vars(module).items()
    if isinstance(value, loopwright.PythonKernel)
}

ENTRIES = {
    entry.function: entry for name, entry in catalogue().items() if name.startswith("polybench/")
}


def accesses(scop: Scop) -> dict[str, set[str]]:
    """Per statement: kind and relation of each access."""
    return {
        statement.name: {f"{a.kind.value} {a.relation}" for a in statement.accesses}
        for statement in scop.statements
    }


@pytest.mark.parametrize("name", KERNELS)
def test_same_scop_as_the_shipped_text(name: str) -> None:
    entry = ENTRIES[name]
    text = loopwright.load(entry.text)[entry.function].scop
    scop = KERNELS[name].function.scop
    assert [p.name for p in scop.parameters] == [p.name for p in text.parameters]
    assert [s.loops for s in scop.statements] == [s.loops for s in text.statements]
    assert isinstance(scop.domain, isl.UnionSet) and scop.domain.is_equal(text.domain)
    assert accesses(scop) == accesses(text)
    assert str(scop.tree) == str(text.tree)


def test_all_kernels_are_there() -> None:
    assert set(KERNELS) == set(ENTRIES) and len(KERNELS) == 30


@pytest.mark.parametrize("name", ["nussinov", "correlation", "symm", "durbin"])
def test_same_results_as_python(name: str) -> None:
    entry, kernel = ENTRIES[name], KERNELS[name]
    sizes = dict.fromkeys(entry.parameter_values(entry.sizes["MINI"]), 9)
    arguments = entry.arguments(sizes)
    before = [np.array(value) for value in arguments]
    kernel.check(*arguments)
    assert all(np.array_equal(a, b) for a, b in zip(arguments, before, strict=True))
