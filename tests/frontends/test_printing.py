"""Shipped kernels, printed as Python, are translated back to the same Scop."""

from __future__ import annotations

import re
from pathlib import Path

import islpy as isl
import pytest
from support.random_python import load_source

import loopwright
from loopwright.frontends.python.printing import print_file
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.scop import Access, Scop

SAMPLE = [
    "adam_step",
    "autocorrelation",
    "attention_causal",
    "batched_cholesky",
    "conv2d_depthwise",
    "demosaic_u16",
    "harris",
    "dynamic_time_warping",
    "median3_u8",
    "sobel_u8",
    "tridiagonal_rows",
]


def relations(scop: Scop) -> dict[str, set[str]]:
    """The accesses of each statement; local arrays are numbered."""
    local = [array.name for array in scop.arrays if array.argument is None]

    def relation(access: Access) -> str:
        found, name = access.relation, access.array.name
        if name in local:
            found = found.set_tuple_name(isl.dim_type.out, f"local{local.index(name)}")
        return f"{access.kind.value} {found}"

    return {each.name: {relation(access) for access in each.accesses} for each in scop.statements}


def check(name: str, folder: Path) -> None:
    """Prints a kernel, and compares what comes back."""
    entry = catalogue()[name]
    function = loopwright.load(entry.text)[entry.function]
    source = print_file([function.function])
    module = load_source(source, folder, re.sub(r"\W", "_", name))
    scop = getattr(module, entry.function).function.scop
    assert scop.domain.is_equal(function.scop.domain)
    assert relations(scop) == relations(function.scop)
    assert str(scop.tree) == str(function.scop.tree)


@pytest.mark.parametrize("name", SAMPLE)
def test_round_trip(name: str, tmp_path: Path) -> None:
    check(f"field/{name}", tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("name", [n for n, entry in catalogue().items() if entry.source == n])
def test_round_trip_of_all(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)
