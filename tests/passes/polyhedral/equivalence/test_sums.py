"""Sums in another order: equal where every order is right or allowed, and never when broken."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from support.equivalence import BACKWARDS, SUM, TILED, TWO_SUMS, UNROLLED, compared, outcome, scop
from support.program_mutations import mutants
from support.scops import KERNELS, polybench

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_file
from loopwright.passes.polyhedral.equivalence.equivalence import compare
from loopwright.passes.polyhedral.equivalence.parameters import with_parameters_of
from loopwright.passes.polyhedral.equivalence.reassociation import Reassociation
from loopwright.passes.polyhedral.equivalence.witness import find_witness
from loopwright.passes.polyhedral.raising.raise_function import raise_module

PRODUCT = """func.func @f(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>, %x: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.store %zero, %x[%i] : memref<?xf64>
    affine.for %k = 0 to %n {
      %a = affine.load %A[%i, %k] : memref<?x?xf64>
      %b = affine.load %B[%k, %i] : memref<?x?xf64>
      %p = arith.mulf %a, %b : f64
      %c = affine.load %x[%i] : memref<?xf64>
      %s = arith.addf %c, %p : f64
      affine.store %s, %x[%i] : memref<?xf64>
    }
  }
  return
}"""

# The negated products are subtracted, from the last one on, and operands are swapped.
OTHER_PRODUCT = """func.func @f(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>,
                  %x: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    %0 = affine.for %k = 0 to %n iter_args(%s = %zero) -> f64 {
      %b = affine.load %B[-%k + symbol(%n) - 1, %i] : memref<?x?xf64>
      %a = affine.load %A[%i, -%k + symbol(%n) - 1] : memref<?x?xf64>
      %p = arith.mulf %b, %a : f64
      %t = arith.subf %s, %p : f64
      affine.yield %t : f64
    }
    %1 = arith.subf %zero, %0 : f64
    affine.store %1, %x[%i] : memref<?xf64>
  }
  return
}"""


# Recurrences whose values are sums of sums of the iteration before, in three kinds.
RECURRENCES = """func.func @f(%n: index, %c: memref<?xf64>, %p: memref<?xf64>, %q: memref<?xf64>) {
  %low = arith.constant -16.0 : f64
  %high = arith.constant 16.0 : f64
  affine.for %k = 1 to %n {
    %0 = affine.load %p[%k - 1] : memref<?xf64>
    %1 = affine.load %c[%k] : memref<?xf64>
    %2 = arith.maximumf %0, %1 : f64
    %3 = arith.minimumf %2, %high : f64
    %4 = arith.maximumf %3, %low : f64
    affine.store %4, %p[%k] : memref<?xf64>
    %5 = affine.load %p[%k - 1] : memref<?xf64>
    %6 = affine.load %q[%k - 1] : memref<?xf64>
    %7 = arith.addf %5, %6 : f64
    %8 = arith.minimumf %7, %high : f64
    %9 = arith.maximumf %8, %low : f64
    affine.store %9, %q[%k] : memref<?xf64>
  }
  return
}"""


@pytest.mark.parametrize("fast_math", [False, True])
def test_sums_that_lead_to_themselves(fast_math: bool) -> None:
    swapped = RECURRENCES.replace("addf %5, %6", "addf %6, %5").replace("%0, %1", "%1, %0")
    assert compared(RECURRENCES, swapped, fast_math=fast_math).is_proved
    for right, wrong in (
        ("minimumf %2", "maximumf %2"),
        ("addf %6, %5", "addf %6, %6"),
        ("maximumf %1, %0", "maximumf %1, %high"),
        ("%p[%k - 1]", "%p[%k]"),
    ):
        assert right in swapped
        broken = swapped.replace(right, wrong)
        assert not compared(RECURRENCES, broken, fast_math=fast_math).is_proved


def test_deep_expressions_are_not_known() -> None:
    chain = "".join(f"%{k + 1} = arith.negf %{k} : f64\n" for k in range(3000))
    text = f"""func.func @f(%n: index, %c: memref<?xf64>) {{
      affine.for %k = 0 to %n {{
        %0 = affine.load %c[%k] : memref<?xf64>
        {chain} affine.store %3000, %c[%k] : memref<?xf64>
      }}
      return
    }}"""
    assert compared(text, text).reason == "the expressions are too large"


@pytest.mark.parametrize("other", [SUM, BACKWARDS, UNROLLED, TILED, TWO_SUMS])
def test_any_order(other: str) -> None:
    assert compared(SUM, other, fast_math=True).is_proved
    assert compared(other, SUM, fast_math=True).is_proved


@pytest.mark.parametrize("other", [BACKWARDS, TWO_SUMS])
def test_orders_differ_without_fast_math(other: str) -> None:
    assert not compared(SUM, other).is_proved


def test_products_and_differences() -> None:
    assert compared(PRODUCT, OTHER_PRODUCT, fast_math=True).is_proved
    assert not compared(PRODUCT, OTHER_PRODUCT).is_proved


@pytest.mark.parametrize(
    "broken",
    [
        SUM.replace("%0, %1", "%1, %1"),
        SUM.replace("affine.store %2", "%3 = arith.addf %2, %1 : f64\n    affine.store %3"),
        BACKWARDS.replace("arith.addf", "arith.subf"),
        BACKWARDS.replace("0 to %n", "1 to %n"),
        TWO_SUMS.replace("%1#0, %1#1", "%1#0, %1#0"),
        TWO_SUMS.replace("%A[%i + 1]", "%A[%i]"),
        TILED.replace("d0 * 8 + 8", "d0 * 8 + 9"),
    ],
)
def test_broken_sums_are_not_equal(broken: str) -> None:
    assert not compared(SUM, broken, "n <= A_dim0", fast_math=True).is_proved


def test_a_value_that_is_added_several_times() -> None:
    """Sums of sums: how often a summand counts is not lost."""
    text = """func.func @f(%n: index, %A: memref<?xf64>, %s: memref<f64>) {
      %zero = arith.constant 0.0 : f64
      %0 = affine.for %i = 0 to %n iter_args(%t = %zero) -> f64 {
        %1 = affine.load %A[%i] : memref<?xf64>
        %2 = arith.addf %t, %1 : f64
        affine.yield %2 : f64
      }
      %3 = affine.for %k = 0 to 3 iter_args(%t = %zero) -> f64 {
        %4 = arith.addf %t, %0 : f64
        affine.yield %4 : f64
      }
      affine.store %3, %s[] : memref<f64>
      return
    }"""
    assert compared(text, text, fast_math=True).is_proved
    assert not compared(text, text.replace("0 to 3", "0 to 2"), fast_math=True).is_proved


def test_integers_have_no_order() -> None:
    one, other = (text.replace("addf", "addi").replace("f64", "i32") for text in (SUM, BACKWARDS))
    assert compared(one, other).is_proved
    found = find_witness(scop(one), scop(other), {"n": 4, "A_dim0": 4})
    assert found is None
    flagged = [text.replace("addi %0, %1", "addi %0, %1 overflow<nsw>") for text in (one, other)]
    assert not compared(*flagged).is_proved


def test_symbolic_execution_reassociates() -> None:
    one, sizes = scop(SUM), {"n": 5, "A_dim0": 5}
    for text, is_same in ((BACKWARDS, True), (TWO_SUMS, True), (SUM.replace("%0,", "%1,"), False)):
        other = with_parameters_of(scop(text), one)
        found = find_witness(one, other, sizes, rules=Reassociation(fast_math=True))
        assert (found is None) == is_same


def check_mutants(name: str, step: int) -> int:
    """Mutants with other results are not called equal, whatever the order; returns their number."""
    scop = polybench(name)
    module = parse_file(KERNELS / "polybench" / f"{name}.mlir")
    broken = 0
    for what, mutant in islice(mutants(module), 0, None, step):
        try:
            (changed,) = raise_module(mutant).values()
        except SourceError:
            continue
        other = with_parameters_of(changed, scop)
        comparison = compare(scop, other, fast_math=True, operations=2_000_000)
        runs = zip(outcome(scop, module, 4) or [], outcome(scop, mutant, 4) or [], strict=False)
        same = all(np.allclose(np.asarray(a), np.asarray(b), 1e-9) for a, b in runs)
        assert same or not comparison.is_proved, f"{name}: {what}"
        broken += not same
    return broken


@pytest.mark.parametrize("name", ["gemm", "mvt", "trmm"])
def test_no_broken_kernel_is_equal(name: str) -> None:
    assert check_mutants(name, 6) > 2


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["atax", "syrk", "trisolv", "gemver", "gesummv", "lu", "2mm"])
def test_no_broken_kernel_is_equal_of_many(name: str) -> None:
    assert check_mutants(name, 1) > 20
