"""f16 and bf16: conversions, rounding after each operation, arguments and results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.errors import ArgumentTypeError, ArgumentValueError
from loopwright.passes.machine.target import Target
from loopwright.runtime.calling.elements import BFLOAT16, ELEMENTS, numbers, stored

CONVERT = """
func.func @f(%A: memref<?x{source}>, %B: memref<?x{target}>) {{
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?x{source}>
  affine.for %i = 0 to %n {{
    %x = affine.load %A[%i] : memref<?x{source}>
    %y = arith.{operation} %x : {source} to {target}
    affine.store %y, %B[%i] : memref<?x{target}>
  }}
  return
}}
"""

TYPES = {"f16": np.dtype("f2"), "bf16": BFLOAT16, "f32": np.dtype("f4"), "f64": np.dtype("f8")}


def targets() -> list[Target]:
    """With and without instructions that convert f16."""
    host = Target.host()
    return [host, replace(host, features=host.features - {"f16c", "asimd"})]


def edges(kind: str) -> np.ndarray[Any, Any]:
    """Numbers next to those at which the rounding to a narrow type changes."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    wide = numbers(bits.view(TYPES[kind])).astype("f4")
    wide = wide[np.isfinite(wide)]
    wide = np.sort(wide)
    middles = ((wide[1:].astype("f8") + wide[:-1]) / 2).astype("f4")
    near = [np.nextafter(middles, np.float32(side)) for side in (np.inf, -np.inf)]
    special = np.array([np.inf, -np.inf, np.nan, 65520, 65519.996, 1e9, 1e-30, -0.0], "f4")
    return np.concatenate([wide, middles, *near, special])


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether bits are equal, but for those of NaN."""
    nan = np.isnan(numbers(other))
    bits = np.dtype(f"u{one.itemsize}")
    return bool(
        np.array_equal(np.isnan(numbers(one)), nan)
        and np.array_equal(one.view(bits)[~nan], other.view(bits)[~nan])
    )


@pytest.mark.parametrize("schedule", [None, "vectorize{loops=i}"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_extensions(kind: str, schedule: str | None) -> None:
    given = np.arange(1 << 16, dtype=np.uint16).view(TYPES[kind])
    for target in targets():
        for wide in ("f32", "f64"):
            text = CONVERT.format(source=kind, target=wide, operation="extf")
            found = np.zeros(1 << 16, TYPES[wide])
            loopwright.load(text)["f"].compile(schedule, target=target)(given, found)
            assert same(found, numbers(given).astype(TYPES[wide]))


@pytest.mark.parametrize("schedule", [None, "vectorize{loops=i}"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_truncations(kind: str, schedule: str | None) -> None:
    single = edges(kind)
    double = np.concatenate(
        [np.nextafter(single.astype("f8"), side) for side in (np.inf, -np.inf)] + [single]
    )
    torch = pytest.importorskip("torch")
    for target in targets():
        for given in (single, double):
            source = f"f{8 * given.itemsize}"
            text = CONVERT.format(source=source, target=kind, operation="truncf")
            found = np.zeros(given.shape, TYPES[kind])
            loopwright.load(text)["f"].compile(schedule, target=target)(given, found)
            assert same(found, stored(given, TYPES[kind]))
            if kind == "f16":
                with np.errstate(over="ignore"):
                    assert same(found, given.astype("f2"))
            elif source == "f32":
                theirs = torch.from_numpy(given).to(torch.bfloat16).view(torch.int16).numpy()
                assert same(found, theirs.view(BFLOAT16))


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("integer", ["i8", "i32", "i64"])
def test_integers(kind: str, integer: str) -> None:
    info = np.iinfo(f"i{int(integer[1:]) // 8}")
    given = np.array([info.min, info.max, 0, 1, -77, 100, 127], info.dtype)
    if integer != "i8":  # next to what is between two numbers
        middles = [2048 + 1, 4096 + 2, 4096 + 6, 257, 259, 513, 0x1010000, 0x1010001, 0x100FFFF]
        given = np.concatenate([given, np.array(middles, info.dtype)])
    text = CONVERT.format(source=integer, target=kind, operation="sitofp")
    found = np.zeros(given.shape, TYPES[kind])
    loopwright.load(text)["f"].compile("vectorize{loops=i}")(given, found)
    with np.errstate(over="ignore"):
        assert same(found, stored(given.astype("f8"), TYPES[kind]))
    back = np.zeros(given.shape, info.dtype)
    fitting = np.array([-3.5, 2.0, 7.75, 100.0], "f8")
    text = CONVERT.format(source=kind, target=integer, operation="fptosi")
    back = np.zeros(4, info.dtype)
    loopwright.load(text)["f"].compile(None)(stored(fitting, TYPES[kind]), back)
    assert back.tolist() == [-3, 2, 7, 100]


ARITHMETIC = """
func.func @f(%a: {t}, %A: memref<?x{t}>, %B: memref<?x{t}>) -> {t} {{
  %c0 = arith.constant 0 : index
  %n = memref.dim %A, %c0 : memref<?x{t}>
  %zero = arith.constant 0.0 : {t}
  %c = arith.constant 1.1 : {t}
  %sum = affine.for %i = 0 to %n iter_args(%s = %zero) -> ({t}) {{
    %x = affine.load %A[%i] : memref<?x{t}>
    %y = affine.load %B[%i] : memref<?x{t}>
    %p = arith.mulf %x, %a : {t}
    %q = arith.addf %p, %y : {t}
    %r = arith.divf %q, %c : {t}
    %less = arith.cmpf olt, %r, %y : {t}
    %chosen = arith.select %less, %r, %y : {t}
    %root = math.sqrt %chosen : {t}
    affine.store %root, %A[%i] : memref<?x{t}>
    %t = arith.addf %s, %root : {t}
    affine.yield %t : {t}
  }}
  return %sum : {t}
}}
"""


def reference(kind: str, a: float, one: Any, two: Any) -> tuple[Any, float]:
    """What f32 computes, rounded after each operation."""

    def near(values: Any) -> Any:
        return numbers(stored(np.asarray(values), TYPES[kind])).astype("f4")

    x, y = numbers(one).astype("f4"), numbers(two).astype("f4")
    r = near(near(near(x * near(a)) + y) / near(1.1))
    root = near(np.sqrt(np.where(r < y, r, y)))
    total = np.float32(0)
    for each in root:
        total = near(total + each)
    return stored(root, TYPES[kind]), float(total)


@pytest.mark.parametrize("schedule", [None, "default", "affine-schedule"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_every_operation_rounds(kind: str, schedule: str | None) -> None:
    random = np.random.default_rng(1)
    for n in (1, 7, 203):
        one, two = (stored(random.random(n), TYPES[kind]) for _ in range(2))
        expected, total = reference(kind, 1.3, one, two)
        given = one.copy()
        kernel = loopwright.load(ARITHMETIC.format(t=kind))["f"].compile(schedule)
        assert kernel(1.3, given, two) == total
        assert same(given, expected)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_fast_math_keeps_more_digits(kind: str) -> None:
    random = np.random.default_rng(2)
    one, two = (stored(random.random(50), TYPES[kind]) for _ in range(2))
    expected, total = reference(kind, 1.3, one, two)
    epsilon = {"f16": 2.0**-10, "bf16": 2.0**-7}[kind]
    kernel = loopwright.load(ARITHMETIC.format(t=kind))["f"].compile(fast_math=True)
    assert abs(kernel(1.3, one, two) - total) < 50 * epsilon * total
    assert np.allclose(numbers(one), numbers(expected), rtol=4 * epsilon)


def test_parallel_reductions_and_opaque_regions() -> None:
    text = """
func.func @f(%J: memref<8xi32>, %A: memref<8xf16>, %B: memref<8xf16>) -> f16 {
  %m = affine.parallel (%i) = (0) to (8) reduce ("maximumf") -> (f16) {
    %x = affine.load %A[%i] : memref<8xf16>
    affine.yield %x : f16
  }
  affine.for %i = 0 to 8 {
    %j = affine.load %J[%i] : memref<8xi32>
    %k = arith.index_cast %j : i32 to index
    %x = memref.load %B[%k] : memref<8xf16>
    %y = arith.addf %x, %m : f16
    memref.store %y, %B[%k] : memref<8xf16>
  }
  return %m : f16
}
"""
    j = np.array([1, 1, 0, 7, 1, 2, 3, 3], "i4")
    a, b = np.linspace(-2, 2.25, 8).astype("f2"), np.full(8, 0.1, "f2")
    expected = b.copy()
    for each in j:
        expected[each] += a.max()
    for schedule in (None, "default"):
        found = b.copy()
        assert loopwright.load(text)["f"].compile(schedule)(j, a, found) == a.max()
        assert np.array_equal(found, expected)


REDUCTION = """
func.func @f(%n: index, %A: memref<?x{t}>) -> {t} {{
  %m = affine.parallel (%i) = (0) to (%n) reduce ("{kind}") -> ({t}) {{
    %x = affine.load %A[%i] : memref<?x{t}>
    affine.yield %x : {t}
  }}
  return %m : {t}
}}
"""


@pytest.mark.parametrize("kind", ["addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"])
@pytest.mark.parametrize("t", ["f16", "bf16", "f32", "f64"])
def test_parallel_reductions(t: str, kind: str) -> None:
    """As written and scheduled, of nothing and of negative zeros too: the same bits."""
    function = loopwright.load(REDUCTION.format(t=t, kind=kind))["f"]
    plain, scheduled = function.compile(), function.compile("strip-mine{loops=i size=3}")
    numbers = np.random.default_rng(3).normal(0, 1, 11)
    for values in (np.array([]), np.full(2, -0.0), numbers):
        narrow = t in ("f16", "bf16")
        given = stored(values, TYPES[t]) if narrow else values.astype({"f32": "f4", "f64": "f8"}[t])
        one, other = plain(len(given), given), scheduled(len(given), given)
        assert np.float64(one).tobytes() == np.float64(other).tobytes() or one != one != other


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    kernel = loopwright.load(ARITHMETIC.format(t="bf16"))["f"].compile()
    one, two = torch.rand(33).to(torch.bfloat16), torch.rand(33).to(torch.bfloat16)
    bits = [each.view(torch.int16).numpy().view(BFLOAT16).copy() for each in (one, two)]
    expected, total = reference("bf16", 0.5, *bits)
    assert kernel(0.5, one, two) == total
    assert same(one.view(torch.int16).numpy().view(BFLOAT16), expected)


def test_refused_arguments() -> None:
    kernel = loopwright.load(ARITHMETIC.format(t="bf16"))["f"].compile()
    wrong = np.zeros(4, "f4")
    with pytest.raises(ArgumentTypeError, match=r"expected elements of type bfloat16, got float32"):
        kernel(1.0, wrong, wrong.copy())
    with pytest.raises(ArgumentTypeError, match=r"loopwright\.bfloat16"):
        kernel(1.0, np.zeros(4, "u2"), np.zeros(4, "u2"))
    half = loopwright.load(ARITHMETIC.format(t="f16"))["f"].compile()
    with pytest.raises(ArgumentValueError, match=r"70000\.0 does not fit into f16"):
        half(70000.0, np.zeros(4, "f2"), np.zeros(4, "f2"))


def test_results_in_bits() -> None:
    assert ELEMENTS["bf16"].to_python(0x40C0) == 6.0
    assert ELEMENTS["f16"].to_python(0xFC00) == -np.inf
    assert ELEMENTS["f32"].to_python(1.5) == 1.5 and ELEMENTS["i1"].to_python(3) is True
