"""affine.apply of what comes from memory, in scalars and in vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import loopwright
from loopwright.errors import OutOfBounds

PROGRAM = """
func.func @f(%n: index, %J: memref<?xKIND>, %T: memref<?xf64>, %y: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %J[%i] : memref<?xKIND>
    %g = arith.index_cast %0 : KIND to index
    %k = affine.apply affine_map<(d0, d1)[s0] -> (FORM)>(%g, %i)[%n]
    %1 = memref.load %T[%k] : memref<?xf64>
    affine.store %1, %y[%i] : memref<?xf64>
  }
  return
}
"""

# What is applied -> the same for arrays j, i and a size n.
FORMS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "d0 * 2 + 3": lambda j, i, n: 2 * j + 3,
    "d0 + d1 * 3": lambda j, i, n: j + 3 * i,
    "s0 - d0 - 1": lambda j, i, n: n - j - 1,
    "(d0 - 9) floordiv 4 + 5": lambda j, i, n: (j - 9) // 4 + 5,
    "(d0 - 9) ceildiv 4 + 5": lambda j, i, n: -((9 - j) // 4) + 5,
    "(d0 - 9) mod 4": lambda j, i, n: (j - 9) % 4,
}


@pytest.mark.parametrize("kind", ["i32", "i64", "index"])
@pytest.mark.parametrize("form", FORMS)
def test_subscripts(form: str, kind: str) -> None:
    text = PROGRAM.replace("FORM", form).replace("KIND", kind)
    text = text.replace(
        "%g = arith.index_cast %0 : index to index", "%g = arith.addi %0, %0 : index"
    )
    function = loopwright.load(text)["f"]
    values = np.random.default_rng(3)
    for n in (1, 8, 19):
        element = np.int32 if kind == "i32" else np.int64
        given = values.integers(0, n, n).astype(element)
        j = given * 2 if kind == "index" else given
        places = FORMS[form](j.astype(np.int64), np.arange(n), n)
        table = values.random(max(1, int(places.max()) + 1))
        is_inside = bool(places.min() >= 0)
        for schedule in (None, "vectorize{loops=i width=4}", "vectorize{loops=i width=8}"):
            kernel = function.compile(schedule, verify=True)
            found = np.zeros(n)
            if is_inside:
                kernel(n, given, table, found)
                np.testing.assert_array_equal(found, table[places])
                if places.max():
                    with pytest.raises(OutOfBounds):
                        kernel(n, given, table[: int(places.max())], found)
            else:
                with pytest.raises(OutOfBounds):
                    kernel(n, given, table, found)
