"""The outermost loops that can be parallel as they are."""

from __future__ import annotations

import pytest

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.bench.doall_loops import outermost_parallel_loops, parallel_operations
from loopwright.runtime.program import Function, load


def function(name: str) -> Function:
    entry = catalogue()[name]
    return load(entry.text)[entry.function]


@pytest.mark.parametrize(
    ("name", "loops"),
    [
        ("polybench/gemm", ["i"]),
        ("polybench/2mm", ["i", "i"]),
        ("polybench/jacobi-2d", ["i", "i"]),
        ("polybench/lu", ["j"]),
        ("polybench/nussinov", []),
        ("polybench/trisolv", []),
        ("polybench/seidel-2d", []),
        ("polybench/mvt", ["i", "i"]),
        ("tiramisu/cvtcolor", ["i"]),
    ],
)
def test_loops(name: str, loops: list[str]) -> None:
    found = outermost_parallel_loops(Schedule.original(function(name).scop))
    assert [loop.name for loop in found] == loops


@pytest.mark.parametrize("name", ["polybench/gemm", "polybench/jacobi-2d", "polybench/durbin"])
def test_the_operations_are_the_loops(name: str) -> None:
    program = function(name)
    found = outermost_parallel_loops(Schedule.original(program.scop))
    operations = parallel_operations(program.function, program.scop)
    names = [op.body.block.args[0].name_hint for op in program.function.walk() if op in operations]
    assert names == [loop.name for loop in found]
