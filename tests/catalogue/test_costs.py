"""The FLOP and traffic formulas against what happens when the kernels are interpreted."""

from __future__ import annotations

import numpy as np
import pytest
from support.counting_interpreter import CountingInterpreter
from support.reference_runs import PAPERS_KERNELS

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import KernelEntry, catalogue

COUNTED = {
    *("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "math.sqrt"),
    *("arith.addi", "arith.maxsi", "arith.minsi"),
}

# kernels without loop-invariant products or repeated subexpressions: the formula is exact
EXACT = {
    *("3mm", "atax", "bicg", "doitgen", "mvt", "trmm", "cholesky", "durbin", "gramschmidt", "lu"),
    *("ludcmp", "trisolv", "floyd-warshall", "nussinov", "fdtd-2d", "heat-3d", "jacobi-1d"),
    *("jacobi-2d", "seidel-2d", "box_blur", "conv_relu", "convolution", "cvtcolor", "heat2d"),
    *("heat3d", "jacobi2d", "seidel2d", "blur"),
}


def tiny_size(entry: KernelEntry) -> dict[str, int]:
    """All parameters different and large enough for every statement to be executed."""
    small = {"batch": 2, "features_out": 2, "features_in": 3, "kernel": 3, "tsteps": 3, "tmax": 3}
    return {name: small.get(name, 5 + i) for i, name in enumerate(entry.parameters)}


@pytest.mark.parametrize("name", PAPERS_KERNELS)
def test_costs(name: str) -> None:
    entry = catalogue()[name]
    size = tiny_size(entry)
    arguments = entry.arguments(size)
    interpreter = CountingInterpreter(parse_module(entry.text), trace=[])
    interpreter.run(entry.function, *arguments)

    fully_unrolled = sum(interpreter.counts[operation] for operation in COUNTED)
    if name.split("/")[1] in EXACT:
        assert entry.flops(size) == fully_unrolled
    else:
        assert 0.6 * fully_unrolled <= entry.flops(size) <= fully_unrolled

    arrays = {id(value): value for value in arguments if isinstance(value, np.ndarray)}
    first_read: set[tuple[int, tuple[int, ...]]] = set()
    written: set[tuple[int, tuple[int, ...]]] = set()
    assert interpreter.trace is not None
    for access in interpreter.trace:
        element = (id(access.array), access.subscripts)
        if element[0] in arrays:
            if access.is_write:
                written.add(element)
            elif element not in written:
                first_read.add(element)
    itemsize = next(iter(arrays.values())).itemsize
    assert entry.traffic(size) == itemsize * (len(first_read) + len(written))
