"""Functions of the API refuse arguments of other types, and names of files that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import loopwright
from loopwright.costmodel.find import find_model
from loopwright.errors import SourceError
from loopwright.kernels.catalogue import catalogue
from loopwright.runtime.bench.saved_results import read_results

GEMM = catalogue()["polybench/gemm"]


CALLS: dict[str, Callable[[Any], object]] = {
    "load": loopwright.load,
    "find_model": find_model,
    "read_results": read_results,
    "verify": lambda value: loopwright.verify(value, value),
    "drop_in": lambda value: loopwright.drop_in(value, "x.c"),
    "output": lambda value: loopwright.drop_in("x.c", value),
    "arguments": GEMM.arguments,
    "flops": GEMM.flops,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("value", [None, 5, b"gemm", object()])
def test_other_types_are_refused(name: str, value: object) -> None:
    with pytest.raises(TypeError, match=" is a") as caught:
        CALLS[name](value)
    assert "\n" not in str(caught.value)


def test_names_of_files_that_cannot_be(tmp_path: Path) -> None:
    names = ["x" * 5000 + ".mlir", "a\0b.mlir", "", str(tmp_path), f"{tmp_path}/{'y' * 300}"]
    for name in names:
        with pytest.raises(SourceError, match="cannot read") as caught:
            loopwright.load(name)
        assert "\0" not in str(caught.value)


def test_code_that_needs_other_instructions_is_refused() -> None:
    function = next(iter(loopwright.load(GEMM.text).values()))
    other = replace(loopwright.Target.named("generic-sse2"), features=frozenset({"sse2", "sse9"}))
    if other.runs_here:
        with pytest.raises(ValueError, match="does not run on this machine, which has no sse9; "):
            function.compile(None, target=other)
