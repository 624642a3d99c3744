"""Programs in the forms that other tools print compute what MLIR's own lowering computes."""

from __future__ import annotations

import numpy as np
import pytest
from support.imported_programs import REFERENCES, Piece, pieces

from loopwright.dialects.errors import SourceError
from loopwright.runtime.program import load

PIECES = {piece.name: piece for piece in pieces()}
EXPECTED = np.load(REFERENCES)


def check(piece: Piece, schedule: str | None) -> None:
    arguments = piece.arguments()
    kernel = load(piece.text)[piece.function].compile(schedule)
    kernel(*arguments)
    for number, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            expected = EXPECTED[f"{piece.name}/{number}"]
            tolerance = 1e-5 if argument.dtype == np.float32 else 1e-12
            np.testing.assert_allclose(argument, expected, rtol=tolerance, err_msg=piece.name)


@pytest.mark.parametrize("name", [name for name in PIECES if PIECES[name].has_reference])
@pytest.mark.parametrize("schedule", [None, "default"])
def test_same_as_lowered(name: str, schedule: str | None) -> None:
    check(PIECES[name], schedule)


REFUSED = {
    "tensors:forall": "unknown operation 'tensor.parallel_insert_slice'",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_one_line(name: str) -> None:
    with pytest.raises(SourceError) as error:
        _ = load(PIECES[name].text)[PIECES[name].function].scop
    assert REFUSED[name] in error.value.message
    assert error.value.location is not None
    assert "\n" not in error.value.message


def test_libm_calls_are_operations() -> None:
    values = np.linspace(0.0, 2.0, 8, dtype=np.float32)
    found = np.zeros_like(values)
    load(PIECES["calls:libm"].text)["libm"].compile()(values, found)
    np.testing.assert_allclose(found, np.exp(values), rtol=1e-6)


def test_the_index_dialect() -> None:
    found = np.zeros(64, dtype=np.float32)
    load(PIECES["control:index_dialect"].text)["index_dialect"].compile()(found, 2.5)
    np.testing.assert_array_equal(found, np.where(np.arange(64) % 8 == 1, 2.5, 0))


def test_scalar_and_array_are_returned() -> None:
    values = np.linspace(0.0, 2.0, 8, dtype=np.float32)
    found = np.zeros_like(values)
    first = load(PIECES["results:scalar_and_array"].text)["scalar_and_array"].compile()(
        values, found
    )
    np.testing.assert_allclose(found, np.exp(values), rtol=1e-6)
    assert first == found[0]


def test_an_argument_that_is_returned_is_no_result() -> None:
    values = np.ones(8, dtype=np.float32)
    load(PIECES["results:argument_returned"].text)["argument_returned"].compile()(values)
    np.testing.assert_allclose(values, np.e, rtol=1e-6)


def test_flat_memory_without_rank() -> None:
    source = np.arange(400, dtype=np.float32)
    found = np.zeros(400, dtype=np.float32)
    kernel = load(PIECES["views:reinterpret_unranked"].text)["reinterpret_unranked"].compile()
    kernel(source, found, 2)
    expected = np.where((source >= 128) & (source < 192), source, 0)
    np.testing.assert_array_equal(found, expected)


def test_bad_views_are_refused_at_their_place() -> None:
    text = """
    func.func @f(%A: memref<?x?xf32>, %x: f32) {
      %v = memref.collapse_shape %A [[0, 1]] : memref<?x?xf32> into memref<?xf32>
      linalg.fill ins(%x : f32) outs(%v : memref<?xf32>)
      return
    }
    """
    with pytest.raises(SourceError, match="a size that is not known") as error:
        _ = load(text)["f"].scop
    assert error.value.location is not None
    assert error.value.location.line == 3


@pytest.mark.parametrize("schedule", [None, "default"])
def test_tensors_that_change_places(schedule: str | None) -> None:
    one, other = np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float32) + 10
    results = np.zeros_like(one), np.zeros_like(one)
    kernel = load(PIECES["hazards:swapped_in_a_loop"].text)["swapped_in_a_loop"].compile(schedule)
    kernel(one, other, *results)
    np.testing.assert_array_equal(results[0], other)
    np.testing.assert_array_equal(results[1], one)


GENERATED = """
func.func @generated(%A: tensor<?x7xf32>, %n: index) -> tensor<?x9xf32> {
  %c2 = arith.constant 2.0 : f32
  %two = arith.constant 2 : index
  %0 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %x = tensor.extract %A[%i, %j] : tensor<?x7xf32>
    %k = arith.index_cast %j : index to i32
    %f = arith.sitofp %k : i32 to f32
    %s = arith.addf %x, %f : f32
    tensor.yield %s : f32
  } : tensor<?x7xf32>
  %1 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %p = arith.divui %j, %two : index
    %x = tensor.extract %0[%i, %p] : tensor<?x7xf32>
    %m = arith.mulf %x, %c2 : f32
    tensor.yield %m : f32
  } : tensor<?x9xf32>
  return %1 : tensor<?x9xf32>
}
"""


@pytest.mark.parametrize("schedule", [None, "default"])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_tensors_of_regions(schedule: str | None, n: int) -> None:
    given = np.random.default_rng(n).random((n, 7), dtype=np.float32)
    found = np.zeros((n, 9), dtype=np.float32)
    load(GENERATED)["generated"].compile(schedule)(given, n, found)
    expected = 2 * (given + np.arange(7, dtype=np.float32))[:, np.arange(9) // 2]
    np.testing.assert_array_equal(found, expected)


def test_generated_tensors_have_their_extents() -> None:
    with pytest.raises(SourceError, match="1 extents of the result are dynamic, but 0 are given"):
        load(GENERATED.replace("tensor.generate %n", "tensor.generate"))
