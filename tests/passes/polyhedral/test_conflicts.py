"""Dependences by relational algebra are those of isl's dataflow analysis."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.array_dataflow import union
from loopwright.passes.polyhedral.conflicts import last_accesses
from loopwright.passes.polyhedral.dependences import compute_dependences
from loopwright.passes.polyhedral.isl_schedule import to_isl
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.scop import Scop

KERNELS = ("gemm", "jacobi-1d", "seidel-2d", "trisolv", "cholesky", "durbin", "nussinov")


def accesses(scop: Scop, array: str, *, writes: bool) -> isl.UnionMap:
    return union(
        scop,
        (
            access.relation
            for statement in scop.statements
            for access in (statement.writes if writes else statement.reads)
            if access.array.name == array
        ),
    )


@pytest.mark.parametrize("name", KERNELS)
def test_the_last_writes_before_reads(name: str) -> None:
    entry = catalogue()[f"polybench/{name}"]
    scop = raise_module(parse_module(entry.text))[entry.function]
    for array in scop.arrays:
        reads = accesses(scop, array.name, writes=False)
        writes = accesses(scop, array.name, writes=True)
        info = isl.UnionAccessInfo.from_sink(reads).set_must_source(writes)
        flow = info.set_schedule(to_isl(scop.tree, scop)).compute_flow().get_may_dependence()
        assert last_accesses(scop.tree, writes, reads, writes).is_equal(flow), array.name


def test_divisions_on_which_dataflow_analysis_fails() -> None:
    text = (Path(__file__).parent / "divisions.mlir").read_text()
    dependences = compute_dependences(raise_module(parse_module(text))["f"])
    through = {(d.kind.value, d.source, d.target) for d in dependences if d.array == "A3"}
    assert {kind for kind, _, _ in through} == {"flow", "anti", "output"}
