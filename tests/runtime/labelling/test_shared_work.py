"""Work that is shared through a folder: claims, leases, workers that are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import shared_worker

import loopwright
from loopwright.support.checked_lines import append_line
from loopwright.support.shared_work import (
    ATTEMPTS,
    SharedWork,
    SharedWorkError,
    progress,
    results,
)

ITEMS, WORKERS, KILLS = 800, 8, 16


def start(folder: Path) -> subprocess.Popen[bytes]:
    arguments = [str(folder), str(ITEMS), "1.5", "0.01"]
    environment = {**os.environ, "PYTHONPATH": str(Path(loopwright.__file__).parents[1])}
    return subprocess.Popen([sys.executable, shared_worker.__file__, *arguments], env=environment)


def test_nothing_is_lost_when_workers_are_killed(tmp_path: Path) -> None:
    """Eight workers, killed at random and started again; all items are done, hardly any twice."""
    chance = random.Random(0)
    workers = [start(tmp_path) for _ in range(WORKERS)]
    try:
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.02, 0.2))
            position = chance.randrange(WORKERS)
            workers[position].send_signal(signal.SIGKILL)
            workers[position].wait()
            workers[position] = start(tmp_path)
        assert [worker.wait(timeout=100) for worker in workers] == [0] * WORKERS
    finally:
        for worker in workers:
            worker.kill()
    assert dict(results(tmp_path)) == {item: item * item for item in range(ITEMS)}
    found = progress(tmp_path)
    assert (found.done, found.given_up) == (ITEMS, 0)
    assert found.twice <= ITEMS // 100


def grow_old(folder: Path) -> None:
    """Lets all claims look as if nobody had touched them for an hour."""
    for path in (folder / "claims").glob("*/*"):
        os.utime(path, (time.time() - 3600,) * 2)


def test_a_batch_belongs_to_one_worker_until_its_lease_ends(tmp_path: Path) -> None:
    with SharedWork(tmp_path, "", 16) as first, SharedWork(tmp_path, "", 16) as second:
        mine = list(first.items())
        assert sorted(mine) == list(range(16))
        assert list(second.items()) == []
        first.record(3, "three")
        grow_old(tmp_path)
        assert sorted(second.items()) == [item for item in range(16) if item != 3]


def test_the_last_line_of_a_killed_worker_does_not_count(tmp_path: Path) -> None:
    with SharedWork(tmp_path, "", 8) as first:
        next(first.items())
        first.record(0, "whole")
        first.record(1, "cut")
    (journal,) = (tmp_path / "journals").iterdir()
    journal.write_bytes(journal.read_bytes()[:-4])
    grow_old(tmp_path)
    with SharedWork(tmp_path, "", 8) as second:
        assert list(second.items()) == list(range(1, 8))
    assert dict(results(tmp_path)) == {0: "whole"}


def test_what_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    for _ in range(ATTEMPTS):
        with SharedWork(tmp_path, "", 3) as work:
            assert list(work.items()) == [0, 1, 2]
        grow_old(tmp_path)
    with SharedWork(tmp_path, "", 3) as work:
        assert list(work.items()) == []
        assert not work.wait()
    assert progress(tmp_path).given_up == 1


def test_other_work_is_refused(tmp_path: Path) -> None:
    SharedWork(tmp_path, "these", 3)
    SharedWork(tmp_path, "these", 3)
    with pytest.raises(SharedWorkError, match="items is 3 there, and 4 here; name another folder"):
        SharedWork(tmp_path, "these", 4)
    with pytest.raises(SharedWorkError, match="description is 'these' there, and 'those' here"):
        SharedWork(tmp_path, "those", 3)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff"])
def test_a_damaged_description_is_told(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "work.json").write_bytes(content)
    with pytest.raises(SharedWorkError, match=r"work\.json does not say what the work is; name"):
        SharedWork(tmp_path, "these", 3)


def test_files_of_the_file_system_are_no_claims(tmp_path: Path) -> None:
    with SharedWork(tmp_path, "", 3) as work:
        next(work.items())
        (tmp_path / "claims" / "00000" / ".nfs000000000001").touch()
        assert list(work.items()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_is_told_with_the_file() -> None:
    told = pytest.raises(OSError, match="No space left on device: '/dev/full'")
    with Path("/dev/full").open("ab", buffering=0) as file, told:
        append_line(file, b"text")
