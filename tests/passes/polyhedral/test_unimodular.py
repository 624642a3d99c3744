"""Which accesses are totally unimodular: coefficients 1 and -1, and signs that fit together."""

from __future__ import annotations

import pytest
from support.polyhedral_programs import scop_of

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.array_dataflow import ArrayAccesses
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.schedule_tree import Loop, replace_node
from loopwright.passes.polyhedral.unimodular import UnimodularStatements

# The loop around j, then a subscript of A in i and j.
UNIMODULAR = {
    "plain": ("affine.for %i = 0 to %n", "0 to %n", "%i, %j"),
    "triangle": ("affine.for %i = 0 to %n", "0 to affine_map<(d0) -> (d0)>(%i)", "%j, %i"),
    "reversed": ("affine.for %i = 0 to %n", "0 to %n", "%i * -1 + symbol(%n), %j"),
    "difference": ("affine.for %i = 0 to %n", "0 to %n", "%i - %j + symbol(%n), %j"),
    "sum, no difference": ("affine.for %i = 0 to %n", "0 to %n", "%i + %j, %j"),
    "multiple of a size": ("affine.for %i = 0 to %n", "0 to %n", "%i + symbol(%n) * 3, %j"),
}
OTHER = {
    "stride": ("affine.for %i = 0 to %n step 2", "0 to %n", "%i, %j"),
    "quotient": ("affine.for %i = 0 to %n", "0 to %n", "%i floordiv 2, %j"),
    "remainder": ("affine.for %i = 0 to %n", "0 to %n", "%i mod 2, %j"),
    "bound": ("affine.for %i = 0 to %n", "0 to affine_map<(d0) -> (d0 floordiv 2)>(%i)", "%i, %j"),
    "coefficient": ("affine.for %i = 0 to %n", "0 to %n", "%i * 2, %j"),
    "sum and difference": ("affine.for %i = 0 to %n", "0 to %n", "%i + %j, %i - %j + symbol(%n)"),
    "sum below a triangle": (
        "affine.for %i = 0 to %n",
        "0 to affine_map<(d0) -> (d0)>(%i)",
        "%i + %j, 0",
    ),
    "three variables": ("affine.for %i = 0 to %n", "0 to %n step 1", "%i + %j - %k, 0"),
}


def are_unimodular(outer: str, inner: str, subscripts: str) -> bool:
    scop = scop_of(
        f"""
        func.func @f(%n: index, %x: f64, %A: memref<?x?xf64>) {{
          affine.for %k = 0 to %n {{
            {outer} {{
              affine.for %j = {inner} {{
                affine.store %x, %A[{subscripts}] : memref<?x?xf64>
              }}
            }}
          }}
          return
        }}
        """
    )
    return ArrayAccesses(scop, scop.arrays[0], UnimodularStatements(scop)).are_unimodular


@pytest.mark.parametrize("case", UNIMODULAR)
def test_unimodular(case: str) -> None:
    assert are_unimodular(*UNIMODULAR[case])


@pytest.mark.parametrize("case", OTHER)
def test_others(case: str) -> None:
    assert not are_unimodular(*OTHER[case])


@pytest.mark.parametrize("name", [name for name in catalogue() if not name.startswith("field/")])
def test_shipped_kernels(name: str) -> None:
    entry = catalogue()[name]
    scop = raise_module(parse_module(entry.text))[entry.function]
    statements = UnimodularStatements(scop)
    assert all(ArrayAccesses(scop, array, statements).are_unimodular for array in scop.arrays)


def test_an_order_with_tiles() -> None:
    entry = catalogue()["polybench/gemm"]
    scop = raise_module(parse_module(entry.text))[entry.function]
    (array,) = (each for each in scop.arrays if each.name == "C")
    loop = scop.tree
    assert isinstance(loop, Loop)
    halves = {name: aff.scale_down_val(2).floor() for name, aff in loop.schedule.items()}
    tiled = replace_node(loop, loop, Loop("it", halves, loop))
    assert UnimodularStatements(scop).have(array, scop.tree)
    assert not UnimodularStatements(scop).have(array, tiled)
