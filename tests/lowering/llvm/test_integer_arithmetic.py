"""Integer operations against Python's integers, by scalars and in vectors."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.elementwise import LANES, Elementwise, ElementwiseCode
from support.machine_code import NUMPY_TYPES, MachineCode

TYPES = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}

Semantics = Callable[[int, int, int], int]


def unsigned(value: int, bits: int) -> int:
    return value % (1 << bits)


def wrapped(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0


def on_unsigned(function: Callable[[int, int], int]) -> Semantics:
    return lambda a, b, bits: function(unsigned(a, bits), unsigned(b, bits))


BINARY: dict[str, Semantics] = {
    "addi": lambda a, b, _: a + b,
    "subi": lambda a, b, _: a - b,
    "muli": lambda a, b, _: a * b,
    "divsi": lambda a, b, _: towards_zero(a, b),
    "remsi": lambda a, b, _: a - b * towards_zero(a, b) if b else 0,
    "floordivsi": lambda a, b, _: a // b if b else 0,
    "ceildivsi": lambda a, b, _: -(-a // b) if b else 0,
    "divui": on_unsigned(lambda a, b: a // b if b else 0),
    "remui": on_unsigned(lambda a, b: a % b if b else 0),
    "ceildivui": on_unsigned(lambda a, b: -(-a // b) if b else 0),
    "minsi": lambda a, b, _: min(a, b),
    "maxsi": lambda a, b, _: max(a, b),
    "minui": on_unsigned(min),
    "maxui": on_unsigned(max),
    "andi": lambda a, b, _: a & b,
    "ori": lambda a, b, _: a | b,
    "xori": lambda a, b, _: a ^ b,
    "shli": lambda a, b, bits: a << min(unsigned(b, bits), bits),
    "shrui": lambda a, b, bits: unsigned(a, bits) >> min(unsigned(b, bits), bits),
    "shrsi": lambda a, b, bits: a >> min(unsigned(b, bits), bits),
}
PREDICATES: dict[str, Semantics] = {
    "eq": lambda a, b, _: a == b,
    "ne": lambda a, b, _: a != b,
    "slt": lambda a, b, _: a < b,
    "sle": lambda a, b, _: a <= b,
    "sgt": lambda a, b, _: a > b,
    "sge": lambda a, b, _: a >= b,
    "ult": on_unsigned(operator.lt),
    "ule": on_unsigned(operator.le),
    "ugt": on_unsigned(operator.gt),
    "uge": on_unsigned(operator.ge),
}
# Pairs (low, high).
EXTENDED: dict[str, Callable[[int, int, int], tuple[int, int]]] = {
    "mulsi_extended": lambda a, b, bits: (a * b, (a * b) >> bits),
    "mului_extended": lambda a, b, bits: (
        a * b,
        (unsigned(a, bits) * unsigned(b, bits)) >> bits,
    ),
}
UNARY: dict[str, Callable[[int, int], int]] = {
    "absi": lambda a, _: abs(a),
    "ctlz": lambda a, bits: bits - unsigned(a, bits).bit_length(),
    "cttz": lambda a, bits: (a & -a).bit_length() - 1 if a else bits,
    "ctpop": lambda a, bits: unsigned(a, bits).bit_count(),
}


def samples(bits: int) -> tuple[list[int], list[int]]:
    """All pairs of interesting values and some random ones, as many as fill whole vectors."""
    smallest, largest = -(1 << bits - 1), (1 << bits - 1) - 1
    edges = [smallest, smallest + 1, -bits, -7, -2, -1, 0, 1, 2, 7, bits - 1, bits, largest]
    pairs = list(itertools.product(edges, edges))
    generator = np.random.default_rng(bits)
    while len(pairs) < 256:
        a, b = generator.integers(smallest, largest, size=2, endpoint=True, dtype=np.int64)
        pairs.append((int(a), int(b) >> int(generator.integers(0, bits))))
    return [a for a, _ in pairs], [b for _, b in pairs]


SIZE = 256
assert SIZE % LANES == 0


def operations(kind: str) -> list[Elementwise]:
    """All integer operations on one type."""
    both, one = (kind, kind), (kind,)
    return [
        *(Elementwise(name, f"arith.{name} {{0}}, {{1}} : {kind}", both, one) for name in BINARY),
        *(
            Elementwise(name, f"arith.cmpi {name}, {{0}}, {{1}} : {kind}", both, ("i1",))
            for name in PREDICATES
        ),
        *(
            Elementwise(name, f"arith.{name} {{0}}, {{1}} : {kind}", both, both)
            for name in EXTENDED
        ),
        *(Elementwise(name, f"math.{name} {{0}} : {kind}", one, one) for name in UNARY),
        Elementwise("ipowi", f"math.ipowi {{0}}, {{1}} : {kind}", both, one),
        Elementwise("select", f"arith.select {{0}}, {{1}}, {{2}} : {kind}", ("i1", *both), one),
    ]


@pytest.fixture(scope="module", params=TYPES)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def code(kind: str) -> ElementwiseCode:
    return ElementwiseCode(operations(kind), SIZE)


def arrays(kind: str) -> tuple[list[int], list[int], Any, Any]:
    lefts, rights = samples(TYPES[kind])
    dtype = NUMPY_TYPES[kind]
    return lefts, rights, np.array(lefts, dtype), np.array(rights, dtype)


@pytest.mark.parametrize("name", BINARY)
def test_binary(code: ElementwiseCode, kind: str, name: str) -> None:
    bits = TYPES[kind]
    lefts, rights, a, b = arrays(kind)
    (found,) = code(name, a, b)
    expected = [wrapped(BINARY[name](x, y, bits), bits) for x, y in zip(lefts, rights, strict=True)]
    np.testing.assert_array_equal(found, np.array(expected, NUMPY_TYPES[kind]))


@pytest.mark.parametrize("name", PREDICATES)
def test_comparison(code: ElementwiseCode, kind: str, name: str) -> None:
    lefts, rights, a, b = arrays(kind)
    (found,) = code(name, a, b)
    pairs = zip(lefts, rights, strict=True)
    expected = [bool(PREDICATES[name](x, y, TYPES[kind])) for x, y in pairs]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", EXTENDED)
def test_extended(code: ElementwiseCode, kind: str, name: str) -> None:
    bits = TYPES[kind]
    lefts, rights, a, b = arrays(kind)
    found = code(name, a, b)
    pairs = [EXTENDED[name](x, y, bits) for x, y in zip(lefts, rights, strict=True)]
    for half, values in zip(found, zip(*pairs, strict=True), strict=True):
        expected = np.array([wrapped(value, bits) for value in values], NUMPY_TYPES[kind])
        np.testing.assert_array_equal(half, expected)


@pytest.mark.parametrize("name", UNARY)
def test_unary(code: ElementwiseCode, kind: str, name: str) -> None:
    bits = TYPES[kind]
    values, _, a, _ = arrays(kind)
    (found,) = code(name, a)
    expected = [wrapped(UNARY[name](x, bits), bits) for x in values]
    np.testing.assert_array_equal(found, np.array(expected, NUMPY_TYPES[kind]))


def test_integer_power(code: ElementwiseCode, kind: str) -> None:
    bits = TYPES[kind]
    lefts, rights, a, b = arrays(kind)
    (found,) = code("ipowi", a, b)

    def power(base: int, exponent: int) -> int:
        if exponent >= 0:
            return wrapped(pow(base, exponent, 1 << bits), bits)
        return base ** (exponent % 2) if base in (1, -1) else 0

    expected = [power(x, y) for x, y in zip(lefts, rights, strict=True)]
    np.testing.assert_array_equal(found, np.array(expected, NUMPY_TYPES[kind]))


def test_unsigned_sum_with_carry() -> None:
    text = """
    func.func @f(%a: i32, %b: i32) -> (i32, i1) {
      %sum, %carry = arith.addui_extended %a, %b : i32, i1
      return %sum, %carry : i32, i1
    }"""
    code = MachineCode(text)
    assert code("f", -1, 1) == (0, True)
    assert code("f", -2, 1) == (-1, False)
    assert code("f", 5, 6) == (11, False)


CONSTANTS = (-(1 << 31), -7, -1, 0, 1, 2, 7, 8, 31, 32, (1 << 31) - 1)


@pytest.mark.parametrize(
    "name", [name for name in BINARY if "div" in name or "rem" in name or "sh" in name]
)
def test_constant_right_operands(name: str) -> None:
    # These take other ways through the translation: a divisor or shift known to be harmless.
    functions = [
        f"""func.func @f{number}(%a: memref<256xi32>, %r: memref<256xi32>) {{
          %c = arith.constant {constant} : i32
          affine.for %i = 0 to 256 {{
            %x = affine.load %a[%i] : memref<256xi32>
            %y = arith.{name} %x, %c : i32
            affine.store %y, %r[%i] : memref<256xi32>
          }}
          return
        }}"""
        for number, constant in enumerate(CONSTANTS)
    ]
    code = MachineCode("\n".join(functions))
    values, _, a, _ = arrays("i32")
    for number, constant in enumerate(CONSTANTS):
        found = np.zeros(SIZE, np.int32)
        code(f"f{number}", a, found)
        expected = [wrapped(BINARY[name](x, constant, 32), 32) for x in values]
        np.testing.assert_array_equal(found, np.array(expected, np.int32), err_msg=str(constant))


@pytest.mark.parametrize("name", ["andi", "ori", "xori", "addi", "muli"])
def test_booleans(name: str) -> None:
    text = f"""
    func.func @f(%a: i1, %b: i1) -> i1 {{
      %c = arith.{name} %a, %b : i1
      return %c : i1
    }}"""
    code = MachineCode(text)
    for a, b in itertools.product((0, 1), repeat=2):
        assert code("f", a, b) == BINARY[name](a, b, 1) % 2


def test_select(code: ElementwiseCode, kind: str) -> None:
    _, _, a, b = arrays(kind)
    condition = np.random.default_rng(0).integers(0, 2, SIZE).astype(np.bool_)
    (found,) = code("select", condition, a, b)
    np.testing.assert_array_equal(found, np.where(condition, a, b))
