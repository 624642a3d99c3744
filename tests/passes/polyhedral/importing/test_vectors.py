"""Programs of vectors compute what their lanes say, as written and with schedules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.runtime.program import load

Array = NDArray[Any]

SCHEDULES = pytest.mark.parametrize("schedule", [None, "default"])
SIZES = pytest.mark.parametrize("n", [0, 1, 7, 8, 21])


def run(body: str, schedule: str | None, signature: str, *arguments: Any) -> None:
    text = f"func.func @f({signature}) {{\n{body}\n return\n}}"
    module = str(parse_module(text))
    assert str(parse_module(module)) == module
    load(text)["f"].compile(schedule)(*arguments)


def values(*shape: int) -> Array:
    numbers = np.arange(int(np.prod(shape)), dtype=np.float32)
    return ((numbers * 7) % 11 / 4 + 0.25).reshape(shape)


@SCHEDULES
@SIZES
def test_transfers_stay_in_bounds(schedule: str | None, n: int) -> None:
    given, found = values(n), np.full(n, -1, np.float32)
    body = """
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %z = arith.constant 0.0 : f32
    %two = arith.constant dense<2.0> : vector<8xf32>
    scf.for %i = %c0 to %n step %c8 {
      %v = vector.transfer_read %A[%i], %z : memref<?xf32>, vector<8xf32>
      %w = arith.mulf %v, %two : vector<8xf32>
      vector.transfer_write %w, %B[%i] : vector<8xf32>, memref<?xf32>
    }"""
    run(body, schedule, "%A: memref<?xf32>, %B: memref<?xf32>, %n: index", given, found, n)
    np.testing.assert_array_equal(found, 2 * given)


@SCHEDULES
@pytest.mark.parametrize("start", [0, 3, 5])
def test_padding_and_permutations(schedule: str | None, start: int) -> None:
    given, found = values(6, 7), np.zeros((4, 4), np.float32)
    body = """
    %c0 = arith.constant 0 : index
    %pad = arith.constant 9.0 : f32
    %v = vector.transfer_read %A[%s, %s], %pad
      {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<6x7xf32>, vector<4x4xf32>
    vector.store %v, %B[%c0, %c0] : memref<4x4xf32>, vector<4x4xf32>"""
    run(body, schedule, "%A: memref<6x7xf32>, %B: memref<4x4xf32>, %s: index", given, found, start)
    padded = np.full((12, 12), 9, np.float32)
    padded[:6, :7] = given
    np.testing.assert_array_equal(found, padded[start : start + 4, start : start + 4].T)


@SCHEDULES
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_vectors_that_loops_carry(schedule: str | None, rows: int) -> None:
    given, found = values(rows, 4), np.zeros((2, 4), np.float32)
    body = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %A, %c0 : memref<?x4xf32>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %two = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
    %r = affine.for %i = 0 to %m iter_args(%a = %zero) -> vector<4xf32> {
      %v = affine.vector_load %A[%i, 0] : memref<?x4xf32>, vector<4xf32>
      %w = vector.fma %v, %two, %a : vector<4xf32>
      affine.yield %w : vector<4xf32>
    }
    affine.vector_store %r, %B[0, 0] : memref<2x4xf32>, vector<4xf32>
    %s = scf.for %i = %c0 to %m step %c1 iter_args(%a = %two) -> vector<4xf32> {
      %v = vector.load %A[%i, %c0] : memref<?x4xf32>, vector<4xf32>
      %w = arith.maximumf %v, %a : vector<4xf32>
      scf.yield %w : vector<4xf32>
    }
    vector.store %s, %B[%c1, %c0] : memref<2x4xf32>, vector<4xf32>"""
    run(body, schedule, "%A: memref<?x4xf32>, %B: memref<2x4xf32>", given, found)
    weights = np.arange(1, 5, dtype=np.float32)
    np.testing.assert_allclose(found[0], (given * weights).sum(0), rtol=1e-6)
    np.testing.assert_array_equal(found[1], given.max(0, initial=0, where=True).clip(weights))


@SCHEDULES
def test_shapes(schedule: str | None) -> None:
    given = values(4, 6)
    found = [np.zeros(shape, np.float32) for shape in ((8, 3), (3, 8), (4,), (4, 6), (6,))]
    body = """
    %c0 = arith.constant 0 : index
    %v = vector.load %A[%c0, %c0] : memref<4x6xf32>, vector<4x6xf32>
    %w = vector.shape_cast %v : vector<4x6xf32> to vector<8x3xf32>
    vector.store %w, %B[%c0, %c0] : memref<8x3xf32>, vector<8x3xf32>
    %t = vector.transpose %w, [1, 0] : vector<8x3xf32> to vector<3x8xf32>
    vector.store %t, %C[%c0, %c0] : memref<3x8xf32>, vector<3x8xf32>
    %one = arith.constant dense<1.0> : vector<4xf32>
    %r = vector.multi_reduction <add>, %v, %one [1] : vector<4x6xf32> to vector<4xf32>
    vector.store %r, %D[%c0] : memref<4xf32>, vector<4xf32>
    %e = vector.extract %v[2] : vector<6xf32> from vector<4x6xf32>
    %i = vector.insert %e, %v [1] : vector<6xf32> into vector<4x6xf32>
    %q = vector.extract %i[3, 1] : f32 from vector<4x6xf32>
    %j = vector.insert %q, %i [0, 0] : f32 into vector<4x6xf32>
    vector.store %j, %E[%c0, %c0] : memref<4x6xf32>, vector<4x6xf32>
    %p = vector.shuffle %e, %e [5, 4, 3, 2, 1, 6] : vector<6xf32>, vector<6xf32>
    vector.store %p, %F[%c0] : memref<6xf32>, vector<6xf32>"""
    signature = (
        "%A: memref<4x6xf32>, %B: memref<8x3xf32>, %C: memref<3x8xf32>, "
        "%D: memref<4xf32>, %E: memref<4x6xf32>, %F: memref<6xf32>"
    )
    run(body, schedule, signature, given, *found)
    inserted = given.copy()
    inserted[1] = given[2]
    inserted[0, 0] = given[3, 1]
    np.testing.assert_array_equal(found[0], given.reshape(8, 3))
    np.testing.assert_array_equal(found[1], given.reshape(8, 3).T)
    np.testing.assert_allclose(found[2], 1 + given.sum(1), rtol=1e-6)
    np.testing.assert_array_equal(found[3], inserted)
    np.testing.assert_array_equal(found[4], given[2][[5, 4, 3, 2, 1, 0]])


@SCHEDULES
def test_products(schedule: str | None) -> None:
    one, other, total = values(2, 8), values(8, 3), values(2, 3)
    outer = np.zeros((2, 8), np.float32)
    sums = np.zeros(3, np.float32)
    expected = total + one @ other
    body = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %a = vector.load %A[%c0, %c0] : memref<2x8xf32>, vector<2x8xf32>
    %b = vector.load %B[%c0, %c0] : memref<8x3xf32>, vector<8x3xf32>
    %c = vector.load %C[%c0, %c0] : memref<2x3xf32>, vector<2x3xf32>
    %r = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %a, %b, %c : vector<2x8xf32>, vector<8x3xf32> into vector<2x3xf32>
    vector.store %r, %C[%c0, %c0] : memref<2x3xf32>, vector<2x3xf32>
    %x = vector.extract %a[0] : vector<8xf32> from vector<2x8xf32>
    %y = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
    %o = vector.outerproduct %y, %x : vector<2xf32>, vector<8xf32>
    vector.store %o, %D[%c0, %c0] : memref<2x8xf32>, vector<2x8xf32>
    %s = vector.reduction <add>, %x : vector<8xf32> into f32
    memref.store %s, %E[%c0] : memref<3xf32>
    %t = vector.reduction <maximumf>, %x, %s : vector<8xf32> into f32
    memref.store %t, %E[%c1] : memref<3xf32>
    %u = vector.reduction <minimumf>, %x : vector<8xf32> into f32
    memref.store %u, %E[%c2] : memref<3xf32>"""
    signature = (
        "%A: memref<2x8xf32>, %B: memref<8x3xf32>, %C: memref<2x3xf32>, "
        "%D: memref<2x8xf32>, %E: memref<3xf32>"
    )
    run(body, schedule, signature, one, other, total, outer, sums)
    np.testing.assert_allclose(total, expected, rtol=1e-6)
    np.testing.assert_array_equal(outer, np.outer([1, 2], one[0]))
    np.testing.assert_allclose(sums, [one[0].sum(), one[0].sum(), one[0].min()], rtol=1e-6)


@SCHEDULES
@pytest.mark.parametrize("count", [0, 3, 8])
def test_masks_gathers_and_scatters(schedule: str | None, count: int) -> None:
    given, found = values(16), np.zeros((3, 16), np.float32)
    where = np.array([3, 1, 4, 15, 9, 2, 6, 5], np.int32)
    body = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %m = vector.create_mask %n : vector<8xi1>
    %half = arith.constant dense<0.5> : vector<8xf32>
    %v = vector.maskedload %A[%c2], %m, %half
      : memref<16xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.store %v, %B[%c0, %c0] : memref<3x16xf32>, vector<8xf32>
    vector.maskedstore %B[%c0, %c2], %m, %half
      : memref<3x16xf32>, vector<8xi1>, vector<8xf32>
    %w = vector.load %I[%c0] : memref<8xi32>, vector<8xi32>
    %g = vector.gather %A[%c0] [%w], %m, %half
      : memref<16xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.store %g, %B[%c1, %c0] : memref<3x16xf32>, vector<8xf32>
    vector.scatter %B[%c2, %c0] [%w], %m, %v
      : memref<3x16xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>"""
    signature = "%A: memref<16xf32>, %B: memref<3x16xf32>, %I: memref<8xi32>, %n: index"
    run(body, schedule, signature, given, found, where, count)
    expected = np.zeros((3, 16), np.float32)
    expected[0, :8] = expected[1, :8] = 0.5
    loaded = np.where(np.arange(8) < count, given[2:10], np.float32(0.5))
    expected[0, :8] = loaded
    expected[0, 2 : 2 + count] = 0.5
    expected[1, :count] = given[where[:count]]
    expected[2, where[:count]] = loaded[:count]
    np.testing.assert_array_equal(found, expected)


@SCHEDULES
def test_memrefs_and_arguments_of_vectors(schedule: str | None) -> None:
    given, found = values(3, 4), np.zeros((3, 4), np.float32)
    added = values(4) + 1
    body = """
    affine.for %i = 0 to 3 {
      %v = affine.load %A[%i] : memref<3xvector<4xf32>>
      %w = arith.addf %v, %x : vector<4xf32>
      memref.store %w, %B[%i] : memref<3xvector<4xf32>>
    }"""
    signature = "%A: memref<3xvector<4xf32>>, %B: memref<3xvector<4xf32>>, %x: vector<4xf32>"
    run(body, schedule, signature, given, found, added)
    np.testing.assert_array_equal(found, given + added)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            '%0 = "test"() : () -> vector<[4]xf32>',
            "unknown operation 'test'",
        ),
        (
            "%0 = arith.addf %s, %s : vector<[4]xf32>",
            r"the size of vector<\[4\]xf32> is known only when it runs",
        ),
        (
            "%0 = vector.bitcast %x : vector<4xf32> to vector<4xi32>",
            "'vector.bitcast' is not supported",
        ),
        (
            "%0 = vector.transpose %x, [1] : vector<4xf32> to vector<4xf32>",
            "the transposition is no permutation",
        ),
        (
            "%0 = vector.reduction <and>, %x : vector<4xf32> into f32",
            "'and' does not combine values of type f32",
        ),
    ],
)
def test_refused_in_one_line(operation: str, message: str) -> None:
    text = f"""func.func @f(%x: vector<4xf32>, %s: vector<[4]xf32>, %A: memref<4xf32>) {{
      {operation}
      return
    }}"""
    if "[4]" not in operation:
        text = text.replace(", %s: vector<[4]xf32>", "")
    with pytest.raises(SourceError, match=message) as error:
        _ = load(text)["f"].scop
    assert "\n" not in error.value.message
    assert error.value.location is not None
