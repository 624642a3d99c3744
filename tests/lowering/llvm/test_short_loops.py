"""Which loops LLVM is told to make vectors along, or none."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from loopwright.passes.machine.target import Target
from loopwright.runtime.program import load

COPY = """
func.func @copy(%A: memref<40x40xf64>, %B: memref<40x40xf64>) {{
  {outer} {{
    affine.for %j = 0 to {inner} {{
      %a = affine.load %A[{place}] : memref<40x40xf64>
      %b = arith.mulf %a, %a : f64
      affine.store %b, %B[{place}] : memref<40x40xf64>
    }}
  }}
  return
}}
"""
FOR = "affine.for %i = 0 to 14"
PARALLEL = "affine.parallel (%i) = (0) to (14)"
SUMS = """
func.func @copy(%A: memref<40x40xf64>, %B: memref<40x40xf64>) {
  affine.for %i = 0 to 40 {
    affine.for %j = 0 to 14 {
      %a = affine.load %A[%i, %j] : memref<40x40xf64>
      %b = affine.load %B[%i, 0] : memref<40x40xf64>
      %c = arith.addf %a, %b : f64
      affine.store %c, %B[%i, 0] : memref<40x40xf64>
    }
  }
  return
}
"""
HINT = "llvm.loop.vectorize.enable"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("outer", "inner", "place", "is_told"),
    [
        (FOR, "14", "%i, %j", True),
        (PARALLEL, "14", "%i, %j", True),
        (FOR, "14", "2 * %i + 3, %j", True),
        (FOR, "14", "%i floordiv 2, %j", True),
        (FOR, "14 step 2", "%i, %j floordiv 2", False),
        # By eight elements, they do not follow each other along the inner loop either.
        (FOR, "40 step 8", "%i, %j", False),
        # Along the outer loop, they follow each other.
        (FOR, "14", "%j, %i", False),
        (PARALLEL, "14", "%j, %i", False),
        # Too short for vectors.
        (FOR, "3", "%i, %j", False),
    ],
)
def test_the_loop_around_a_short_one(
    outer: str, inner: str, place: str, is_told: bool, threads: int
) -> None:
    (function,) = load(COPY.format(outer=outer, inner=inner, place=place)).values()
    kernel = function.compile(threads=threads, schedule="")
    source, target = np.random.default_rng(0).random((40, 40)), np.zeros((40, 40))
    kernel(source, target)
    written = target != 0
    assert written.any()
    np.testing.assert_array_equal(target[written], (source * source)[written])
    assert (HINT in kernel.llvm_ir) == is_told


TRIANGLE = """
func.func @triangle(%n: index, %A: memref<40x40xf64>, %B: memref<40x40xf64>) {{
  affine.for %i = 0 to %n {{
    affine.for %j = {lower}(%i) to {upper} {{
      %a = affine.load %A[%i, %j] : memref<40x40xf64>
      %b = arith.mulf %a, %a : f64
      affine.store %b, %B[%i, %j] : memref<40x40xf64>
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("lower", "upper", "is_told"),
    [
        # It stays a loop, and is the innermost one. LLVM would take the hint of the loop around for
        # its own, once it has seen that both end together.
        ("affine_map<(d0) -> (d0 + 1)>", "%n", False),
        ("affine_map<(d0) -> (d0)>", "min affine_map<(d0)[s0] -> (d0 + 9, s0)>(%i)[%n]", False),
        # LLVM unrolls these.
        ("affine_map<(d0) -> (d0)>", "min affine_map<(d0)[s0] -> (d0 + 8, s0)>(%i)[%n]", True),
        ("affine_map<(d0) -> (0)>", "%n", True),
    ],
)
def test_a_loop_whose_length_varies(lower: str, upper: str, is_told: bool) -> None:
    (function,) = load(TRIANGLE.format(lower=lower, upper=upper)).values()
    kernel = function.compile(threads=1, schedule=None)
    source, target = np.random.default_rng(0).random((40, 40)), np.zeros((40, 40))
    kernel(40, source, target)
    written = target != 0
    np.testing.assert_array_equal(target[written], (source * source)[written])
    assert (HINT in kernel.llvm_ir) == is_told
    if upper == "%n":
        assert re.search("[yz]mm", kernel.assembly), "there are vectors along the inner loop"


FAR_SUMS = """
func.func @sums(%A: memref<40x40xf64>, %B: memref<14xf64>, %C: memref<40xf64>) {
  affine.for %i = 0 to 40 {
    affine.for %j = 0 to 14 {
      %a = affine.load %A[%i, 3] : memref<40x40xf64>
      %b = affine.load %B[%j] : memref<14xf64>
      %c = affine.load %C[%i] : memref<40xf64>
      %d = arith.mulf %a, %b : f64
      %e = arith.addf %c, %d : f64
      affine.store %e, %C[%i] : memref<40xf64>
    }
  }
  return
}
"""


@pytest.mark.parametrize("fast_math", [False, True])
def test_sums_in_order_of_what_is_gathered_once(fast_math: bool) -> None:
    """Along the short loop there are no vectors; along the one around, a gather for 14 terms."""
    (function,) = load(FAR_SUMS).values()
    kernel = function.compile(threads=1, schedule="", fast_math=fast_math)
    rng = np.random.default_rng(0)
    a, b, c = rng.random((40, 40)), rng.random(14), np.zeros(40)
    kernel(a, b, c)
    np.testing.assert_allclose(c, a[:, 3] * b.sum())
    assert (HINT in kernel.llvm_ir) == fast_math


def test_sums_along_the_short_loop() -> None:
    (function,) = load(SUMS).values()
    kernel = function.compile(threads=1, schedule="")
    source, target = np.random.default_rng(0).random((40, 40)), np.zeros((40, 40))
    kernel(source, target)
    np.testing.assert_allclose(target[:, 0], source[:, :14].sum(axis=1))
    assert HINT in kernel.llvm_ir


PRODUCTS = """
func.func @products(%A: memref<40x40x32xTYPE>, %x: memref<40x32xTYPE>, %y: memref<40x40xTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %b = 0 to 40 {
    affine.for %i = 0 to 40 {
      affine.store %zero, %y[%b, %i] : memref<40x40xTYPE>
      affine.for %j = 0 to 32 {
        %s = affine.load %y[%b, %i] : memref<40x40xTYPE>
        %0 = affine.load %A[%b, %i, %j] : memref<40x40x32xTYPE>
        %1 = affine.load %x[%b, %j] : memref<40x32xTYPE>
        %2 = arith.mulf %0, %1 : TYPE
        %3 = arith.addf %s, %2 : TYPE
        affine.store %3, %y[%b, %i] : memref<40x40xTYPE>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("kind", "element"), [("f32", np.float32), ("f64", np.float64)])
def test_terms_of_a_short_sum_are_not_gathered(kind: str, element: type) -> None:
    """That sums of neighbouring rows are neighbours is no reason for vectors along the rows."""
    (function,) = load(PRODUCTS.replace("TYPE", kind)).values()
    kernel = function.compile(threads=1, schedule="", fast_math=True)
    rng = np.random.default_rng(0)
    a, x = rng.random((40, 40, 32)).astype(element), rng.random((40, 32)).astype(element)
    y = np.zeros((40, 40), element)
    kernel(a, x, y)
    np.testing.assert_allclose(y, np.einsum("bij,bj->bi", a, x), rtol=1e-5)
    assert "gather" not in kernel.assembly
    assert re.search("[yz]mm", kernel.assembly), "there are vectors of terms"


TILED = """
func.func @tiled(%A: memref<640xf64>, %B: memref<640xf64>) {{
  affine.for %t = 0 to 2 {{
    affine.for %it = 0 to 16 {{
      affine.for %i = affine_map<(d0) -> ({size} * d0)>(%it)
          to affine_map<(d0) -> ({size} * d0 + {size})>(%it) step {step} {{
        %a = affine.load %A[{load}] : memref<640xf64>
        %b = arith.mulf %a, %a : f64
        affine.store %b, {array}[{store}] : memref<640xf64>
      }}
    }}
  }}
  return
}}
"""
VECTORS_FIRST = "llvm.loop.vectorize.followup_all"


@pytest.mark.parametrize(
    ("changed", "is_told"),
    [
        ({}, True),
        ({"load": "%i + 1"}, True),
        ({"load": "0"}, True),
        ({"array": "%A"}, True),
        # An iteration reads what the one before has stored.
        ({"array": "%A", "load": "%i", "store": "%i + 1"}, False),
        # Accesses jump.
        ({"load": "2 * %i"}, False),
        ({"size": 16, "step": 2}, False),
        # They fill no vectors.
        ({"size": 12}, False),
        ({"size": 20}, False),
        ({"size": 7}, False),
        # The same elements again and again: unrolled, they stay in registers.
        ({"store": "%i - 16 * %it"}, False),
        ({"store": "%it"}, False),
        # Unrolled by request.
        ({"schedule": "unroll{loops=i factor=4}"}, False),
    ],
)
def test_a_tile_is_vectorised_before_it_is_unrolled(
    changed: dict[str, object], is_told: bool
) -> None:
    values = {"size": 16, "step": 1, "load": "%i", "store": "%i", "array": "%B", **changed}
    (function,) = load(TILED.format(**values)).values()
    target = replace(Target.host(), vector_bits=512)
    kernel = function.compile(threads=1, schedule=str(changed.get("schedule", "")), target=target)
    source = np.random.default_rng(0).random(640)
    arrays = [source.copy(), np.zeros(640)]
    kernel(*arrays)
    expected = [source.copy(), np.zeros(640)]
    _run(expected, values)
    np.testing.assert_allclose(arrays, expected)
    assert (VECTORS_FIRST in kernel.llvm_ir) == is_told


REPEATED = """
func.func @repeated(%A: memref<160xf64>, %B: memref<160xf64>) {{
  affine.for %it = 0 to 16 {{
    affine.for %t = 0 to 2 {{
      affine.for %i = {begin}(%it) to {end}(%it) {{
        %a = affine.load %A[{place}] : memref<160xf64>
        %b = arith.mulf %a, %a : f64
        affine.store %b, %B[{place}] : memref<160xf64>
      }}
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("begin", "end", "place", "is_told"),
    [
        # Along the tile loop, both accesses jump from tile to tile.
        ("(8 * d0)", "(8 * d0 + 8)", "%i", True),
        ("(8 * d0)", "(8 * d0 + 8)", "%i floordiv 2 + %i - %i floordiv 2", True),
        ("(8 * (d0 floordiv 2))", "(8 * (d0 floordiv 2) + 8)", "%i", True),
        # They follow each other along both loops.
        ("(d0)", "(d0 + 8)", "%i", False),
        # They stay where they are.
        ("(8 * d0)", "(8 * d0 + 8)", "%i - 8 * %it", False),
        # One of them follows the tile, in whichever bound that is.
        ("(8 * d0, 1)", "(8 * d0 + 8)", "%i", True),
        ("(1, 8 * d0)", "(8 * d0 + 8)", "%i", True),
    ],
)
def test_the_tile_loop_around_unrolled_tiles(
    begin: str, end: str, place: str, is_told: bool
) -> None:
    text = REPEATED.format(begin=_bound("max", begin), end=_bound("min", end), place=place)
    (function,) = load(text).values()
    kernel = function.compile(threads=1, schedule=None)
    source, target = np.random.default_rng(0).random(160), np.zeros(160)
    kernel(source, target)
    written = target != 0
    assert written.any()
    np.testing.assert_array_equal(target[written], (source * source)[written])
    assert (HINT in kernel.llvm_ir) == is_told


def test_what_does_not_move_with_a_loop_does_not_move_with_its_bounds() -> None:
    """Along the tile loop, the row of A is the same: no reason against vectors there."""
    text = REPEATED.format(
        begin=_bound("max", "(8 * (d0 floordiv 2))"),
        end=_bound("min", "(8 * (d0 floordiv 2) + 8)"),
        place="%it",
    )
    (function,) = load(text).values()
    kernel = function.compile(threads=1, schedule=None)
    assert HINT not in kernel.llvm_ir


PRODUCT = """
func.func @tile(%A: memref<4x64xf64>, %B: memref<64x16xf64>, %C: memref<4x16xf64>) {
  affine.for %k = 0 to 64 {
    affine.for %i = 0 to 2 {
      affine.for %j = 0 to 16 {
        %a = affine.load %A[%i, %k] : memref<4x64xf64>
        %b = affine.load %B[%k, %j] : memref<64x16xf64>
        %c = affine.load %C[%i, %j] : memref<4x16xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<4x16xf64>
      }
    }
  }
  return
}
"""


def test_a_register_tile_is_unrolled() -> None:
    # C stays in registers along the outermost loop once both inner ones are unrolled.
    (function,) = load(PRODUCT).values()
    kernel = function.compile(threads=1, schedule="")
    a, b, c = (np.random.default_rng(0).random(shape) for shape in ((4, 64), (64, 16), (4, 16)))
    expected = c.copy()
    expected[:2] += a[:2] @ b
    kernel(a, b, c)
    np.testing.assert_allclose(c, expected)
    assert VECTORS_FIRST not in kernel.llvm_ir


QUOTIENTS = """
func.func @quotients(%A: memref<32xi32>, %B: memref<32xi32>) {
  affine.for %i = 0 to 32 {
    %a = affine.load %A[%i] : memref<32xi32>
    %b = affine.load %B[%i] : memref<32xi32>
    %c = arith.OPERATION %a, %b : i32
    affine.store %c, %B[%i] : memref<32xi32>
  }
  return
}
"""


@pytest.mark.parametrize(("operation", "is_told"), [("divsi", False), ("muli", True)])
def test_what_has_no_vector_form(operation: str, is_told: bool) -> None:
    (function,) = load(QUOTIENTS.replace("OPERATION", operation)).values()
    kernel = function.compile(threads=1, schedule="")
    a, b = (np.arange(first, first + 32, dtype=np.int32) for first in (100, 1))
    expected = a // b if operation == "divsi" else a * b
    kernel(a, b)
    np.testing.assert_array_equal(b, expected)
    assert (VECTORS_FIRST in kernel.llvm_ir) == is_told


def _bound(several: str, results: str) -> str:
    """A bound of a loop, of the results of a map of one dimension."""
    return f"{several if ',' in results else ''} affine_map<(d0) -> {results}>"


def _run(arrays: list[np.ndarray], values: dict[str, object]) -> None:
    """The same program in Python."""
    size, step = values["size"], values["step"]
    assert isinstance(size, int) and isinstance(step, int)
    load, store = (str(values[name]).replace("%", "") for name in ("load", "store"))
    source = arrays[0]
    target = arrays[values["array"] == "%B"]
    for _ in range(2):
        for it in range(16):
            for i in range(size * it, size * it + size, step):
                names = {"i": i, "it": it}
                target[eval(store, names)] = source[eval(load, names)] ** 2


@pytest.mark.parametrize(("terms", "is_long"), [(40, False), (1024, True)])
def test_loops_over_vectors_of_long_sums_stay(terms: int, is_long: bool) -> None:
    """LLVM would unroll them, and add up in another order than registers suffice for."""
    text = SUMS.replace("to 14", f"to {terms}").replace("40x40", f"40x{terms}")
    function = load(text)["copy"]
    rows = np.random.default_rng(1).random((40, terms))
    sums = np.zeros_like(rows)
    kernel = function.compile(None, threads=1, fast_math=True)
    kernel(rows, sums)
    np.testing.assert_allclose(sums[:, 0], rows.sum(axis=1))
    assert ("llvm.loop.vectorize.followup_all" in kernel.llvm_ir) == is_long


BLOCKS = """
func.func @blocks(%A: memref<{extent}x{extent}xi8>, %B: memref<8x8xi32>) {{
  %zero = arith.constant 0 : i32
  affine.for %i = 0 to 8 {{
    affine.for %j = 0 to 8 {{
      %rows = affine.for %u = 0 to {size} iter_args(%r = %zero) -> (i32) {{
        %row = affine.for %v = 0 to {size} iter_args(%s = %r) -> (i32) {{
          %a = affine.load %A[{size} * %i + %u, {size} * %j + %v] : memref<{extent}x{extent}xi8>
          %b = arith.extui %a : i8 to i32
          %c = arith.addi %s, %b : i32
          affine.yield %c : i32
        }}
        affine.yield %row : i32
      }}
      affine.store %rows, %B[%i, %j] : memref<8x8xi32>
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(("size", "hints"), [(4, 2), (8, 3)])
def test_sums_of_less_than_a_vector_are_lanes_of_the_loop_around(size: int, hints: int) -> None:
    """LLVM shuffles rows where lanes are up to four elements apart."""
    (function,) = load(BLOCKS.format(size=size, extent=8 * size)).values()
    pixels = np.random.default_rng(2).integers(0, 256, (8 * size, 8 * size)).astype(np.uint8)
    sums = np.zeros((8, 8), np.int32)
    kernel = function.compile(None, threads=1)
    kernel(pixels, sums)
    blocks = pixels.astype(np.int32).reshape(8, size, 8, size)
    np.testing.assert_array_equal(sums, blocks.sum(axis=(1, 3)))
    assert len(re.findall("!llvm.loop !", kernel.llvm_ir)) == hints


@pytest.mark.parametrize(
    ("terms", "fast", "is_told"), [(16, True, True), (16, False, False), (12, True, False)]
)
def test_sums_of_whole_vectors_are_no_chains(terms: int, fast: bool, is_told: bool) -> None:
    """Unrolled, LLVM adds up their terms one by one."""
    target = replace(Target.host(), vector_bits=512)
    text = SUMS.replace("to 14", f"to {terms}").replace("%B[%i, 0]", "%B[0, 0]")
    kernel = load(text)["copy"].compile(None, threads=1, fast_math=fast, target=target)
    assert (VECTORS_FIRST in kernel.llvm_ir) == is_told
