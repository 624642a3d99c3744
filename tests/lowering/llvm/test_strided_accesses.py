"""Vectors of elements a small stride apart: the results, and that no gather or scatter is left."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest
from support.targets import NARROW, WIDE

import loopwright
from loopwright.lowering.generate import generate
from loopwright.lowering.llvm import Options, translate
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.errors import TransformationError

TYPES = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16}

LOAD = """
func.func @f(%A: memref<COUNTxTYPE>, %B: memref<NxTYPE>) {
  affine.for %i = 0 to N {
    %0 = affine.load %A[SUBSCRIPT] : memref<COUNTxTYPE>
    affine.store %0, %B[%i] : memref<NxTYPE>
  }
  return
}
"""

N = 67

SOME = [(2, (0,)), (2, (1,)), (3, (0, 2)), (3, (1,)), (4, (0, 1, 2)), (4, (1, 3)), (6, (0, 2, 3))]
"""Rows, and columns of them that are stored."""


def llvm_ir(text: str, schedule: str, target: Target | None = None) -> str:
    function = loopwright.load(text)["f"]
    loops = generate(function.schedule(schedule), {})
    return str(translate(loops, target=target or Target.host(), options=Options()))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("stride", [2, 3, 4, -1, -2, -3])
def test_loads(kind: str, width: int, stride: int) -> None:
    count = abs(stride) * (N - 1) + 1
    first = 0 if stride > 0 else count - 1
    text = LOAD.replace("SUBSCRIPT", f"%i * {stride} + {first}").replace("COUNT", str(count))
    text = text.replace("N", str(N)).replace("TYPE", kind)
    schedule = f"vectorize{{loops=i width={width}}}"
    # Exactly as long as what is accessed: nothing behind or before it may be touched.
    a = np.arange(count).astype(TYPES[kind])
    b = np.zeros(N, TYPES[kind])
    loopwright.load(text)["f"].compile(schedule)(a, b)
    assert np.array_equal(b, a[::stride][:N])
    full = text.replace(f"0 to {N}", "0 to 32")
    assert "llvm.masked.gather" not in llvm_ir(full, schedule)


def test_what_is_further_apart_is_gathered() -> None:
    text = LOAD.replace("SUBSCRIPT", "%i * 5").replace("COUNT", "331")
    text = text.replace("N", "64").replace("TYPE", "f64")
    assert "llvm.masked.gather" in llvm_ir(text, "vectorize{loops=i width=4}")


def separated(columns: tuple[int, ...], stride: int, rows: int, kind: str) -> str:
    """Some columns of rows, each to a row of its own."""
    count = stride * (rows - 1) + columns[-1] + 1
    lines = [
        f"    %{c} = affine.load %A[%i * {stride} + {c}] : memref<{count}x{kind}>\n"
        f"    affine.store %{c}, %B[{n}, %i] : memref<{len(columns)}x{rows}x{kind}>\n"
        for n, c in enumerate(columns)
    ]
    return (
        f"func.func @f(%A: memref<{count}x{kind}>, %B: memref<{len(columns)}x{rows}x{kind}>) {{\n"
        f"  affine.for %i = 0 to {rows} {{\n{''.join(lines)}  }}\n  return\n}}\n"
    )


@pytest.mark.parametrize(("kind", "width"), [("i8", 32), ("i8", 64), ("i16", 32), ("f32", 16)])
@pytest.mark.parametrize("columns", [(0,), (0, 1), (0, 2), (0, 1, 2), (0, 3), (0, 1, 2, 3)])
@pytest.mark.parametrize("rows", [64, 131])
def test_columns_of_short_rows(kind: str, width: int, columns: tuple[int, ...], rows: int) -> None:
    text = separated(columns, 4, rows, kind)
    a = np.arange(4 * (rows - 1) + columns[-1] + 1).astype(TYPES[kind])
    b = np.zeros((len(columns), rows), TYPES[kind])
    loopwright.load(text)["f"].compile(f"vectorize{{loops=i width={width}}}")(a, b)
    assert np.array_equal(b, [a[column::4] for column in columns])


@pytest.mark.parametrize(
    ("target", "shuffles", "truncations"), [("zen4", 8, 0), ("generic-avx512", 0, 4)]
)
def test_bytes_are_permuted_where_one_instruction_does_it(
    target: str, shuffles: int, truncations: int
) -> None:
    text = separated((0, 1, 2, 3), 4, 64, "i8")
    code = llvm_ir(text, "vectorize{loops=i width=64}", Target.named(target))
    assert code.count("shufflevector") == shuffles
    assert code.count("= trunc") == truncations


def test_parts_of_rows_that_are_extended_stay_in_their_lanes() -> None:
    text = separated((0, 1), 2, 64, "i8").replace("2x64xi8", "2x64xi16")
    for column in (0, 1):
        load = f"    %{column} = affine.load %A[%i * 2 + {column}] : memref<128xi8>\n"
        assert load in text
        widened = f"    %w{column} = arith.extui %{column} : i8 to i16\n"
        text = text.replace(load, load + widened).replace(f"store %{column},", f"store %w{column},")
    code = llvm_ir(text, "vectorize{loops=i width=32}", Target.named("zen4"))
    assert "shufflevector" not in code


def interleaved(channels: int, kind: str, between: str = "") -> str:
    stores = "".join(
        f"    %{c} = affine.load %A[{c}, %i] : memref<{channels}x{N}x{kind}>\n"
        f"    affine.store %{c}, %B[%i, {c}] : memref<{N}x{channels}x{kind}>\n{between}"
        for c in range(channels)
    )
    arguments = f"%A: memref<{channels}x{N}x{kind}>, %B: memref<{N}x{channels}x{kind}>"
    return (
        f"func.func @f({arguments}) {{\n  affine.for %i = 0 to {N} {{\n{stores}  }}\n  return\n}}\n"
    )


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("channels", [2, 3, 4, 5, 6, 8])
def test_stores_that_fill_rows_are_joined(kind: str, channels: int) -> None:
    text, schedule = interleaved(channels, kind), "vectorize{loops=i width=8}"
    a = np.arange(channels * N).reshape(channels, N).astype(TYPES[kind])
    b = np.zeros((N, channels), TYPES[kind])
    loopwright.load(text)["f"].compile(schedule)(a, b)
    assert np.array_equal(b, a.T)
    full = text.replace(f"0 to {N}", "0 to 32")
    assert "llvm.masked.scatter" not in llvm_ir(full, schedule)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("stride", "columns"), SOME)
def test_stores_leave_what_is_between_as_it_is(
    kind: str, stride: int, columns: tuple[int, ...]
) -> None:
    """Also behind the last column of the last row, where there is nothing."""
    count = stride * (N - 1) + columns[-1] + 1
    lines = [
        f"    %{c} = affine.load %A[{n}, %i] : memref<{len(columns)}x{N}x{kind}>\n"
        f"    affine.store %{c}, %B[%i * {stride} + {c}] : memref<{count}x{kind}>\n"
        for n, c in enumerate(columns)
    ]
    text = (
        f"func.func @f(%A: memref<{len(columns)}x{N}x{kind}>, %B: memref<{count}x{kind}>) {{\n"
        f"  affine.for %i = 0 to {N} {{\n{''.join(lines)}  }}\n  return\n}}\n"
    )
    a = np.arange(len(columns) * N).reshape(len(columns), N).astype(TYPES[kind])
    b = np.full(count, 99, TYPES[kind])
    expected = b.copy()
    for n, column in enumerate(columns):
        expected[column::stride] = a[n]
    loopwright.load(text)["f"].compile("vectorize{loops=i width=16}")(a, b)
    assert np.array_equal(b, expected)


@pytest.mark.parametrize(("target", "operation"), [(WIDE, "store"), (NARROW, "scatter")])
def test_stores_that_leave_elements_out_take_masks_where_there_are_any(
    target: Target, operation: str
) -> None:
    text = interleaved(2, "f64").replace(f"{N}x2x", f"{N}x3x").replace(f"0 to {N}", "0 to 32")
    assert f"llvm.masked.{operation}" in llvm_ir(text, "vectorize{loops=i width=8}", target)


def test_masked_stores_end_with_the_last_element_that_is_written() -> None:
    """Loads of the next iteration begin behind that, and would wait for stores that reach in."""
    text = interleaved(1, "f64").replace(f"{N}x1x", f"{N}x2x").replace(f"0 to {N}", "0 to 32")
    code = llvm_ir(text, "vectorize{loops=i width=8}", WIDE)
    assert code.count('call void @"llvm.masked.store') == 2
    assert re.search(r"getelementptr .*double, .*i64 7", code)
    assert not re.search(r"getelementptr .*double, .*i64 8", code)


def test_few_columns_of_long_elements_are_scattered() -> None:
    text = interleaved(2, "f64").replace(f"{N}x2x", f"{N}x8x").replace(f"0 to {N}", "0 to 32")
    assert "llvm.masked.scatter" in llvm_ir(text, "vectorize{loops=i width=8}", WIDE)


def test_a_load_of_what_a_store_writes_stands_between() -> None:
    read = (
        f"    %r = affine.load %B[%i, 0] : memref<{N}x2xf64>\n"
        f"    affine.store %r, %C[%i] : memref<{N}xf64>\n"
    )
    text = interleaved(2, "f64")
    first = f"    affine.store %0, %B[%i, 0] : memref<{N}x2xf64>\n"
    text = text.replace(first, first + read).replace(") {\n", f", %C: memref<{N}xf64>) {{\n", 1)
    a = np.arange(2.0 * N).reshape(2, N)
    b, c = np.zeros((N, 2)), np.zeros(N)
    loopwright.load(text)["f"].compile("vectorize{loops=i width=8}")(a, b, c)
    assert np.array_equal(b, a.T) and np.array_equal(c, a[0])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    "columns",
    [
        (2, 0, 1),
        (3, 0, 1, 2),
        (3, 0, 2),
        (4, 0, 1, 2, 3),
        (4, 1, 2),
        (5, 0, 2, 3),
        (6, 0, 1, 2, 3, 4, 5),
        (6, 1, 2, 4),
        (7, 0, 1, 2, 3, 4),
        (8, 0, 1, 4, 6),
    ],
)
def test_columns_of_the_same_rows_are_loaded_together(kind: str, columns: tuple[int, ...]) -> None:
    stride, *read = columns
    # Nothing behind the last element that is read exists.
    count = stride * (N - 1) + read[-1] + 1
    lines = [
        f"    %{c} = affine.load %A[%i * {stride} + {c}] : memref<{count}x{kind}>\n"
        f"    affine.store %{c}, %B[{n}, %i] : memref<{len(read)}x{N}x{kind}>\n"
        for n, c in enumerate(read)
    ]
    text = (
        f"func.func @f(%A: memref<{count}x{kind}>, %B: memref<{len(read)}x{N}x{kind}>) {{\n"
        f"  affine.for %i = 0 to {N} {{\n{''.join(lines)}  }}\n  return\n}}\n"
    )
    a = np.arange(count).astype(TYPES[kind])
    b = np.zeros((len(read), N), TYPES[kind])
    for width in (8, 32):
        b[:] = 0
        schedule = f"vectorize{{loops=i width={width}}}"
        loopwright.load(text)["f"].compile(schedule)(a, b)
        assert all(np.array_equal(b[n], a[c::stride][:N]) for n, c in enumerate(read))
        assert "llvm.masked.gather" not in llvm_ir(text.replace(f"0 to {N}", "0 to 64"), schedule)


PIXELS = """
func.func @f(%A: memref<SIZEx64x3xi8>, %B: memref<32x2x3xi8>) {
  affine.for %i = 0 to 32 {
STORES  }
  return
}
"""


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (3, 4, 5, 0, 1, 2), (5, 0, 4, 1, 3, 2)])
def test_pixels_side_by_side_are_one_row(order: tuple[int, ...]) -> None:
    """Subscripts differ in two dimensions, elements in one."""
    stores = "".join(
        f"    %{k} = affine.load %A[{k // 3}, 2 * %i, {k % 3}] : memref<SIZEx64x3xi8>\n"
        f"    affine.store %{k}, %B[%i, {k // 3}, {k % 3}] : memref<32x2x3xi8>\n"
        for k in order
    )
    text = PIXELS.replace("STORES", stores).replace("SIZE", "2")
    schedule = "vectorize{loops=i width=32}"
    a = np.random.default_rng(2).integers(0, 99, (2, 64, 3)).astype(np.int8)
    b = np.zeros((32, 2, 3), np.int8)
    loopwright.load(text)["f"].compile(schedule)(a, b)
    assert np.array_equal(b, a[:, ::2].transpose(1, 0, 2))
    assert "llvm.masked" not in llvm_ir(text, schedule)


def test_an_element_is_stored_again_behind_its_row() -> None:
    text = interleaved(3, "f64").replace("  }\n", "    affine.store %0, %B[%i, 1] : SHAPE\n  }\n")
    text = text.replace("SHAPE", f"memref<{N}x3xf64>")
    a = np.arange(3.0 * N).reshape(3, N)
    b = np.zeros((N, 3))
    loopwright.load(text)["f"].compile("vectorize{loops=i width=8}")(a, b)
    assert np.array_equal(b, a[[0, 0, 2]].T)


RAGGED = """
func.func @f(%A: memref<140xi8>, %B: memref<70x70xi8>) {
  affine.for %i = 0 to 70 {
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      %0 = affine.load %A[2 * %j] : memref<140xi8>
      %1 = affine.load %A[2 * %j + 1] : memref<140xi8>
      %2 = arith.addi %0, %1 : i8
      affine.store %2, %B[%i, %j] : memref<70x70xi8>
    }
  }
  return
}
"""


@pytest.mark.parametrize("width", [8, 32])
def test_rows_of_every_length(width: int) -> None:
    a = np.random.default_rng(1).integers(-128, 128, 140).astype(np.int8)
    b = np.zeros((70, 70), np.int8)
    loopwright.load(RAGGED)["f"].compile(f"vectorize{{loops=j width={width}}}")(a, b)
    with np.errstate(over="ignore"):
        sums = a[::2] + a[1::2]
    expected = np.tril(np.broadcast_to(sums, (70, 70)), -1)
    assert np.array_equal(b, expected)


ROWS = """
func.func @f(%A: memref<5xLENGTHxKIND>, %B: memref<5xLENGTHxKIND>) {
  affine.for %y = 0 to 5 {
    affine.for %i = 0 to N {
LINES    }
  }
  return
}
"""


def rows(stride: int, columns: tuple[int, ...], kind: str, n: int, stored: int) -> str:
    """Columns of A into B, at `stored * i` and behind; vectors of long rows are aligned."""
    lines = [
        f"      %{c} = affine.load %A[%y, %i * {stride} + {c}] : memref<5xLENGTHxKIND>\n"
        f"      affine.store %{c}, %B[%y, %i * {stored} + {k}] : memref<5xLENGTHxKIND>\n"
        for k, c in enumerate(columns)
    ]
    length = max(stride, stored) * n + 1
    text = ROWS.replace("LINES", "".join(lines)).replace("LENGTH", str(length))
    return text.replace("KIND", kind).replace("N", str(n))


def with_guards(values: np.ndarray, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """The values at an odd place in memory, and all bytes around them."""
    memory = np.full(values.nbytes + 256, 0x5A, np.uint8)
    first = -memory.ctypes.data % 64 + offset * values.itemsize
    placed = memory[first : first + values.nbytes].view(values.dtype).reshape(values.shape)
    placed[:] = values
    return placed, memory


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    ("stride", "columns", "stored"),
    [
        (2, (0,), 1),
        (2, (0, 1), 2),
        (3, (0, 1, 2), 3),
        (3, (0, 2), 2),
        (3, (2, 0, 1), 3),
        (4, (0, 1, 2, 3), 4),
        (4, (1, 3), 2),
        (5, (0, 2, 3, 4), 4),
        (1, (0,), 2),
        (8, (0, 1, 4, 5, 7), 5),
    ],
)
@pytest.mark.parametrize("target", ["host", "generic-avx2"])
def test_first_and_last_vectors_of_long_rows(
    kind: str, stride: int, columns: tuple[int, ...], stored: int, target: str
) -> None:
    for n, width, offset in ((331, 16, 3), (200, 8, 0), (67, 64, 1)):
        text = rows(stride, columns, kind, n, stored)
        length = max(stride, stored) * n + 1
        a, _ = with_guards(np.arange(5 * length).reshape(5, length).astype(TYPES[kind]), offset)
        b, memory = with_guards(np.full((5, length), 7, TYPES[kind]), offset)
        reference = b.copy()
        for k, column in enumerate(columns):
            places = np.arange(n)
            reference[:, places * stored + k] = a[:, places * stride + column]
        function = loopwright.load(text)["f"]
        kernel = function.compile(
            f"vectorize{{loops=i width={width}}}", target=Target.named(target)
        )
        around = memory.copy()
        kernel(a, b)
        assert np.array_equal(b, reference)
        inside = b.ctypes.data - memory.ctypes.data
        assert np.array_equal(memory[:inside], around[:inside])
        assert np.array_equal(memory[inside + b.nbytes :], around[inside + b.nbytes :])


@pytest.mark.parametrize("kind", TYPES)
def test_masked_rows_are_loaded_and_stored_whole(kind: str) -> None:
    text = rows(3, (0, 1, 2), kind, 331, 3)
    loops = generate(loopwright.load(text)["f"].schedule("vectorize{loops=i width=16}"), {})
    code = str(translate(loops, target=Target.named("generic-avx512"), options=Options()))
    assert "llvm.masked.load" in code and "llvm.masked.store" in code
    assert "llvm.masked.gather" not in code and "llvm.masked.scatter" not in code


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("stride", [2, 3, 4])
@pytest.mark.parametrize("extent", [N, 64])
def test_columns_that_are_read_several_times(kind: str, stride: int, extent: int) -> None:
    """As in sweeps that are unrolled, of which only the last one stores."""
    array = f"memref<9x{stride * extent}x{kind}>"
    text = f"""
func.func @f(%A: {array}, %B: {array}) {{
  affine.for %t = 0 to 3 {{
    affine.for %i = 0 to 4 {{
      affine.for %j = 0 to {extent} {{
        %0 = affine.load %A[2 * %i, {stride} * %j] : {array}
        %1 = affine.load %B[2 * %i + 1, {stride} * %j] : {array}
        %2 = arith.add{"f" if kind.startswith("f") else "i"} %0, %1 : {kind}
        affine.store %2, %B[2 * %i, {stride} * %j] : {array}
      }}
    }}
  }}
  return
}}
"""
    schedule = "interchange{loops=i,j,t},unroll{loops=t},vectorize{loops=j width=8}"
    a, b = np.random.default_rng(1).integers(0, 9, (2, 9, stride * extent)).astype(TYPES[kind])
    expected = b.copy()
    expected[:8:2, ::stride] = a[:8:2, ::stride] + b[1::2, ::stride]
    loopwright.load(text)["f"].compile(schedule)(a, b)
    assert np.array_equal(b, expected)


@pytest.mark.parametrize("stride", range(2, 10))
@pytest.mark.parametrize("seed", range(6))
def test_columns_in_any_order_are_all_stored(stride: int, seed: int) -> None:
    """Whole rows, blocks that are transposed, and some columns: each store is made once."""
    random = Random(100 * stride + seed)
    columns = [random.randrange(stride + 2) for _ in range(random.randint(2, stride + 2))]
    kind = random.choice([*TYPES])
    count = stride * N + 3
    lines = [
        f"    affine.store %{value}, %B[%i * {stride} + {c}] : memref<{count}x{kind}>\n"
        for c in columns
        for value in random.choice("ab")
    ]
    text = (
        f"func.func @f(%A: memref<2x{N}x{kind}>, %B: memref<{count}x{kind}>) {{\n"
        f"  affine.for %i = 0 to {N} {{\n"
        f"    %a = affine.load %A[0, %i] : memref<2x{N}x{kind}>\n"
        f"    %b = affine.load %A[1, %i] : memref<2x{N}x{kind}>\n"
        f"{''.join(lines)}  }}\n  return\n}}\n"
    )
    function = loopwright.load(text)["f"]
    a = np.arange(2 * N).reshape(2, N).astype(TYPES[kind])
    expected = np.full(count, 99, TYPES[kind])
    function.compile(None)(a, expected)
    for width in (4, 8, 16):
        b = np.full(count, 99, TYPES[kind])
        try:
            compiled = function.compile(f"vectorize{{loops=i width={width}}}")
        except TransformationError:
            assert max(columns) >= stride, "rows meet"
            continue
        compiled(a, b)
        assert np.array_equal(b, expected), (width, text)
