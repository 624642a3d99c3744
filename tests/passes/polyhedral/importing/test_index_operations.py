"""The index dialect: affine where arith is, with the same meaning elsewhere."""

import numpy as np
import pytest

import loopwright
from loopwright.dialects.index import BINARY, PREDICATES
from loopwright.errors import SourceError

AFFINE = """
func.func @f(%n: index, %A: memref<?xindex>) {
  %zero = index.constant 0
  %one = index.constant 1
  %two = index.constant 2
  %half = index.floordivs %n, %two
  scf.for %i = %zero to %half step %one {
    %0 = index.mul %i, %two
    %1 = index.add %0, %one
    %2 = index.cmp slt(%i, %n)
    scf.if %2 {
      memref.store %i, %A[%1] : memref<?xindex>
    }
    %3 = memref.load %A[%0] : memref<?xindex>
    %4 = index.sub %3, %i
    memref.store %4, %A[%0] : memref<?xindex>
  }
  return
}
"""

OPERATION = """
func.func @f(%n: index, %A: memref<?xi64>, %B: memref<?xi64>, %C: memref<?xi64>) {{
  affine.for %i = 0 to %n {{
    %0 = affine.load %A[%i] : memref<?xi64>
    %1 = affine.load %B[%i] : memref<?xi64>
    %a = {cast} %0 : i64 to index
    %b = {cast} %1 : i64 to index
    %c = {operation}
    affine.store %d, %C[%i] : memref<?xi64>
  }}
  return
}}
"""


def run(text: str, n: int = 40) -> np.ndarray:
    generator = np.random.default_rng(4)
    numbers = generator.integers(-9, 9, (2, n))
    numbers[1][numbers[1] == 0] = 3
    result = np.zeros(n, "i8")
    loopwright.load(text)["f"].compile("default")(n, *numbers, result)
    return result


def test_affine() -> None:
    function = loopwright.load(AFFINE)["f"]
    assert not function.scop.opaque_statements
    for n in (0, 1, 6, 9):
        found = np.arange(20, 20 + n)
        expected = found.copy()
        for i in range(n // 2):
            expected[2 * i + 1] = i
            expected[2 * i] -= i
        function.compile("default")(n, found)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", BINARY)
def test_binary_operations(name: str) -> None:
    texts = [
        OPERATION.format(cast=cast, operation=operation).replace(
            "affine.store %d", f"%d = {cast} %c : index to i64\n affine.store %d"
        )
        for cast, operation in (
            ("index.casts", f"index.{name} %a, %b"),
            ("arith.index_cast", f"arith.{BINARY[name]} %a, %b : index"),
        )
    ]
    found, expected = map(run, texts)
    np.testing.assert_array_equal(found, expected)
    assert np.any(found)


@pytest.mark.parametrize("name", PREDICATES)
def test_comparisons(name: str) -> None:
    extend = "%d = arith.extui %c : i1 to i64\n affine.store %d"
    texts = [
        OPERATION.format(cast=cast, operation=operation).replace("affine.store %d", extend)
        for cast, operation in (
            ("index.castu", f"index.cmp {name}(%a, %b)"),
            ("arith.index_castui", f"arith.cmpi {name}, %a, %b : index"),
        )
    ]
    found, expected = map(run, texts)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cmp slt", "cmp olt", "'olt' is no predicate: use one of eq, ne"),
        ("index.constant 2", "index.constant x", "expected integer"),
        ("index.add %0, %one", "index.add %0, %2", "but used with type index"),
        ("index.add %0", "index.addd %0", "index.addd"),
    ],
)
def test_mistakes(old: str, new: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        loopwright.load(AFFINE.replace(old, new))["f"].compile()
    assert message in str(caught.value).lower() or message in str(caught.value)
