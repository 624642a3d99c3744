"""Messages of child processes: nothing that they name is called, and what cannot be is refused."""

from __future__ import annotations

import math
import pickle
import random
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import loopwright
from loopwright.costmodel.labels import ProgramInstance
from loopwright.runtime.calling.signature import Sizes
from loopwright.runtime.labelling.messages import Measurement, Opened
from loopwright.runtime.measuring.candidate_code import ObjectCode
from loopwright.runtime.measuring.received_messages import MessageError, read_message
from loopwright.runtime.tuning.trial_messages import Outcome

CODE = ObjectCode(b"code", ("f",), False)


def opened() -> Opened:
    function = loopwright.load("func.func @f(%n: index, %A: memref<?xf32>) { return }")["f"]
    instance = ProgramInstance("text", {"n": 3}, "random")
    sizes = Sizes({1: (3,)}, {0: 3})
    return Opened(1, instance, sizes, {"n": 3}, function.signature, CODE, 0.1)


def messages() -> list[Any]:
    return [
        None,
        ("ok", [1, 2.5, "text", b"bytes", {"a": (True, None)}]),
        Outcome(0.1, "wrong"),
        Measurement((0.1, np.float64(0.2)), False, math.inf, 3.0),
        opened(),
    ]


@pytest.mark.parametrize("number", range(len(messages())))
def test_messages_arrive(number: int) -> None:
    message = messages()[number]
    assert repr(read_message(pickle.dumps(message), type(message))) == repr(message)


def test_arrays_arrive() -> None:
    for array in (np.arange(6.0).reshape(2, 3), np.ones(3, np.int8), np.zeros((0, 2), np.bool_)):
        (found, part) = cast(Any, read_message(pickle.dumps((array, array[..., 0]))))
        assert np.array_equal(found, array) and found.dtype == array.dtype
        assert np.array_equal(part, array[..., 0])


class Evil:
    """Unpickling one calls something."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_nothing_is_called(tmp_path: Path) -> None:
    path = tmp_path / "called"
    for message in (Evil(path), [Evil(path)], Outcome(Evil(path))):  # pyright: ignore[reportArgumentType]
        with pytest.raises(MessageError, match="names"):
            read_message(pickle.dumps(message))
    assert not path.exists()


def test_modules_are_not_imported() -> None:
    with pytest.raises(MessageError, match="antigravity"):
        read_message(b"cantigravity\nfly\n.")


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (Outcome(-1.0), Outcome),
        (Outcome(math.inf), Outcome),
        (Outcome(math.nan), Outcome),
        (Outcome("1"), Outcome),  # pyright: ignore[reportArgumentType]
        (Outcome(1.0, b""), Outcome),  # pyright: ignore[reportArgumentType]
        (1.0, Outcome),
        (None, Outcome),
        (Measurement((), False, 0.0, 1.0), Measurement | None),
        (Measurement((0.0,), False, 0.0, 1.0), Measurement | None),
        (Measurement([0.1], False, 0.0, 1.0), Measurement | None),  # pyright: ignore[reportArgumentType]
        (Measurement((0.1,), False, 0.0, 1.0, {"a": "b"}), Measurement),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_cannot_be_is_refused(message: object, kind: Any) -> None:
    with pytest.raises(MessageError, match="a child process sends"):
        read_message(pickle.dumps(message), kind)


def test_damaged_messages_are_refused() -> None:
    source = random.Random(0)
    whole = pickle.dumps(opened())
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(source.randint(1, 4)):
            data[source.randrange(len(data))] = source.randrange(256)
        try:
            read_message(bytes(data[: source.randint(1, len(data))]), Opened)
        except MessageError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 200
