"""Accesses outside of their arrays are found for exactly the sizes where they happen."""

from __future__ import annotations

import itertools
import re

import islpy as isl
import pytest
from support.polyhedral_programs import body

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral.bounds import BoundsError, check_bounds, sizes_outside
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.raising.raise_function import raise_function
from loopwright.passes.polyhedral.scop import Scop

STENCIL = """
affine.for %i = 1 to %N {
  affine.for %j = 0 to %M step 2 {
    %0 = affine.load %A[%i - 1, %j + 1] : memref<?x6xf64>
    affine.store %0, %B[%i] : memref<?xf64>
  }
}
"""


def fits(scop: Scop, **sizes: int) -> bool:
    try:
        check_bounds(scop, sizes)
    except BoundsError:
        return False
    return True


def test_found_for_exactly_the_sizes_where_they_happen() -> None:
    scop = body(STENCIL, "%N: index, %M: index, %A: memref<?x6xf64>, %B: memref<?xf64>")
    for n, m, rows, length in itertools.product(range(-1, 5), range(9), range(4), range(4)):
        last_column = (m - 1) // 2 * 2 + 1
        runs = n > 1 and m > 0
        expected = not runs or (n - 2 < rows and last_column < 6 and n - 1 < length)
        assert fits(scop, N=n, M=m, A_dim0=rows, B_dim0=length) == expected, (n, m, rows, length)


def test_the_message_has_place_element_and_instance() -> None:
    scop = body(STENCIL, "%N: index, %M: index, %A: memref<?x6xf64>, %B: memref<?xf64>")
    with pytest.raises(BoundsError) as caught:
        check_bounds(scop, {"N": 4, "M": 6, "A_dim0": 2, "B_dim0": 8})
    lines = str(caught.value).splitlines()
    assert lines[0] == (
        "test.mlir:5:10: error: reads A[i - 1, j + 1] outside of the array: element [2, 1] of 2x6, "
        "with i=3, j=0, N=4, M=6"
    )
    assert lines[1].strip().startswith("%0 = affine.load %A")


def test_local_arrays_are_checked_and_expanded_dimensions_are_not() -> None:
    scop = body(
        """
        %c1 = arith.constant 1 : index
        %size = arith.subi %N, %c1 : index
        affine.for %i = 0 to %N {
          %t = memref.alloca() : memref<3xf64>
          affine.for %j = 0 to %M { affine.store %x, %t[%j] : memref<3xf64> }
        }
        %u = memref.alloc(%size) : memref<?xf64>
        affine.for %i = 0 to %K { affine.store %x, %u[%i] : memref<?xf64> }
        """,
        "%N: index, %M: index, %K: index, %x: f64",
    )
    assert fits(scop, N=100, M=3, K=99)
    assert not fits(scop, N=100, M=4, K=0)
    assert fits(scop, N=0, M=4, K=0)
    assert not fits(scop, N=100, M=0, K=100)
    assert not fits(scop, N=-5, M=0, K=1)


def test_negative_subscripts() -> None:
    scop = body(
        "affine.store %x, %A[symbol(%N) - 3] : memref<?xf64>",
        "%N: index, %x: f64, %A: memref<?xf64>",
    )
    assert fits(scop, N=3, A_dim0=1)
    with pytest.raises(BoundsError, match=r"writes A\[N - 3\] .* element \[-1\] of 9, with N=2"):
        check_bounds(scop, {"N": 2, "A_dim0": 9})


def test_the_first_instance_is_found_where_lexmin_fails() -> None:
    # isl's lexmin refuses the instances outside: a set with a stride and an empty part.
    scop = body(
        """
        affine.for %i = -3 to affine_map<()[s0] -> (s0 - 1)>()[%N] step 3 {
          affine.for %p = affine_map<(d0) -> (-d0)>(%i) to 5 {
            %0 = affine.load %A[%i + 3, %p + 3] : memref<?x8xf64>
            %1 = affine.load %A[%p + 1, %i + 3] : memref<?x8xf64>
            %2 = arith.addf %0, %1 : f64
            affine.store %2, %A[%i + 3, %p + 3] : memref<?x8xf64>
          }
        }
        """,
        "%N: index, %A: memref<?x8xf64>",
    )
    with pytest.raises(BoundsError, match=r"element \[5, 0\] of 5x8, with i=-3, p=4, N=3"):
        check_bounds(scop, {"N": 3, "A_dim0": 5})


def test_many_arrays_have_sizes_of_their_own() -> None:
    count = 60
    loops = "".join(
        f"affine.for %i{k} = 0 to %N {{ affine.store %x, %A{k}[%i{k} + {k}] : memref<?xf64> }}\n"
        for k in range(count)
    )
    arrays = ", ".join(f"%A{k}: memref<?xf64>" for k in range(count))
    scop = body(loops, f"%N: index, %x: f64, {arrays}")
    enough = {f"A{k}_dim0": 5 + k for k in range(count)}
    assert fits(scop, N=5, **enough)
    for k in (0, 31, count - 1):
        assert not fits(scop, N=5, **enough | {f"A{k}_dim0": 4 + k})
        assert fits(scop, N=0, **enough | {f"A{k}_dim0": 0})


def test_a_function_is_for_the_sizes_that_it_assumes() -> None:
    text = """func.func @f(%x: f64, %n: index, %A: memref<?xf64>, %m: index, %unused: index)
      attributes {loopwright.assume = affine_set<(d0, d1, d2) : (d0 - d1 >= 0, d1 - 2 == 0)>} {
      affine.for %i = 0 to %n {
        affine.for %j = 0 to %m {
          affine.store %x, %A[%i] : memref<?xf64>
        }
      }
      return
    }"""
    scop = raise_function(next(iter(parse_module(text).ops)))
    for n, m in itertools.product(range(-1, 5), repeat=2):
        assert fits(scop, n=n, m=m, A_dim0=9) == (n >= m == 2), (n, m)
        always = isl.Set("[A_dim0] -> { : A_dim0 >= 0 }").is_subset(
            sizes_outside(scop, {"n": n, "m": m})
        )
        assert always == (not n >= m == 2)
    with pytest.raises(BoundsError, match=r"'f' is for sizes with n - m >= 0 only, but n=1, m=2"):
        check_bounds(scop, {"n": 1, "m": 2, "A_dim0": 9})


def test_a_function_is_for_the_extents_that_it_assumes_and_not_for_those_it_refuses() -> None:
    text = """func.func @f(%x: f64, %n: index, %A: memref<?xf64>, %B: memref<4x?xf64>)
      attributes {loopwright.assume = affine_set<(d0)[s0, s1] : (s0 - s1 == 0)>,
                  loopwright.refused = [affine_set<(d0)[s0] : (d0 - 3 >= 0, s0 - 7 >= 0)>,
                                        affine_set<(d0)[s0] : (s0 mod 2 - 1 == 0)>]} {
      affine.store %x, %A[0] : memref<?xf64>
      return
    }"""
    scop = raise_function(next(iter(parse_module(text).ops)))
    assert infer_extents(scop, {"n": 5}) == {"n": 5, "A_dim0": 1, "B_dim1": 1}
    assert infer_extents(scop, {"n": 5, "B_dim1": 8})["A_dim0"] == 8
    for n, a, b in itertools.product((2, 3), range(1, 10), range(1, 10)):
        accepted = a == b and not (n >= 3 and a >= 7) and a % 2 == 0
        assert fits(scop, n=n, A_dim0=a, B_dim1=b) == accepted, (n, a, b)
    with pytest.raises(BoundsError, match=r"'f' is not for sizes with n - 3 >= 0 and A_dim0 - 7"):
        check_bounds(scop, {"n": 3, "A_dim0": 8, "B_dim1": 8})


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("loopwright.assume = 7 : i32", "'loopwright.assume' has 7 : i32, which is no affine set"),
        ("loopwright.refused = affine_set<(d0) : (d0 >= 0)>", "is an array of affine sets"),
        (
            "loopwright.assume = affine_set<(d0, d1)[s0] : (d1 >= 0)>",
            "has 2 dimensions and 1 symbols, but the function has 1 integer arguments and 0",
        ),
    ],
)
def test_attributes_that_say_nothing_about_sizes(attribute: str, message: str) -> None:
    text = f"func.func @f(%n: index) attributes {{{attribute}}} {{ return }}"
    with pytest.raises(SourceError, match=re.escape(message)):
        raise_function(next(iter(parse_module(text).ops)))
