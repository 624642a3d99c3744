"""Lexicographic extrema find what dataflow analysis and relational algebra find."""

from __future__ import annotations

import islpy as isl
import pytest
from support.random_accesses import access_program

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.adjacent_accesses import ExecutionTimes
from loopwright.passes.polyhedral.array_dataflow import ArrayAccesses
from loopwright.passes.polyhedral.conflicts import last_accesses
from loopwright.passes.polyhedral.isl_context import TooComplexError, bounded
from loopwright.passes.polyhedral.isl_schedule import to_isl
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.scop import Scop
from loopwright.passes.polyhedral.unimodular import UnimodularStatements

KERNELS = ("gemm", "jacobi-1d", "seidel-2d", "trisolv", "cholesky", "durbin", "nussinov")


def written(scop: Scop) -> list[ArrayAccesses]:
    statements = UnimodularStatements(scop)
    found = [ArrayAccesses(scop, array, statements) for array in scop.arrays]
    return [accesses for accesses in found if not accesses.writes.is_empty()]


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(name: str) -> None:
    entry = catalogue()[f"polybench/{name}"]
    scop = raise_module(parse_module(entry.text))[entry.function]
    for accesses in written(scop):
        reads, writes = accesses.reads, accesses.writes
        times = ExecutionTimes(scop, accesses.order)
        schedule = to_isl(accesses.order, scop)
        info = isl.UnionAccessInfo.from_sink(reads).set_must_source(writes)
        flow = info.set_schedule(schedule).compute_flow().get_may_dependence()
        assert times.last_before(writes, reads).is_equal(flow)
        info = isl.UnionAccessInfo.from_sink(writes).set_may_source(reads).set_kill(writes)
        anti = info.set_schedule(schedule).compute_flow().get_may_dependence()
        assert times.next_behind(reads, writes).is_equal(anti)


def test_divisions() -> None:
    compared = 0
    for seed in range(15):
        (scop,) = raise_module(parse_module(access_program(seed))).values()
        for accesses in written(scop):
            order, reads, writes = accesses.order, accesses.reads, accesses.writes
            times = ExecutionTimes(scop, order)
            try:
                with bounded(100_000):
                    flow = last_accesses(order, writes, reads, writes)
                    anti = last_accesses(order, reads, writes, writes)
                with bounded(100_000):
                    same_flow = times.last_before(writes, reads).is_equal(flow)
                    same_anti = times.next_behind(reads, writes).is_equal(anti)
            except TooComplexError:
                continue
            assert same_flow and same_anti, (seed, accesses.array.name)
            compared += not accesses.are_unimodular
    assert compared > 10
