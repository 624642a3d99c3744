"""Which stored values the next iteration has in registers, and that results do not change."""

import itertools

import numpy as np
import pytest

import loopwright
from loopwright.lowering.generate import generate

SCHEDULES = {
    "vector": "vectorize{loops=i width=4}",
    "scalar": "strip-mine{loops=j size=5}",
    "unrolled": "unroll{loops=j factor=2}",
}


def program(stored: int, loaded: int, stored_later: int, loaded_later: int) -> str:
    """Two statements along the rows of an array, with these offsets of their subscripts."""
    return f"""
func.func @f(%m: index, %n: index, %A: memref<?x?xf64>) {{
  affine.for %i = 0 to %m {{
    affine.for %j = 2 to affine_map<()[s0] -> (s0 - 2)>()[%n] {{
      %0 = affine.load %A[%i, %j + {loaded}] : memref<?x?xf64>
      %1 = affine.load %A[%i, %j - 1] : memref<?x?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %A[%i, %j + {stored}] : memref<?x?xf64>
      %3 = affine.load %A[%i, %j + {loaded_later}] : memref<?x?xf64>
      %4 = arith.subf %3, %2 : f64
      affine.store %4, %A[%i, %j + {stored_later}] : memref<?x?xf64>
    }}
  }}
  return
}}
""".replace("+ -", "- ")


def loop_ir(text: str, schedule: str, m: int = 8, n: int = 21) -> str:
    sizes = {"m": m, "n": n, "A_dim0": m, "A_dim1": n}
    return str(generate(loopwright.load(text)["f"].schedule(schedule), sizes))


def body(code: str) -> str:
    return code.split("iter_args")[1].split("affine.yield")[0]


def test_scattered_values_stay_in_a_register() -> None:
    code = loop_ir(program(0, 2, 0, 0), SCHEDULES["vector"])
    assert body(code).count("vector.gather") == 2, "of the element ahead, by each statement"
    assert body(code).count("vector.scatter") == 1, "the second statement overwrites the first"
    assert code.count("iter_args") == 1


def test_the_last_store_counts() -> None:
    code = body(loop_ir(program(0, 2, 0, 0), "reverse{loops=i}"))
    last = code.rsplit("affine.store ", 1)[1].split(",")[0]
    assert f"affine.yield {last}" in loop_ir(program(0, 2, 0, 0), "reverse{loops=i}")


def test_what_another_store_may_change_is_loaded() -> None:
    text = program(0, 2, 0, 0)
    assert "iter_args" in loop_ir(text, "reverse{loops=i}")
    elsewhere = text.replace("affine.store %4, %A[%i, %j + 0]", "affine.store %4, %A[%i, %i + 2]")
    assert elsewhere != text
    assert "iter_args" not in loop_ir(elsewhere, "reverse{loops=i}", 8, 21)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("extent", [5, 21])
def test_results_do_not_change(schedule: str, extent: int) -> None:
    every = list(itertools.product((-1, 0, 1), (-2, -1, 0, 1), (-1, 0, 1), (-1, 0, 1)))
    for offsets in every[:: 17 if extent == 5 else 11]:
        function = loopwright.load(program(*offsets))["f"]
        given = np.random.default_rng(0).random((7, extent))
        wanted, found = given.copy(), given.copy()
        function.compile(None)(7, extent, wanted)
        function.compile(SCHEDULES[schedule])(7, extent, found)
        np.testing.assert_array_equal(found, wanted, err_msg=str(offsets))
