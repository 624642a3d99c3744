"""Constants of classes, dataclasses and lists that change behind the decoration of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import f64
from loopwright.dialects.errors import SourceError


class Step:
    dt = 2.0


@dataclass
class Field:
    g: float = 3.0


field = Field()
TABLE = [1.0, 2.0]


def annotated(n: int, x: f64["n"]) -> None:
    for i in range(n):
        x[i] = Step.dt * 100 + field.g * 10 + TABLE[1]


def opened(x: Any) -> None:
    for i in range(len(x)):
        x[i] = Step.dt * 100 + field.g * 10 + TABLE[1]


SCALE = 2.0


def scaled(value: Any) -> Any:
    return value * SCALE + Step.dt


def calling(x: Any) -> None:
    for i in range(len(x)):
        x[i] = scaled(x[i])


CHANGES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "Step.dt": lambda patch: patch.setattr(Step, "dt", 4.0),
    "field.g": lambda patch: patch.setattr(field, "g", 7.0),
    "TABLE[1]": lambda _: TABLE.__setitem__(1, 5.0),
}


@pytest.fixture(autouse=True)
def same_table() -> Iterator[None]:
    yield
    TABLE[1] = 2.0


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_where_the_kernel_is_made_for_other_types(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel: Any = loopwright.kernel(opened)
    x = np.zeros(3)
    kernel(x)
    assert (x == 232).all()
    CHANGES[name](monkeypatch)
    kernel(x)
    assert (x == 232).all(), "what it was made with"
    with pytest.raises(SourceError, match="when the kernel 'opened' was made") as error:
        kernel(np.zeros(3, np.float32))
    assert name in str(error.value)
    again: Any = loopwright.kernel(opened)
    python = np.zeros(3)
    again(x)
    opened(python)
    np.testing.assert_array_equal(x, python)


@pytest.mark.parametrize("name", CHANGES)
def test_check_refuses_a_change(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel: Any = loopwright.kernel(annotated)
    kernel.check(3, np.zeros(3))
    CHANGES[name](monkeypatch)
    with pytest.raises(SourceError, match="decorate the function again"):
        kernel.check(3, np.zeros(3))


@pytest.mark.parametrize("name", ["SCALE", "Step.dt"])
def test_a_change_is_seen_in_functions_that_are_called(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel: Any = loopwright.kernel(calling)
    x = np.ones(3)
    kernel(x)
    assert (x == 4).all()
    if name == "SCALE":
        monkeypatch.setitem(globals(), "SCALE", 5.0)
    else:
        monkeypatch.setattr(Step, "dt", 5.0)
    with pytest.raises(SourceError, match=f"'{name}' was 2.0 when the kernel 'calling' was made"):
        kernel(np.ones(3, np.float32))
