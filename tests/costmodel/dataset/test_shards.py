"""Shards of labels: what was stored stays, whatever happens between two system calls."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.costmodel.dataset import files, shards, store
from loopwright.costmodel.dataset.checking import check
from loopwright.costmodel.dataset.errors import DatasetError
from loopwright.costmodel.dataset.rows import FAILED, program_instance_of, rows_of
from loopwright.costmodel.dataset.schema import SCHEMA, table_of
from loopwright.costmodel.dataset.shards import list_shards, read_rows, read_table, write_shard
from loopwright.costmodel.dataset.statistics import summarise
from loopwright.costmodel.dataset.store import (
    Writer,
    clean_up,
    known_seeds,
    merge_directories,
    merge_shards,
)
from loopwright.costmodel.labels import Label, LabelledProgram, ProgramInstance

MACHINE = '{"cpu":"test"}'


def label(schedule: str, seconds: float = 1e-3) -> Label:
    return Label(
        schedule, "tiling", "measured", seconds, 0.01, seconds, 9, 1, 2e-3, 0.0, 0.05, 1.7e9
    )


def program(seed: int, pairs: int = 3, machine: str = MACHINE) -> LabelledProgram:
    instance = ProgramInstance(
        f"func.func @program{seed}() {{}}\n", {"n": seed}, "random", seed, 1, 1
    )
    labels = tuple(label(f"tile{{loops=i sizes={n + 2}}}") for n in range(pairs))
    return LabelledProgram(seed, instance, {"n": seed}, label(""), machine, "{}", labels)


def keys(directory: Path) -> list[bytes]:
    return list(read_table(list_shards(directory).shards)["key"].to_pylist())


def fill(directory: Path, seeds: range, machine: str = MACHINE) -> None:
    with Writer(directory) as writer:
        for seed in seeds:
            writer.append(rows_of(program(seed, machine=machine)))
            writer.flush()


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows = rows_of(program(5))
    shard = write_shard(tmp_path, table_of(rows))
    back = list(read_rows(shard))
    assert [row["schedule"] for row in back] == [
        "",
        *(f"tile{{loops=i sizes={n}}}" for n in (2, 3, 4)),
    ]
    assert back[1]["seconds"] == pytest.approx(1e-3)
    assert back[0]["program"] == program(5).instance.text
    assert program_instance_of(back[0]) == program(5).instance
    assert set(back[0]) == set(SCHEMA.names)


def test_a_program_that_could_not_be_measured_is_remembered(tmp_path: Path) -> None:
    instance = program(1).instance
    with Writer(tmp_path) as writer:
        writer.append(rows_of(LabelledProgram(1, instance, {}, None, MACHINE, "{}")))
    (row,) = read_rows(list_shards(tmp_path).shards[0])
    assert row["status"] == FAILED and row["seconds"] is None
    assert known_seeds(tmp_path, MACHINE) == {("random", 1, 1, 1)}
    assert check(tmp_path).problems == ()
    assert dict(summarise(tmp_path))["labelled pairs"] == "0"


def test_known_programs_are_those_of_the_machine(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    assert known_seeds(tmp_path, MACHINE) == {("random", 0, 1, 1), ("random", 1, 1, 1)}
    assert known_seeds(tmp_path, "another") == set()
    assert len(known_seeds(tmp_path, None)) == 2
    assert known_seeds(tmp_path / "missing", MACHINE) == set()


def test_many_small_shards_are_merged(tmp_path: Path) -> None:
    fill(tmp_path, range(store.MANY + 3))
    assert len(list(tmp_path.glob("pairs-*.parquet"))) == 4
    assert len(keys(tmp_path)) == 4 * (store.MANY + 3)
    assert check(tmp_path).problems == ()


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def test_a_shard_that_is_damaged_in_both_places_is_put_aside(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    victim = sorted(tmp_path.glob("pairs-*.parquet"))[1]
    flip(victim)
    flip(tmp_path / "copies" / victim.name)
    report = check(tmp_path)
    assert len(report.problems) == 1 and victim.name in report.problems[0]
    assert report.pairs == 6
    assert len(keys(tmp_path)) == 8
    clean_up(tmp_path)
    assert not victim.exists()
    assert len(known_seeds(tmp_path, MACHINE)) == 2
    assert any("put aside" in problem for problem in check(tmp_path).problems)


def test_a_damaged_shard_is_read_from_its_copy_and_mended(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    victim = sorted(tmp_path.glob("pairs-*.parquet"))[1]
    before = victim.read_bytes()
    flip(victim)
    assert len(keys(tmp_path)) == 12
    (problem,) = check(tmp_path).problems
    assert victim.name in problem and "mends it from its copy" in problem
    clean_up(tmp_path)
    assert victim.read_bytes() == before
    assert len(keys(tmp_path)) == 12
    assert check(tmp_path).problems == ()


@pytest.mark.parametrize("place", ["shard", "copy", "both"])
def test_what_the_disk_cannot_read_is_no_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    fill(tmp_path, range(2))
    victim = sorted(tmp_path.glob("pairs-*.parquet"))[0]
    bad = {"shard": [victim], "copy": [tmp_path / "copies" / victim.name]}
    bad["both"] = [*bad["shard"], *bad["copy"]]
    read = Path.read_bytes

    def breaks(path: Path) -> bytes:
        if path in bad[place]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", breaks)
        if place == "both":
            with pytest.raises(OSError, match="Input/output error"):
                clean_up(tmp_path)
        else:
            assert len(keys(tmp_path)) == 8
            (problem,) = check(tmp_path).problems
            assert "mends it" in problem
            clean_up(tmp_path)
    assert len(keys(tmp_path)) == 8
    assert check(tmp_path).problems == ()


def test_a_shard_that_another_process_merges_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, range(2))
    gone = sorted(tmp_path.glob("pairs-*.parquet"))[0]
    read = Path.read_bytes

    def vanishes(path: Path) -> bytes:
        if path == gone:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", vanishes)
    listing = list_shards(tmp_path)
    assert len(listing.shards) == 1 and listing.damaged == listing.mendable == ()


def test_a_process_number_comes_again(tmp_path: Path) -> None:
    """What a killed process with the same number has left is no obstacle."""
    fill(tmp_path, range(1))
    (copy,) = (tmp_path / "copies").glob("*")
    copy.with_name(f"{copy.name}.{os.getpid()}.writing").touch()
    before = copy.read_bytes()
    copy.unlink()
    clean_up(tmp_path)
    assert copy.read_bytes() == before
    assert check(tmp_path).problems == ()


def test_other_files_among_the_copies_stay(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    (tmp_path / "copies" / "README").write_text("mine")
    clean_up(tmp_path)
    assert (tmp_path / "copies" / "README").exists()


@pytest.mark.parametrize("harm", ["damaged", "missing"])
def test_a_copy_is_made_again(tmp_path: Path, harm: str) -> None:
    fill(tmp_path, range(1))
    (copy,) = (tmp_path / "copies").glob("*")
    before = copy.read_bytes()
    flip(copy) if harm == "damaged" else copy.unlink()
    clean_up(tmp_path)
    assert copy.read_bytes() == before


def test_a_shard_damaged_while_merging_is_read_from_its_copy(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    before = sorted(keys(tmp_path))
    found = list_shards(tmp_path).shards
    flip(found[0].path)
    merge_shards(tmp_path, found)
    assert sorted(keys(tmp_path)) == before
    assert check(tmp_path).problems == ()


def test_a_deleted_shard_does_not_come_back(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    victim = sorted(tmp_path.glob("pairs-*.parquet"))[0]
    victim.unlink()
    assert len(keys(tmp_path)) == 4
    clean_up(tmp_path)
    assert [path.name for path in (tmp_path / "copies").iterdir()] == [
        path.name for path in tmp_path.glob("pairs-*.parquet")
    ]


def test_a_truncated_shard_is_found(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    for victim in tmp_path.rglob("pairs-*.parquet"):
        victim.write_bytes(victim.read_bytes()[:-10])
    assert list_shards(tmp_path).shards == ()
    assert len(list_shards(tmp_path).damaged) == 1


def test_another_schema_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, range(1))
    monkeypatch.setattr(shards, "SCHEMA_VERSION", 99)
    (path,) = tmp_path.glob("pairs-*.parquet")
    with pytest.raises(DatasetError, match="schema version 1"):
        shards.open_shard(path)


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(tmp_path)
    writer.append(rows_of(program(1)))
    writer.flush()
    writer.append(rows_of(program(2)))

    calls = 0

    def full(_descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 2:  # the copy is there
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            writer.flush()
    assert len(keys(tmp_path)) == 4
    assert not list(tmp_path.rglob("*.writing"))
    assert len(list((tmp_path / "copies").iterdir())) == 1
    writer.flush()
    assert len(keys(tmp_path)) == 8


def test_killed_while_merging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The merged shard is there, and so are those that it replaces: nothing counts twice."""
    fill(tmp_path, range(5))
    before = sorted(keys(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        merge_shards(tmp_path, list_shards(tmp_path).shards)
    assert len(list(tmp_path.glob("pairs-*.parquet"))) == 6
    assert sorted(keys(tmp_path)) == before
    assert len(check(tmp_path).problems) == 5
    clean_up(tmp_path)
    assert len(list(tmp_path.glob("pairs-*.parquet"))) == 1
    assert sorted(keys(tmp_path)) == before


def test_killed_between_two_merged_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a part of what was merged is there: it is there twice, and is read once."""
    fill(tmp_path, range(5))
    before = sorted(keys(tmp_path))
    monkeypatch.setattr(store, "MERGED_ROWS", 8)
    calls = 0

    def dies(*arguments: object) -> shards.Shard:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return write_shard(*arguments)  # pyright: ignore[reportArgumentType]

    with monkeypatch.context() as patch:
        patch.setattr(store, "write_shard", dies)
        with pytest.raises(KeyboardInterrupt):
            merge_shards(tmp_path, list_shards(tmp_path).shards)
    assert sorted(keys(tmp_path)) == before
    merge_shards(tmp_path, list_shards(tmp_path).shards)
    assert sorted(keys(tmp_path)) == before
    assert check(tmp_path).problems == ()


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_shards import program, rows_of, Writer
with Writer(Path({directory!r})) as writer:
    for seed in range(10_000):
        writer.append(rows_of(program(seed)))
        writer.flush()
        print(seed, flush=True)
"""


def test_killed_while_writing(tmp_path: Path) -> None:
    """After `kill -9` all that was said to be safe is there."""
    safe = -1
    for round_ in range(3):
        code = KILLED.format(tests=str(Path(__file__).parent), directory=str(tmp_path))
        with subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ) as process:
            assert process.stdout is not None
            for _ in range(9 + 7 * round_):
                safe = max(safe, int(process.stdout.readline()))
            process.kill()
        seeds = {seed for _, seed, _, _ in known_seeds(tmp_path, MACHINE)}
        assert set(range(safe + 1)) <= seeds
    clean_up(tmp_path)
    found = keys(tmp_path)
    assert len(found) == len(set(found))


LOCKED = """
import sys
from pathlib import Path
from loopwright.costmodel.dataset.store import Writer
with Writer(Path({directory!r})):
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_one_process_at_a_time_adds(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LOCKED.format(directory=str(tmp_path))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(DatasetError, match="another process adds to"):
            Writer(tmp_path)
        process.kill()
    fill(tmp_path, range(1))
    assert len(keys(tmp_path)) == 4


def test_merging_directories(tmp_path: Path) -> None:
    one, two, target = tmp_path / "one", tmp_path / "two", tmp_path / "all"
    fill(one, range(3))
    fill(two, range(2, 5))
    fill(two, range(1), machine="another")
    assert merge_directories([one, two], target) == (24, 4)
    assert merge_directories([one], target) == (24, 12)
    assert dict(summarise(target))["machines"] == "2"
    assert dict(summarise(target))["labelled pairs"] == "18"
    assert len(keys(one)) == 12
    assert merge_directories([one, two], one) == (24, 4)


def test_a_directory_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="not a directory"):
        list_shards(tmp_path / "missing")
