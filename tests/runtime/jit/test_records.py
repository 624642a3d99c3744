"""Records on disk: what is stored comes back, and nothing that a file says is executed."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from loopwright.support import records
from loopwright.support.owned_files import read_owned


class Pair(NamedTuple):
    first: Any
    second: Any


made: list[str] = []


@dataclass(frozen=True)
class Record:
    """One whose construction has an effect."""

    name: str
    values: Any = field(compare=False)

    def __post_init__(self) -> None:
        made.append(self.name)


def again(value: object) -> Any:
    return records.from_bytes(records.to_bytes(value))


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, -3, 2**80, 1.5, float("inf"), "text\n\x00é", b"\x00\xff"),
        *((), (1, (2, [3, "x"])), [None], {1: "a", (2, 3): {}}, {1, 2}, frozenset({(1, 2)})),
        Pair(1, Pair([2], ())),
    ],
)
def test_plain_values(value: object) -> None:
    found = again(value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.float16).reshape(3, 4).T,
        np.zeros((0, 3), bool),
        np.array(2.5),
        np.array([1 + 2j]),
        np.arange(3, dtype=">i4"),
    ],
)
def test_arrays(array: np.ndarray[Any, Any]) -> None:
    found = again((array,))[0]
    assert found.dtype == array.dtype
    assert found.flags.writeable
    np.testing.assert_array_equal(found, array)
    assert type(again(np.float32(0.5))) is np.float32


def test_what_is_shared_is_shared_again() -> None:
    array = np.zeros(1000)
    found = again([Pair(array, 1), Pair(array, 2)])
    assert found[0].first is found[1].first
    assert len(records.to_bytes([array] * 50)) < 2 * array.nbytes


def test_records_are_filled_and_not_constructed() -> None:
    record = Record("one", (1, 2))
    made.clear()
    found = again(record)
    assert found == record
    assert found.values == (1, 2)
    assert not made


@pytest.mark.parametrize("value", [object(), print, np.array([object()]), Path()])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(records.NotPlainError):
        records.to_bytes({1: [value]})


class Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return made.append, ("trap",)


def test_nothing_is_executed_and_no_other_class_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made.clear()
    with pytest.raises(records.DamagedError):
        records.from_bytes(pickle.dumps(Trap()))
    nodes: list[list[Any]] = [
        ["dataclass", "os", "_Environ", [], []],
        ["dataclass", "subprocess", "Popen", [], []],
        ["tuple of fields", "builtins", "tuple", [], []],
        ["dataclass", "not_loaded_yet", "Class", [], []],
        ["dataclass", __name__, "made.append", [], []],
        ["array", "|O", [1], 0, 8],
        ["array", "<f8", [2], 0, 8],
        ["array", "<f8", [1], -8, 8],
        ["tuple", [0]],
        ["tuple", [-1]],
        ["eval", "1"],
        ["value"],
    ]
    for node in nodes:
        monkeypatch.setattr(records._Writer, "_node", lambda *_, node=node: node)  # pyright: ignore
        contents = records.to_bytes(None)
        with pytest.raises(records.DamagedError):
            records.from_bytes(contents)
    assert not made


def test_damage_is_found_at_every_byte() -> None:
    contents = records.to_bytes((1.5, "text", np.arange(3)))
    for position in range(len(contents)):
        with pytest.raises(records.DamagedError):
            records.from_bytes(contents[:position])
        flipped = bytes([contents[position] ^ 1])
        with pytest.raises(records.DamagedError):
            records.from_bytes(contents[:position] + flipped + contents[position + 1 :])


def test_machine_code_of_others_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "code"
    path.write_bytes(b"code")
    path.chmod(0o644)
    assert read_owned(path) == b"code"
    (tmp_path / "link").symlink_to(path)
    for mode in (0o664, 0o646):
        path.chmod(mode)
        with pytest.raises(PermissionError):
            read_owned(path)
    path.chmod(0o600)
    with pytest.raises(OSError, match="link"):
        read_owned(tmp_path / "link")
    with pytest.raises(OSError, match="directory"):
        read_owned(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="others"):
        read_owned(tmp_path / "fifo")
