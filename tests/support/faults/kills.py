"""kill -9 at random moments: what was acknowledged is there, and the next start works."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

from loopwright.runtime.jit.cache import ObjectCache, cache_key

from .processes import Home, interrupted, run

TUNE = ["tune", "polybench/gemm", "--size", "MINI", "--threads", "1", "--budget", "2s"]
GENERATE = [
    *("data", "generate", "--seed", "11", "--schedules", "2,4", "--workers", "1"),
    *("-o", "labels", "--programs"),
]

LONGEST = 8.0
"""Seconds until the last kill: a command has ended by then, or is in the middle of its work."""


def kills_of_tune(home: Home, random: Random, times: int) -> Iterator[str]:
    """The tuning database keeps every entry."""
    database = home.folder / ".local/share/loopwright/tuning.sqlite"
    known = 0
    for _ in range(times):
        end = interrupted(home, TUNE, signal.SIGKILL, random.uniform(0.2, LONGEST))
        yield from end.problems([-signal.SIGKILL, 0])
        count = _entries(database)
        if count < known:
            yield f"{known - count} entries lost"
        known = count
    yield from run(home, TUNE).problems([0])
    if not _entries(database):
        yield "the last start has stored nothing"


def _entries(database: Path) -> int:
    """The entries of a database that is not damaged; -1 where it is."""
    if not database.exists():
        return 0
    try:
        with closing(sqlite3.connect(database)) as connection:
            ((sound,),) = connection.execute("PRAGMA integrity_check").fetchall()
            tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
            if sound != "ok":
                return -1
            if not tables:
                return 0
            return connection.execute("SELECT COUNT(*) FROM schedules").fetchone()[0]
    except sqlite3.Error:
        return -1


def kills_of_generate(home: Home, random: Random, times: int) -> Iterator[str]:
    """The labels of a program that is stored stay, and no program is stored twice."""
    from loopwright.costmodel.dataset.store import known_seeds

    labels = home.folder / "labels"
    known: set[tuple[str, int, int, int]] = set()
    for _ in range(times):
        command = [*GENERATE, "500"]
        end = interrupted(home, command, signal.SIGKILL, random.uniform(0.2, 3 * LONGEST))
        yield from end.problems([-signal.SIGKILL])
        found = known_seeds(labels, None)
        if known - found:
            yield f"{len(known - found)} programs lost"
        known = found
    yield from run(home, [*GENERATE, str(len(known) + 1)]).problems([0])
    if len(known_seeds(labels, None)) != len(known) + 1:
        yield "the next start does not go on"
    yield from run(home, ["data", "check", "labels"]).problems([0])


_WRITES = """
import itertools, sys
from support.faults.kills import writer
write = writer({what!r}, {folder!r})
for number in itertools.count({start}):
    write(number)
    print(number, flush=True)
"""


def writer(what: str, folder: str) -> Callable[[int], object]:
    """Writes entries by number to a database or a cache."""
    from loopwright.runtime.choosing.database import Question, Tuned, TuningDatabase

    if what == "cache":
        cache = ObjectCache(Path(folder) / what)
        return lambda number: cache.put(cache_key(str(number)), _payload(number))
    database = TuningDatabase(Path(folder) / "tuning.sqlite")

    def put(number: int) -> None:
        question = Question("program", "f", {"n": number}, "machine", 1, False)
        if not database.put(question, Tuned(f"unroll{{loops=i factor={number + 1}}}", 1.0, 1.0)):
            raise RuntimeError("not stored")

    return put


def _payload(number: int) -> bytes:
    return json.dumps(list(range(number % 97, 3000))).encode()


def is_stored(what: str, folder: Path, number: int) -> bool:
    """Whether an entry of `writer` is there, and right."""
    from loopwright.runtime.choosing.database import Question, TuningDatabase

    if what == "cache":
        return ObjectCache(folder / what).get(cache_key(str(number))) == _payload(number)
    question = Question("program", "f", {"n": number}, "machine", 1, False)
    found = TuningDatabase(folder / "tuning.sqlite").get(question)
    return found is not None and found.schedule == f"unroll{{loops=i factor={number + 1}}}"


def kills_of_writers(what: str) -> Callable[[Home, Random, int], Iterator[str]]:
    """Each entry whose write has returned is there and right after the kill."""

    def check(home: Home, random: Random, times: int) -> Iterator[str]:
        folder = home.folder / what
        folder.mkdir()
        start = 0
        for _ in range(times):
            program = _WRITES.format(what=what, folder=str(folder), start=start)
            seconds = random.uniform(1.0, 3.0)
            end = interrupted(home, ["-c", program], signal.SIGKILL, seconds)
            yield from end.problems([-signal.SIGKILL])
            numbers = [int(line) for line in end.out.split()]
            lost = [n for n in numbers if not is_stored(what, folder, n)]
            if lost:
                yield f"{len(lost)} of {len(numbers)} entries lost"
            start = max(numbers, default=start - 1) + 1
        if not start:
            yield "nothing was written"

    return check
