"""Code for the default schedule is kept on disk, and generated again when the compiler changes."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import loopwright
from loopwright import bf16, c64, f64, i8, prange, u8
from loopwright.dialects import parse
from loopwright.dialects.errors import SourceError
from loopwright.errors import BoundsError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.calling.derived_signature import signature_of
from loopwright.runtime.choosing import choices
from loopwright.runtime.jit import kept_code, kept_signature
from loopwright.runtime.jit.registered_functions import register_function


def product(n: int, A: f64["n", "n"], B: f64["n", "n"]):
    return A @ B


def called(n: int, **options: object) -> tuple[np.ndarray, Schedule | None]:
    """The result of a new kernel, and its schedule."""
    kernel = loopwright.kernel(product).compile(**options)
    result = kernel(n, np.eye(n), np.ones((n, n)))
    return result, kernel.schedule


def test_kept_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[object] = []
    choose = choices.default_choice

    def counting(*args: object, **options: object) -> Schedule:
        chosen.append(args)
        return choose(*args, **options)

    monkeypatch.setattr(choices, "default_choice", counting)
    first, schedule = called(129, threads=1)
    again, replayed = called(129, threads=1)
    assert len(chosen) == 1 and np.array_equal(first, again)
    assert schedule is not None and str(schedule) == str(replayed)
    for different in ({"threads": 2}, {"threads": 1, "fast_math": True}):
        called(129, **different)
    called(130, threads=1)
    assert len(chosen) == 4
    monkeypatch.setattr(kept_code, "compiler", lambda: "another one")
    called(129, threads=1)
    assert len(chosen) == 5
    monkeypatch.setenv("LOOPWRIGHT_CACHE", "off")
    called(129, threads=1)
    assert len(chosen) == 6


def test_not_kept_where_a_proof_is_asked_for() -> None:
    kernel = loopwright.kernel(product).compile(threads=1, verify=True)
    for _ in range(2):
        kernel(4, np.eye(4), np.ones((4, 4)))
    assert kernel.verdict is not None


def of_many_types(
    n: int,
    small: i8,
    large: u8,
    alpha: float,
    flags: u8["n"],
    halves: bf16["n"],
    numbers: c64["n"],
    fixed: f64[4],
    out: f64["n"],
):
    for i in range(n):
        out[i] = alpha * fixed[0] + flags[i] + small + large + halves[i] + numbers[i].real


def returning(n: int, A: f64["n"]):
    s = 0.0
    for i in range(n):
        s += A[i]
    return s, A + 1.0


@pytest.mark.parametrize("function", [product, of_many_types, returning])
def test_signatures_are_read_as_they_were_written(function: Callable[..., object]) -> None:
    plain = signature_of(loopwright.kernel(function).function.scop)
    written = json.loads(json.dumps(kept_signature.written(plain)))
    assert repr(kept_signature.read(written)) == repr(plain)
    assert kept_signature.written(kept_signature.read(written)) == kept_signature.written(plain)
    for one, other in zip(kept_signature.read(written).arguments, plain.arguments, strict=True):
        assert type(one) is type(other)
        assert {**vars(one), "_numbers": None} == {**vars(other), "_numbers": None}


@pytest.mark.parametrize("n", [5, 33])
def test_a_later_first_call_parses_nothing(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = np.arange(n, dtype=float)
    total, shifted = loopwright.kernel(returning)(n, given)
    parsed: list[object] = []
    real = parse.parse_module
    monkeypatch.setattr(parse, "parse_module", lambda *args: parsed.append(args) or real(*args))
    again = loopwright.kernel(returning)
    assert again(n, given)[0] == total == given.sum()
    assert np.array_equal(again(n, given)[1], shifted)
    assert not parsed
    # What a call does not need is there when it is asked for, and other sizes are checked.
    assert again.compile().signature.kernel == "returning"
    assert len(again.function.scop.statements) >= 2
    assert parsed


def test_a_kept_signature_is_whole() -> None:
    text = """func.func @f(%x: f64 {loopwright.complex}, %n: index,
        %A: memref<?x3xi8> {loopwright.unsigned}, %y: f64) -> (f64 {loopwright.complex}, f64) {
      return %x, %y : f64, f64
    }"""
    plain = loopwright.load(text)["f"].signature
    for signature in (plain, replace(plain, tile_sizes=("it", "jt"))):
        kept = json.loads(json.dumps(kept_signature.written(signature)))
        again = kept_signature.read(kept)
        assert replace(again, arguments=()) == replace(signature, arguments=())
        assert kept_signature.written(again) == kept_signature.written(signature)


def shifted(n: int, A: f64["n"], B: f64["m"]):
    for i in range(n):
        B[i] = A[i]


def test_kept_code_of_some_sizes_allows_no_others() -> None:
    for _ in range(2):
        kernel = loopwright.kernel(shifted)
        kernel(3, np.ones(3), np.zeros(4))
        with pytest.raises(BoundsError):
            kernel(5, np.ones(5), np.zeros(4))


def broken_promise(n: int, A: f64["n"]):
    for i in prange(1, n):
        A[i] = A[i - 1]


def kept_promise(n: int, A: f64["n"]):
    for i in range(1, n):
        A[i] = A[i - 1]


def test_promises_are_checked_each_time() -> None:
    loopwright.kernel(kept_promise)(4, np.ones(4))
    for _ in range(2):
        with pytest.raises(SourceError):
            loopwright.kernel(broken_promise)(4, np.ones(4))


def test_kept_code_calls_the_functions_of_this_process() -> None:
    text = """func.func private @kept_twice(f64) -> f64 attributes {loopwright.pure}
    func.func @f(%A: memref<4xf64>) {
      affine.for %i = 0 to 4 {
        %x = affine.load %A[%i] : memref<4xf64>
        %y = func.call @kept_twice(%x) : (f64) -> f64
        affine.store %y, %A[%i] : memref<4xf64>
      }
      return
    }"""
    with pytest.raises(SourceError, match="registered"):
        loopwright.load(text)["f"].compile()(np.ones(4))
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    for factor in (2.0, 3.0):
        function = kind(lambda x, factor=factor: x * factor)
        register_function("kept_twice", function)
        A = np.ones(4)
        loopwright.load(text)["f"].compile()(A)
        assert A[0] == factor
