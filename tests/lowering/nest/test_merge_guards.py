"""Neighbours under the same condition become one conditional: same instances in the same order."""

import numpy as np
import pytest
from support.nest_execution import run

import loopwright
from loopwright.lowering.generate import generate
from loopwright.lowering.nest.index_expression import Comparison, Index
from loopwright.lowering.nest.merge_guards import merge_guards
from loopwright.lowering.nest.nest import Block, Call, Guard, Nest, TileSplit, children

SIZE = Index.variable(0)
FULL, PARTIAL = Comparison(">=", SIZE - 4), Comparison("==", SIZE - 3)


def call(name: str) -> Call:
    return Call(name, (SIZE,))


def guard(name: str, condition: Comparison = FULL) -> Guard:
    rest = Guard(PARTIAL, call(f"{name}_partial"))
    return Guard(condition, call(name), rest)


CASES: dict[str, tuple[Nest, int]] = {
    "two": (Block((guard("S0"), guard("S1"))), 1),
    "three, in blocks": (Block((guard("S0"), Block((guard("S1"), guard("S2"))))), 1),
    "something between": (Block((guard("S0"), call("S3"), guard("S1"))), 3),
    "other conditions": (Block((guard("S0"), guard("S1", PARTIAL))), 2),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [2, 3, 4, 9])
def test_the_same_instances_run_in_the_same_order(name: str, size: int) -> None:
    nest, parts = CASES[name]
    merged = merge_guards(nest)
    assert isinstance(merged, Block) and len(merged.parts) == parts
    assert list(run(merged, {0: size})) == list(run(nest, {0: size}))


def test_conditionals_inside_of_merged_ones_are_merged() -> None:
    nest = Block((guard("S0"), guard("S1")))
    (merged,) = children(merge_guards(nest))
    assert isinstance(merged, Guard) and isinstance(merged.otherwise, Block)
    assert merged.otherwise.parts == (
        Guard(PARTIAL, Block((call("S0_partial"), call("S1_partial")))),
    )


def test_tiles_are_not_merged_with_other_conditionals() -> None:
    tile = TileSplit(FULL, call("S0"), Block(()))
    assert merge_guards(Block((tile, guard("S1")))) == Block((tile, guard("S1")))
    (both,) = children(merge_guards(Block((tile, tile))))
    assert both == TileSplit(FULL, Block((call("S0"), call("S0"))), Block(()))


PRODUCT = """
func.func @f(%n: index, %m: index, %p: index, %b: memref<?xf64>, %C: memref<?x?xf64>,
             %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %b[%j] : memref<?xf64>
      affine.store %0, %C[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %p {
        %1 = affine.load %C[%i, %j] : memref<?x?xf64>
        %2 = affine.load %A[%i, %k] : memref<?x?xf64>
        %3 = affine.load %B[%k, %j] : memref<?x?xf64>
        %4 = arith.mulf %2, %3 : f64
        %5 = arith.addf %1, %4 : f64
        affine.store %5, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
TILES = (
    "tile{loops=i,j sizes=4,8},distribute{loops=i,j},interchange{loops=k,S1.i,S1.j},"
    "unroll{loops=S1.i,S1.j},unroll{loops=S0.i,S0.j},vectorize{loops=S0.j width=8},"
    "vectorize{loops=S1.j width=8}"
)


@pytest.mark.parametrize("m", [7, 8])
@pytest.mark.parametrize("n", [12, 15])
def test_what_begins_a_sum_in_a_tile_is_not_loaded(n: int, m: int) -> None:
    """Also where some tiles are partial: each sum goes on from a register."""
    function = loopwright.load(PRODUCT)["f"]
    sizes = {"n": n, "m": m, "p": 5, "b_dim0": m}
    sizes |= {"C_dim0": n, "C_dim1": m, "A_dim0": n, "A_dim1": 5, "B_dim0": 5, "B_dim1": m}
    text = str(generate(function.schedule(TILES), sizes))
    loads = [line for line in text.splitlines() if "load %C" in line]
    assert not loads
    generator = np.random.default_rng(n * m)
    b, a, right = (generator.random(shape) for shape in ((m,), (n, 5), (5, m)))
    expected, found = np.empty((n, m)), np.empty((n, m))
    function.compile(None, threads=1)(n, m, 5, b, expected, a, right)
    function.compile(TILES, threads=1)(n, m, 5, b, found, a, right)
    assert np.array_equal(found, expected)
