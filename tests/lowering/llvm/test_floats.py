"""Floating-point operations against NumPy, by scalars and in vectors."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.elementwise import LANES, Elementwise, ElementwiseCode
from support.functions import FUNCTIONS
from support.machine_code import NUMPY_TYPES, MachineCode

from loopwright import load

TYPES = ("f32", "f64")
Array = np.ndarray[Any, Any]


def larger(a: Array, b: Array) -> Array:
    """IEEE maximum: NaN wins, and +0 is above -0."""
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), b, a), np.maximum(a, b))


def smaller(a: Array, b: Array) -> Array:
    return -larger(-a, -b)


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "addf": operator.add,
    "subf": operator.sub,
    "mulf": operator.mul,
    "divf": operator.truediv,
    "maximumf": larger,
    "minimumf": smaller,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
}
RELATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": operator.eq,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
    "ne": operator.ne,
}
ORDERED = {f"o{name}": relation for name, relation in RELATIONS.items()}
UNORDERED = {f"u{name}": relation for name, relation in RELATIONS.items()}
# Exact whatever the library.
UNARY: dict[str, Callable[[Array], Array]] = {
    "math.absf": np.abs,
    "math.ceil": np.ceil,
    "math.floor": np.floor,
    "math.trunc": np.trunc,
    "math.roundeven": np.rint,
    "math.sqrt": np.sqrt,
    "arith.negf": operator.neg,
    "math.round": lambda a: np.trunc(a) + np.copysign(np.abs(a - np.trunc(a)) >= 0.5, a),
}


def is_normal(a: Array) -> Array:
    return np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny)


CLASSES: dict[str, Callable[[Array], Array]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "isnormal": is_normal,
}


def operations(kind: str) -> list[Elementwise]:
    """All floating-point operations on one type."""
    one, both = (kind,), (kind, kind)
    predicates = [*ORDERED, *UNORDERED, "ord", "uno", "true", "false"]
    return [
        *(Elementwise(name, f"arith.{name} {{0}}, {{1}} : {kind}", both, one) for name in BINARY),
        *(
            Elementwise(name, f"arith.cmpf {name}, {{0}}, {{1}} : {kind}", both, ("i1",))
            for name in predicates
        ),
        *(Elementwise(name, f"{name} {{0}} : {kind}", one, one) for name in UNARY),
        *(Elementwise(name, f"math.{name} {{0}} : {kind}", one, one) for name in FUNCTIONS),
        *(
            Elementwise(name, f"math.{name} {{0}}, {{1}} : {kind}", both, one)
            for name in ("atan2", "copysign", "powf")
        ),
        *(Elementwise(name, f"math.{name} {{0}} : {kind}", one, ("i1",)) for name in CLASSES),
        Elementwise("fma", f"math.fma {{0}}, {{1}}, {{2}} : {kind}", (*both, kind), one),
        Elementwise("fpowi", f"math.fpowi {{0}}, {{1}} : {kind}, i32", (kind, "i32"), one),
        Elementwise("select", f"arith.select {{0}}, {{1}}, {{2}} : {kind}", ("i1", *both), one),
    ]


def edges(dtype: type[Any]) -> list[float]:
    """Values at which something special happens."""
    limits = np.finfo(dtype)
    positive = [0.0, 0.49999997, 0.5, 1.0, 1.5, 2.5, 3.0, 1e6 + 0.5, np.inf]
    positive += [float(x) for x in (limits.tiny, limits.smallest_subnormal, limits.max)]
    return [*positive, *(-x for x in positive), np.nan]


SIZE = 768
assert SIZE % LANES == 0


def samples(kind: str) -> tuple[Array, Array]:
    dtype = NUMPY_TYPES[kind]
    values = edges(dtype)
    pairs = np.array(list(itertools.product(values, values)), dtype)
    generator = np.random.default_rng(7)
    others = generator.normal(size=(SIZE - len(pairs), 2)) * 10.0 ** generator.integers(
        -3, 4, (SIZE - len(pairs), 1)
    )
    a, b = np.concatenate([pairs, others.astype(dtype)]).T
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


@pytest.fixture(scope="module", params=TYPES)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def code(kind: str) -> ElementwiseCode:
    return ElementwiseCode(operations(kind), SIZE)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """NumPy warns of what these tests are about: overflow, division by zero, NaN."""
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("name", BINARY)
def test_binary(code: ElementwiseCode, kind: str, name: str) -> None:
    a, b = samples(kind)
    (found,) = code(name, a, b)
    expected = BINARY[name](a, b)
    np.testing.assert_array_equal(found, expected)
    if name in ("maximumf", "minimumf"):
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize("name", [*ORDERED, *UNORDERED])
def test_comparison(code: ElementwiseCode, kind: str, name: str) -> None:
    a, b = samples(kind)
    (found,) = code(name, a, b)
    unordered = np.isnan(a) | np.isnan(b)
    holds = RELATIONS[name[1:]](a, b)
    expected = (holds | unordered) if name in UNORDERED else (holds & ~unordered)
    np.testing.assert_array_equal(found, expected)


def test_other_predicates(code: ElementwiseCode, kind: str) -> None:
    a, b = samples(kind)
    unordered = np.isnan(a) | np.isnan(b)
    np.testing.assert_array_equal(code("uno", a, b)[0], unordered)
    np.testing.assert_array_equal(code("ord", a, b)[0], ~unordered)
    assert code("true", a, b)[0].all()
    assert not code("false", a, b)[0].any()


@pytest.mark.parametrize("name", UNARY)
def test_exact_unary(code: ElementwiseCode, kind: str, name: str) -> None:
    a, _ = samples(kind)
    np.testing.assert_array_equal(code(name, a)[0], UNARY[name](a))


@pytest.mark.parametrize("name", CLASSES)
def test_class(code: ElementwiseCode, kind: str, name: str) -> None:
    a, _ = samples(kind)
    np.testing.assert_array_equal(code(name, a)[0], CLASSES[name](a))


def assert_close(found: Array, expected: Array, units: float = 4) -> None:
    """Equal up to some units in the last place of the type of `found`."""
    tolerance = units * float(np.finfo(found.dtype).eps)
    smallest = float(np.finfo(found.dtype).tiny) * units
    expected = expected.astype(found.dtype)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=smallest)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(code: ElementwiseCode, kind: str, name: str) -> None:
    a, _ = samples(kind)
    assert_close(code(name, a)[0], FUNCTIONS[name](a.astype(np.float64)))


@pytest.mark.parametrize(
    ("name", "semantics"),
    [("atan2", np.arctan2), ("copysign", np.copysign), ("powf", np.power)],
)
def test_function_of_two(
    code: ElementwiseCode, kind: str, name: str, semantics: Callable[[Array, Array], Array]
) -> None:
    a, b = samples(kind)
    assert_close(code(name, a, b)[0], semantics(a.astype(np.float64), b.astype(np.float64)))


def test_power_with_integer_exponent(code: ElementwiseCode, kind: str) -> None:
    a, _ = samples(kind)
    exponents = np.resize(np.array([-3, -2, -1, 0, 1, 2, 3, 10, 31], np.int32), SIZE)
    (found,) = code("fpowi", a, exponents)
    assert_close(found, np.power(a.astype(np.float64), exponents.astype(np.float64)))


def test_fused_multiply_add_rounds_once(code: ElementwiseCode, kind: str) -> None:
    dtype = NUMPY_TYPES[kind]
    a, b, c = np.random.default_rng(3).normal(size=(3, SIZE)).astype(dtype)
    (found,) = code("fma", a, b, c)
    exact = [
        Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        for x, y, z in zip(a, b, c, strict=True)
    ]
    # Rounding to double first and to single afterwards differs in one case of 2^29.
    np.testing.assert_array_equal(found, np.array([float(x) for x in exact]).astype(dtype))


def test_select(code: ElementwiseCode, kind: str) -> None:
    a, b = samples(kind)
    condition = np.random.default_rng(0).integers(0, 2, SIZE).astype(np.bool_)
    np.testing.assert_array_equal(code("select", condition, a, b)[0], np.where(condition, a, b))


def dot(flags: str = "") -> str:
    return f"""
    func.func @dot(%a: memref<?xf32>, %b: memref<?xf32>) -> f32 {{
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %n = memref.dim %a, %c0 : memref<?xf32>
      %sum = affine.for %i = 0 to %n iter_args(%s = %zero) -> (f32) {{
        %x = affine.load %a[%i] : memref<?xf32>
        %y = affine.load %b[%i] : memref<?xf32>
        %p = arith.mulf %x, %y {flags} : f32
        %t = arith.addf %s, %p {flags} : f32
        affine.yield %t : f32
      }}
      return %sum : f32
    }}"""


UPDATE = """
    func.func @update(%a: memref<?xf32>, %b: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %a, %c0 : memref<?xf32>
      affine.for %i = 0 to %n {
        %x = affine.load %a[%i] : memref<?xf32>
        %y = affine.load %b[%i] : memref<?xf32>
        %p = arith.mulf %x, %x : f32
        %t = arith.addf %y, %p : f32
        affine.store %t, %b[%i] : memref<?xf32>
      }
      return
    }"""


def updated(a: Array, b: Array, *, fused: bool) -> Array:
    product = a.astype(np.float64) ** 2 if fused else (a * a).astype(np.float64)
    return (b.astype(np.float64) + product).astype(np.float32)


def test_contraction_is_allowed_and_can_be_forbidden() -> None:
    a, b = np.random.default_rng(11).normal(size=(2, 999)).astype(np.float32)
    fused, separate = (updated(a, b, fused=fused) for fused in (True, False))
    assert np.any(fused != separate)
    for contract, expected in ((True, fused), (False, separate)):
        found = b.copy()
        MachineCode(UPDATE, contract=contract)("update", a, found)
        np.testing.assert_array_equal(found, expected)


def test_sums_are_reassociated_only_when_asked() -> None:
    vector_sums = [
        "vfmadd231ps" in MachineCode(dot(flags), fast_math=fast).assembly
        for flags, fast in (("", False), ("", True), ("fastmath<reassoc,contract>", False))
    ]
    assert vector_sums == [False, True, True]


def test_fast_math_keeps_nan() -> None:
    text = """
    func.func @f(%x: f64) -> i1 {
      %y = arith.addf %x, %x : f64
      %n = arith.cmpf uno, %y, %y : f64
      return %n : i1
    }"""
    code = MachineCode(text, fast_math=True)
    assert code("f", float("nan"))
    assert not code("f", 1.0)


POWERS = {
    "fpowi": "%r = math.fpowi %x, %p fastmath<afn> : f64, i32",
    "constant fpowi": "%c = arith.constant 3 : i32\n%r = math.fpowi %x, %c : f64, i32",
    "powf of an integer": "%e = arith.sitofp %p : i32 to f64\n%r = math.powf %x, %e : f64",
    # LLVM finds out that the exponent is an integer.
    "powf of an integer in memory": """
        %t = memref.alloca() : memref<1xf64>
        %e = arith.sitofp %p : i32 to f64
        affine.store %e, %t[0] : memref<1xf64>
        %f = affine.load %t[0] : memref<1xf64>
        %r = math.powf %x, %f fastmath<fast> : f64""",
    "powf of a constant": "%c = arith.constant 3.0 : f64\n%r = math.powf %x, %c : f64",
}


@pytest.mark.parametrize("schedule", [None, "vectorize{loops=i width=4}"])
@pytest.mark.parametrize("fast_math", [False, True])
@pytest.mark.parametrize("which", POWERS)
def test_powers_need_no_function_of_the_compiler(
    which: str, fast_math: bool, schedule: str | None
) -> None:
    if "memory" in which and schedule is not None:
        schedule = "expand{loops=i array=t},vectorize{loops=i width=4}"
    kernel = load(f"""
      func.func @f(%n: index, %A: memref<?xf64>, %P: memref<?xi32>, %O: memref<?xf64>) {{
        affine.for %i = 0 to %n {{
          %x = affine.load %A[%i] : memref<?xf64>
          %p = affine.load %P[%i] : memref<?xi32>
          {POWERS[which]}
          affine.store %r, %O[%i] : memref<?xf64>
        }}
        return
      }}""")["f"].compile(schedule, fast_math=fast_math)
    base = np.array([2.0, 3.0, 0.5, -1.5, 2.0, -2.0, 7.0, 1.0, 9.0])
    exponents = np.array([3, -2, 5, 7, 0, 3, -1, 31, 2], np.int32)
    found = np.zeros(len(base))
    kernel(len(base), base, exponents, found)
    np.testing.assert_allclose(found, base ** (3 if "constant" in which else exponents), rtol=1e-12)


@pytest.mark.parametrize(("taps", "keeps_order"), [(3, False), (5, False), (6, True), (25, True)])
def test_long_sums_of_products_keep_their_order_in_vectors(taps: int, keeps_order: bool) -> None:
    arguments = f"%a: memref<128xf32>, %w: memref<{taps}xf32>, %o: memref<64xf32>"
    function = load(f"""func.func @f({arguments}) {{
      affine.for %i = 0 to 64 {{ affine.for %k = 0 to {taps} {{
        %x = affine.load %a[%i + %k] : memref<128xf32>
        %y = affine.load %w[%k] : memref<{taps}xf32>
        %p = arith.mulf %x, %y : f32
        %s = affine.load %o[%i] : memref<64xf32>
        %t = arith.addf %s, %p : f32
        affine.store %t, %o[%i] : memref<64xf32> }} }} return }}""")["f"]
    schedule = "unroll{loops=k},vectorize{loops=i width=16}"
    kernel = function.compile(schedule, fast_math=True, threads=1)
    additions = [line for line in kernel.llvm_ir.splitlines() if "fadd" in line and "16 x" in line]
    assert len(additions) >= taps
    assert all(("reassoc" in line) != keeps_order for line in additions)
    a, w = np.arange(128, dtype=np.float32), np.arange(taps, dtype=np.float32)
    o = np.zeros(64, np.float32)
    kernel(a, w, o)
    np.testing.assert_array_equal(o, np.convolve(a, w[::-1], "valid")[:64])
