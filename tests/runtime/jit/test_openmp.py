"""Loading of the OpenMP runtime: how long its threads wait before they sleep."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping

import pytest

from loopwright.runtime.calling.openmp_runtime import SPINS, find_runtime


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ({}, str(SPINS)),
        ({"OMP_WAIT_POLICY": "active"}, None),
        ({"GOMP_SPINCOUNT": "7"}, "7"),
    ],
)
def test_threads_wait_for_a_short_time_unless_the_user_asks(
    monkeypatch: pytest.MonkeyPatch, asked: Mapping[str, str], seen: str | None
) -> None:
    loaded: list[str | None] = []

    def load(name: str, mode: int) -> ctypes.CDLL:
        loaded.append(os.environ.get("GOMP_SPINCOUNT"))
        raise OSError(name, mode)

    for variable in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in asked.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(ctypes, "CDLL", load)
    assert find_runtime(["GOMP_parallel"]) is None
    assert loaded
    assert set(loaded) == {seen}
    assert os.environ.get("GOMP_SPINCOUNT") == asked.get("GOMP_SPINCOUNT")
