"""Conversions and constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.elementwise import Elementwise, ElementwiseCode
from support.machine_code import NUMPY_TYPES, MachineCode

SIZE = 256
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}

# operation, from, to
INTEGER_CASTS = [
    *(("extsi", a, b) for a, b in (("i1", "i32"), ("i8", "i16"), ("i8", "i64"), ("i32", "i64"))),
    *(("extui", a, b) for a, b in (("i1", "i8"), ("i8", "i32"), ("i16", "i64"), ("i32", "i64"))),
    *(("trunci", a, b) for a, b in (("i64", "i32"), ("i32", "i8"), ("i16", "i8"), ("i32", "i1"))),
    *(
        ("index_cast", a, b)
        for a, b in (("i8", "index"), ("i32", "index"), ("index", "i32"), ("index", "i64"))
    ),
    ("bitcast", "i32", "i32"),
]
TO_FLOAT = [
    (operation, integer, real)
    for operation in ("sitofp", "uitofp")
    for integer in ("i1", "i8", "i32", "i64")
    for real in ("f32", "f64")
]
TO_INTEGER = [
    (operation, real, integer)
    for operation in ("fptosi", "fptoui")
    for real in ("f32", "f64")
    for integer in ("i8", "i16", "i32", "i64")
]
BETWEEN_FLOATS = [("extf", "f32", "f64"), ("truncf", "f64", "f32")]
BITCASTS = [("bitcast", "f32", "i32"), ("bitcast", "i64", "f64")]

Cast = tuple[str, str, str]
ALL: list[Cast] = [*INTEGER_CASTS, *TO_FLOAT, *TO_INTEGER, *BETWEEN_FLOATS, *BITCASTS]


@pytest.fixture(scope="module")
def code() -> ElementwiseCode:
    return ElementwiseCode(
        [
            Elementwise("_".join(cast), f"arith.{cast[0]} {{0}} : {cast[1]} to {cast[2]}", *kinds)
            for cast in ALL
            for kinds in [((cast[1],), (cast[2],))]
        ],
        SIZE,
    )


def integers(kind: str) -> list[int]:
    bits = BITS[kind]
    if bits == 1:
        return [number % 2 for number in range(SIZE)]
    smallest, largest = -(1 << bits - 1), (1 << bits - 1) - 1
    edges = [smallest, smallest + 1, -2, -1, 0, 1, 2, largest - 1, largest]
    generator = np.random.default_rng(bits)
    others = generator.integers(smallest, largest, SIZE - len(edges), np.int64, endpoint=True)
    return [*edges, *map(int, others)]


def convert(code: ElementwiseCode, cast: Cast, values: Any) -> Any:
    return code("_".join(cast), np.array(values, NUMPY_TYPES[cast[1]]))[0]


def wrapped(value: int, bits: int) -> int:
    return value % 2 if bits == 1 else (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


@pytest.mark.parametrize("cast", INTEGER_CASTS)
def test_between_integers(code: ElementwiseCode, cast: Cast) -> None:
    operation, source, target = cast
    values = integers(source)
    found = convert(code, cast, values)
    if source == "i1" and operation == "extsi":
        values = [-value for value in values]
    elif operation == "extui":
        values = [value % (1 << BITS[source]) for value in values]
    np.testing.assert_array_equal(
        found, np.array([wrapped(value, BITS[target]) for value in values], NUMPY_TYPES[target])
    )


@pytest.mark.parametrize("cast", TO_FLOAT)
def test_integer_to_float(code: ElementwiseCode, cast: Cast) -> None:
    operation, source, target = cast
    values = integers(source)
    found = convert(code, cast, values)
    if operation == "uitofp":
        values = [value % (1 << BITS[source]) for value in values]
    elif source == "i1":
        values = [-value for value in values]
    dtype = np.int64 if operation == "sitofp" else np.uint64
    np.testing.assert_array_equal(found, np.array(values, dtype).astype(NUMPY_TYPES[target]))


@pytest.mark.parametrize("cast", TO_INTEGER)
def test_float_to_integer(code: ElementwiseCode, cast: Cast) -> None:
    operation, source, target = cast
    bits = BITS[target]
    generator = np.random.default_rng(5)
    # A part of the range leaves room for the rounding of large floats.
    high = 2.0 ** (bits - 2)
    low = -high if operation == "fptosi" else 0.0
    values = generator.uniform(low, high, SIZE).astype(NUMPY_TYPES[source])
    values[:6] = [0.0, 0.99, 1.5, 0.5, -0.0, -0.99]
    found = convert(code, cast, values)
    expected = [wrapped(int(value), bits) for value in values]
    np.testing.assert_array_equal(found, np.array(expected, NUMPY_TYPES[target]))


@pytest.mark.parametrize("cast", TO_INTEGER)
def test_float_that_does_not_fit_does_no_harm(code: ElementwiseCode, cast: Cast) -> None:
    values = np.resize([np.nan, np.inf, -np.inf, 1e30, -1e30, 300.0, -300.0], SIZE)
    # Which integers come out is unspecified, and may differ between scalars and vectors.
    name = "_".join(cast)
    for function in (name, f"{name}_v"):
        result = np.zeros(SIZE, NUMPY_TYPES[cast[2]])
        code.code(function, values.astype(NUMPY_TYPES[cast[1]]), result)


@pytest.mark.parametrize("cast", BETWEEN_FLOATS)
def test_between_floats(code: ElementwiseCode, cast: Cast) -> None:
    values = np.random.default_rng(1).normal(size=SIZE) * 1e10
    values[:5] = [np.nan, np.inf, -0.0, 0.1, 1e-40]
    source = values.astype(NUMPY_TYPES[cast[1]])
    np.testing.assert_array_equal(convert(code, cast, source), source.astype(NUMPY_TYPES[cast[2]]))


@pytest.mark.parametrize("cast", BITCASTS)
def test_bitcast(code: ElementwiseCode, cast: Cast) -> None:
    source = np.arange(SIZE).astype(NUMPY_TYPES[cast[1]]) * 3
    np.testing.assert_array_equal(convert(code, cast, source), source.view(NUMPY_TYPES[cast[2]]))


CONSTANTS: list[tuple[str, str, Any]] = [
    ("true", "i1", True),
    ("false", "i1", False),
    ("-128", "i8", -128),
    ("-2147483648", "i32", -(1 << 31)),
    ("9223372036854775807", "i64", (1 << 63) - 1),
    ("-3", "index", -3),
    ("0.1", "f32", float(np.float32(0.1))),
    ("0.1", "f64", 0.1),
    ("0x7FF0000000000000", "f64", float("inf")),
    ("0xFF800000", "f32", float("-inf")),
    ("1.0e-310", "f64", 1e-310),
    ("1.0e-45", "f32", float(np.float32(1e-45))),
]


@pytest.mark.parametrize(("text", "kind", "expected"), CONSTANTS)
def test_scalar_constant(text: str, kind: str, expected: Any) -> None:
    typed = text if kind == "i1" else f"{text} : {kind}"
    code = MachineCode(f"""
    func.func @f() -> {kind} {{
      %c = arith.constant {typed}
      return %c : {kind}
    }}""")
    assert code("f") == expected


def test_nan_constant() -> None:
    code = MachineCode("""
    func.func @f() -> f32 {
      %c = arith.constant 0x7FC00000 : f32
      return %c : f32
    }""")
    assert np.isnan(code("f"))


def test_vector_constants() -> None:
    code = MachineCode("""
    func.func @f(%r: memref<8xi32>, %s: memref<4xf64>) {
      %v = arith.constant dense<[1, -2, 3, 4, 5, 6, 7, 2147483647]> : vector<8xi32>
      %w = arith.constant dense<0.1> : vector<4xf64>
      affine.vector_store %v, %r[0] : memref<8xi32>, vector<8xi32>
      affine.vector_store %w, %s[0] : memref<4xf64>, vector<4xf64>
      return
    }""")
    r, s = np.zeros(8, np.int32), np.zeros(4)
    code("f", r, s)
    np.testing.assert_array_equal(r, [1, -2, 3, 4, 5, 6, 7, 2147483647])
    np.testing.assert_array_equal(s, [0.1] * 4)
