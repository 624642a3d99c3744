"""Code for the default schedule is kept on disk, and generated again when the compiler changes."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright import f64
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime import program
from loopwright.runtime.jit import kept_code


def product(n: int, A: f64["n", "n"], B: f64["n", "n"]):
    return A @ B


def called(n: int, **options: object) -> tuple[np.ndarray, Schedule | None]:
    """The result of a new kernel, and its schedule."""
    kernel = loopwright.kernel(product).compile(**options)
    result = kernel(n, np.eye(n), np.ones((n, n)))
    return result, kernel.schedule


def test_kept_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[object] = []
    choose = program.default_choice

    def counting(*args: object, **options: object) -> Schedule:
        chosen.append(args)
        return choose(*args, **options)

    monkeypatch.setattr(program, "default_choice", counting)
    first, schedule = called(129, threads=1)
    again, replayed = called(129, threads=1)
    assert len(chosen) == 1 and np.array_equal(first, again)
    assert schedule is not None and str(schedule) == str(replayed)
    for different in ({"threads": 2}, {"threads": 1, "fast_math": True}):
        called(129, **different)
    called(130, threads=1)
    assert len(chosen) == 4
    monkeypatch.setattr(kept_code, "_compiler", lambda: "another one")
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
