"""Loops with thousands of constants: no vectors by LLVM, and the same results."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.dialects.parse import parse_module
from loopwright.lowering.llvm.many_constants import MOST, many_constants


def long_sum(constants: int) -> str:
    terms = [
        line
        for k in range(constants)
        for line in (
            f"%c{k} = arith.constant {k}.0 : f64",
            f"%v{k + 1} = arith.addf %v{k}, %c{k} : f64",
        )
    ]
    return "\n".join(
        [
            "func.func @f(%n: index, %A: memref<?xf64>) {",
            "affine.for %i = 0 to %n {",
            "%v0 = affine.load %A[%i] : memref<?xf64>",
            *terms,
            f"affine.store %v{constants}, %A[%i] : memref<?xf64>",
            "}",
            "return",
            "}",
        ]
    )


@pytest.mark.parametrize("constants", [MOST, MOST + 1])
def test_long_sum(constants: int) -> None:
    function = loopwright.load(long_sum(constants))["f"]
    found = list(many_constants(parse_module(long_sum(constants))))
    assert len(found) == (constants > MOST)
    for n in (0, 1, 19):
        values = np.arange(float(n))
        function.compile(None, threads=1)(n, values)
        assert (values == np.arange(n) + constants * (constants - 1) // 2).all()
