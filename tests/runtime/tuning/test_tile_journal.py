"""The journal of measured tile sizes goes on after kills, damage, and writes by others."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from loopwright.runtime.tuning.tile_journal import Journal

SIZES = {"Ti": 8, "Tj": 32}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOOPWRIGHT_TUNING", str(tmp_path / "tuning.sqlite"))
    return tmp_path / "tiles"


def opened() -> Journal:
    return Journal.open("question", keep=True)


def file_of(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_measurements_are_found_again(folder: Path) -> None:
    journal = opened()
    journal.put(SIZES, 0.5)
    journal.put({"Ti": 1, "Tj": 1}, inf)
    assert opened().known == journal.known
    journal.close()
    assert not any(folder.iterdir())


def test_a_line_that_is_cut_off_costs_itself_alone(folder: Path) -> None:
    opened().put(SIZES, 0.5)
    with file_of(folder).open("a") as file:
        file.write('{"sizes": {"Ti": 4')
    opened().put({"Ti": 4, "Tj": 4}, 0.25)
    with pytest.warns(RuntimeWarning, match="1 lines are damaged"):
        found = opened()
    assert [found.get(SIZES), found.get({"Ti": 4, "Tj": 4})] == [0.5, 0.25]


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe\x00",
        b"[]",
        b"7",
        b'{"sizes": 7, "seconds": 1.0}',
        b'{"sizes": {"Ti": "8"}, "seconds": 1.0}',
        b'{"sizes": {"Ti": 8}, "seconds": "1.0"}',
        b'{"sizes": {"Ti": 8}, "seconds": NaN}',
        b'{"sizes": {"Ti": 8}, "seconds": -1.0}',
        b"[" * 10**5,
    ],
)
def test_what_no_journal_says_is_left_out(folder: Path, line: bytes) -> None:
    opened().put(SIZES, 0.5)
    path = file_of(folder)
    path.write_bytes(line + b"\n" + path.read_bytes())
    with pytest.warns(RuntimeWarning, match=r"not used \(in part: 1 lines are damaged\)"):
        assert opened().known == {'{"Ti": 8, "Tj": 32}': 0.5}


def test_a_folder_in_its_place_is_told(folder: Path) -> None:
    opened().put(SIZES, 0.5)
    path = file_of(folder)
    path.unlink()
    path.mkdir()
    with pytest.warns(RuntimeWarning, match="not used .*: these sizes are measured again"):
        journal = opened()
    with pytest.warns(RuntimeWarning, match="cannot go on after an interruption"):
        journal.put(SIZES, 0.5)
    journal.close()
