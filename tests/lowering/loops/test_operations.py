"""All operations inside of an operation, in order."""

import pytest

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.lowering.loops.operations import operations


@pytest.mark.parametrize("kernel", ["polybench/gemm", "polybench/nussinov", "polybench/deriche"])
def test_order_is_that_of_walk(kernel: str) -> None:
    entry = catalogue()[kernel]
    function = loopwright.load(entry.text)[entry.function].function
    assert operations(function) == list(function.walk())
