"""Values that several statements use: each load sees what it saw in the program."""

from __future__ import annotations

import numpy as np
from support.interpreter import Interpreter
from support.polyhedral_programs import scop_of
from support.scop_execution import ScopExecution

from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral.scop import Scop


def run_both(lines: str) -> Scop:
    """Compares the interpreter with the statements; the program works on A[6, 6], B[6], N = 5."""
    text = f"""
    func.func @f(%N: index, %A: memref<6x6xf64>, %B: memref<6xf64>) {{
      {lines}
      return
    }}
    """
    results: list[list[np.ndarray]] = []
    for execute in (
        lambda *arguments: Interpreter(parse_module(text)).run("f", *arguments),
        lambda *arguments: ScopExecution(scop := scop_of(text), arguments).run(scop.tree),
    ):
        a = np.arange(2.0, 38.0).reshape(6, 6)
        b = np.arange(1.0, 7.0)
        execute(5, a, b)
        results.append([a, b])
    for expected, actual in zip(*results, strict=True):
        np.testing.assert_array_equal(expected, actual)
    return scop_of(text)


def locals_of(scop: Scop) -> list[str]:
    return [array.name for array in scop.arrays if array.is_local]


def test_a_value_is_computed_anew_for_each_store() -> None:
    scop = run_both(
        """
        affine.for %i = 0 to %N {
          %0 = affine.load %B[%i] : memref<6xf64>
          %1 = arith.addf %0, %0 : f64
          affine.store %1, %A[%i, 0] : memref<6x6xf64>
          affine.store %1, %A[%i, 1] : memref<6x6xf64>
        }
        """
    )
    assert [len(s.body) for s in scop.statements] == [3, 3]
    assert not locals_of(scop)


def test_stores_that_clobber_a_load_in_their_block_are_one_statement() -> None:
    scop = run_both(
        """
        affine.for %i = 0 to %N {
          %0 = affine.load %B[%i] : memref<6xf64>
          %1 = affine.load %B[%i + 1] : memref<6xf64>
          affine.store %0, %A[%i, 0] : memref<6x6xf64>
          affine.store %1, %B[%i] : memref<6xf64>
          affine.store %1, %A[%i, 1] : memref<6x6xf64>
          affine.store %0, %B[%i + 1] : memref<6xf64>
          affine.store %0, %A[%i, 2] : memref<6x6xf64>
        }
        """
    )
    assert [len(s.writes) for s in scop.statements] == [1, 4]
    assert not locals_of(scop)


def test_other_elements_of_an_array_do_not_clobber() -> None:
    scop = run_both(
        """
        affine.for %i = 0 to %N {
          %0 = affine.load %A[%i, 2] : memref<6x6xf64>
          affine.store %0, %A[%i, 3] : memref<6x6xf64>
          affine.store %0, %A[%i + 1, 2] : memref<6x6xf64>
          affine.store %0, %B[%i] : memref<6xf64>
        }
        """
    )
    assert [len(s.writes) for s in scop.statements] == [1, 1, 1]


def test_a_value_from_around_a_loop_that_changes_its_element_is_kept() -> None:
    scop = run_both(
        """
        affine.for %i = 0 to %N {
          %pivot = affine.load %A[%i, 2] : memref<6x6xf64>
          affine.for %j = 0 to %N {
            %0 = affine.load %A[%i, %j] : memref<6x6xf64>
            %1 = arith.addf %0, %pivot : f64
            affine.store %1, %A[%i, %j] : memref<6x6xf64>
          }
        }
        """
    )
    assert locals_of(scop) == ["pivot"]
    assert [s.loops for s in scop.statements] == [("i",), ("i", "j")]


def test_a_value_from_around_a_loop_that_leaves_its_element_is_loaded_again() -> None:
    scop = run_both(
        """
        affine.for %i = 0 to %N {
          %pivot = affine.load %A[%i, %i] : memref<6x6xf64>
          affine.for %j = affine_map<(d0) -> (d0 + 1)>(%i) to %N {
            affine.store %pivot, %A[%i, %j] : memref<6x6xf64>
          }
        }
        """
    )
    assert not locals_of(scop)


def test_a_loop_between_load_and_use_that_clobbers() -> None:
    scop = run_both(
        """
        %0 = affine.load %B[3] : memref<6xf64>
        affine.for %j = 0 to %N { affine.store %0, %B[%j] : memref<6xf64> }
        affine.store %0, %A[0, 0] : memref<6x6xf64>
        %1 = affine.load %B[2] : memref<6xf64>
        affine.if affine_set<()[s0] : (s0 - 2 >= 0)>()[%N] {
          affine.store %0, %B[2] : memref<6xf64>
        }
        affine.store %1, %A[0, 1] : memref<6x6xf64>
        """
    )
    assert len(locals_of(scop)) == 2


def test_a_clobbering_store_after_the_use_in_the_same_loop() -> None:
    scop = run_both(
        """
        %0 = affine.load %B[0] : memref<6xf64>
        affine.for %i = 0 to %N {
          affine.store %0, %A[%i, 0] : memref<6x6xf64>
          affine.store %0, %A[%i, 1] : memref<6x6xf64>
          %1 = affine.load %A[%i, 2] : memref<6x6xf64>
          affine.store %1, %B[%i] : memref<6xf64>
        }
        """
    )
    assert len(locals_of(scop)) == 1


def test_slow_values_are_kept_for_inner_loops() -> None:
    scop = run_both(
        """
        affine.for %i = 0 to %N {
          %0 = affine.load %A[%i, 0] : memref<6x6xf64>
          %1 = affine.load %A[%i, 1] : memref<6x6xf64>
          %quotient = arith.divf %0, %1 : f64
          affine.for %j = 0 to %N { affine.store %quotient, %B[%j] : memref<6xf64> }
        }
        """
    )
    assert locals_of(scop) == ["quotient"]
    assert [len(s.reads) for s in scop.statements] == [2, 1]
