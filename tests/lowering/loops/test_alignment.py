"""Where the vectors of long loops begin, and that results do not depend on it."""

import numpy as np
import pytest
from numpy.typing import NDArray
from support.machine_code import NUMPY_TYPES, MachineCode
from support.targets import WIDE
from xdsl.dialects.builtin import AnyFloat, MemRefType, f32, f64
from xdsl.ir import Block

import loopwright
from loopwright.lowering.generate import generate
from loopwright.lowering.loops.alignment import RowAccess, elements_before
from loopwright.lowering.loops.ir_builder import IRBuilder
from loopwright.lowering.nest.index_expression import Index
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.formats import apply_text

STENCIL = """
func.func @f(%A: memref<9xCOLUMNSxTYPE>, %B: memref<9xCOLUMNSxTYPE>) {
  affine.for %i = 1 to 8 {
    affine.for %j = 1 to affine_map<(d0) -> (UPPER)>(%i) {
      %0 = affine.load %A[%i - 1, %j] : memref<9xCOLUMNSxTYPE>
      %1 = affine.load %A[%i + 1, %j] : memref<9xCOLUMNSxTYPE>
      %2 = affine.load %A[%i, %j - 1] : memref<9xCOLUMNSxTYPE>
      %3 = affine.load %B[%i, %j] : memref<9xCOLUMNSxTYPE>
      %4 = arith.ADD %0, %1 : TYPE
      %5 = arith.ADD %2, %3 : TYPE
      %6 = arith.ADD %4, %5 : TYPE
      affine.store %6, %B[%i, %j] : memref<9xCOLUMNSxTYPE>
    }
  }
  return
}
"""

COLUMNS_OF_SUMS = """
func.func @f(%A: memref<9x160xf64>, %B: memref<9x160xf64>) {
  affine.for %k = 0 to 9 {
    affine.for %j = affine_map<(d0) -> (d0 + 1)>(%k) to 160 {
      affine.for %i = 0 to 9 {
        %0 = affine.load %B[%k, %j] : memref<9x160xf64>
        %1 = affine.load %A[%i, %j] : memref<9x160xf64>
        %2 = arith.addf %0, %1 : f64
        affine.store %2, %B[%k, %j] : memref<9x160xf64>
      }
    }
  }
  return
}
"""


APART = """
func.func @f(%A: memref<9x320xf64>, %B: memref<9x160xf64>) {
  affine.for %i = 0 to 9 {
    affine.for %j = 1 to 159 {
      %0 = affine.load %A[%i, 2 * %j] : memref<9x320xf64>
      affine.store %0, %B[%i, %j] : memref<9x160xf64>
    }
  }
  return
}
"""

LOCAL = """
func.func @f(%A: memref<160xf64>, %B: memref<160xf64>) {
  %T = memref.alloc() : memref<160xf64>
  affine.for %j = 0 to 160 {
    %0 = affine.load %A[%j] : memref<160xf64>
    affine.store %0, %T[%j] : memref<160xf64>
  }
  affine.for %i = 0 to 160 {
    %1 = affine.load %T[159 - %i] : memref<160xf64>
    affine.store %1, %B[%i] : memref<160xf64>
  }
  return
}
"""


def stencil(columns: int, kind: str = "f64", upper: str = "") -> str:
    return (
        STENCIL.replace("COLUMNS", str(columns))
        .replace("TYPE", kind)
        .replace("UPPER", upper or str(columns - 1))
        .replace("ADD", "addf" if kind[0] == "f" else "addi")
    )


def loop_ir(text: str, schedule: str) -> str:
    original = Schedule.original(loopwright.load(text)["f"].scop, WIDE)
    return str(generate(apply_text(schedule, original), {}))


def placed(array: NDArray[np.generic], offset: int) -> NDArray[np.generic]:
    """A copy that begins so many bytes behind a multiple of 64."""
    memory = np.zeros(array.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def is_aligned(text: str, schedule: str = "vectorize{loops=j width=8}") -> bool:
    return "extract_aligned_pointer" in loop_ir(text, schedule)


def test_long_loops_begin_with_a_vector_that_aligns_the_others() -> None:
    assert is_aligned(stencil(160))
    assert is_aligned(stencil(160), "vectorize{loops=j width=8},unroll{loops=j factor=4}")
    assert is_aligned(COLUMNS_OF_SUMS), "the bounds vary, but each vector does much"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (stencil(90), "too short"),
        (stencil(162), "rows begin at different places"),
        (stencil(160, upper="d0 + 140"), "bounds vary"),
        (APART, "lanes lie apart, which are gathered where a vector is not full"),
        (LOCAL, "what is aligned already is not most of it"),
    ],
)
def test_other_loops_begin_where_they_begin(text: str, why: str) -> None:
    assert not is_aligned(text), why


def test_rows_that_begin_at_different_places_are_not_neighbours() -> None:
    unrolled = "vectorize{loops=j width=8},unroll{loops=j factor=4}"
    assert not is_aligned(stencil(162).replace("%B[%i, %j]", "%B[%i - 1, %j]", 1), unrolled)


@pytest.mark.parametrize("width", [5, 12, 20])
def test_vectors_that_cross_lines_anyway_are_left_alone(width: int) -> None:
    assert is_aligned(stencil(360), f"vectorize{{loops=j width={width}}}") == (width != 5)


@pytest.mark.parametrize("address", [0, 16, 40, 56, 4096 + 16])
@pytest.mark.parametrize(("kind", "width", "bound"), [(f64, 8, 64), (f64, 4, 32), (f32, 16, 64)])
@pytest.mark.parametrize("place", [0, 3, 161])
def test_the_first_whole_vector_is_aligned(
    place: int, kind: AnyFloat, width: int, bound: int, address: int
) -> None:
    block = Block(arg_types=[MemRefType(kind, [9, 160])])
    builder = IRBuilder(block)
    row = RowAccess(block.args[0], Index(place), is_store=True)
    gap = elements_before(builder, [row], width, 64, shuffles=False)
    (number,) = builder.address(block.args[0]).variables()
    skipped = gap.substitute({number: Index(address)})
    assert skipped.is_constant
    assert 0 <= skipped.constant < width
    assert (address + (place + skipped.constant) * kind.bitwidth // 8) % bound == 0


def test_most_accesses_decide() -> None:
    block = Block(arg_types=[MemRefType(f64, [9, 160])] * 2)
    builder = IRBuilder(block)
    a, b = block.args
    store, loads = RowAccess(b, Index(1), True), [RowAccess(a, Index(n), False) for n in (2, 4, 6)]
    assert elements_before(builder, [store, *loads], 8, 64, shuffles=False) == Index()
    assert elements_before(builder, [store, loads[0]], 8, 64, shuffles=False) != Index()
    assert elements_before(builder, [store, *loads], 8, 64, shuffles=True) != Index(), "neighbours"


def test_tiles_that_are_short_begin_where_they_begin() -> None:
    assert not is_aligned(stencil(160), "tile{loops=j sizes=64},vectorize{loops=j width=8}")
    assert is_aligned(stencil(320), "tile{loops=j sizes=128},vectorize{loops=j width=8}")


@pytest.mark.parametrize("offsets", [(0, 0), (16, 16), (8, 56), (40, 0)])
@pytest.mark.parametrize(
    ("text", "kind", "width"),
    [
        (stencil(160), "f64", 8),
        (stencil(148), "f64", 4),
        (stencil(288, "f32"), "f32", 16),
        (stencil(160, "i64"), "i64", 8),
        (stencil(320), "f64", 24),
        (COLUMNS_OF_SUMS, "f64", 8),
        (COLUMNS_OF_SUMS.replace("d0 + 1", "d0 * 22 + 3"), "f64", 8),
    ],
)
@pytest.mark.parametrize("unroll", ["", ",unroll{loops=j factor=3}"])
def test_results_at_any_place(
    text: str, kind: str, width: int, offsets: tuple[int, int], unroll: str
) -> None:
    schedule = f"vectorize{{loops=j width={width}}}{unroll}"
    assert is_aligned(text, schedule)
    shape = tuple(map(int, text.partition("memref<")[2].split("x")[:2]))
    numbers = np.random.default_rng(1).integers(0, 1000, (2, *shape)).astype(NUMPY_TYPES[kind])
    found = [placed(array, offset) for array, offset in zip(numbers, offsets, strict=True)]
    expected = [array.copy() for array in numbers]
    MachineCode(loop_ir(text, schedule))("f", *found)
    MachineCode(loop_ir(text, ""))("f", *expected)
    for array, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(array, other)
