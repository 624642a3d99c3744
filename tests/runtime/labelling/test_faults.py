"""Hours of labelling with faults: kills at any system call, full disks, corrupted shards.

Time is simulated: a program takes four seconds, and every few minutes something breaks. What a
`flush` has returned from must be there whatever happens then, and nothing twice.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from loopwright.costmodel.dataset import files, store
from loopwright.costmodel.dataset.checking import check
from loopwright.costmodel.dataset.rows import rows_of
from loopwright.costmodel.dataset.shards import list_shards, read_table
from loopwright.costmodel.dataset.store import Writer, clean_up, known_seeds
from loopwright.costmodel.labels import Label, LabelledProgram, ProgramInstance

MACHINE = '{"cpu":"simulated"}'
SECONDS_PER_PROGRAM = 4.0
SECONDS_BETWEEN_FAULTS = 600.0
PROGRAMS_PER_FLUSH = 3


class Killed(BaseException):
    """The process ends here: nothing after this runs."""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def labelled(seed: int, pairs: int) -> LabelledProgram:
    instance = ProgramInstance(f"program {seed}", {"n": seed}, "simulated", seed)

    def label(schedule: str) -> Label:
        return Label(schedule, "", "measured", 1e-3, 0.0, 1e-3, 3, 1, 1e-3, 0.0, 0.1, float(seed))

    labels = tuple(label(f"unroll{{loops=i factor={number + 2}}}") for number in range(pairs))
    return LabelledProgram(seed, instance, {"n": seed}, label(""), MACHINE, "{}", labels)


@contextmanager
def breaking(patch: pytest.MonkeyPatch, random: Random) -> Iterator[None]:
    """One of the next system calls fails, or the process is killed before or after it."""
    calls_left = random.randint(1, 6)
    kind = random.choice(("kill before", "kill after", "full disk"))

    def wrap(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            nonlocal calls_left
            calls_left -= 1
            if calls_left < 0:
                raise Killed  # what cleans up after an exception does not run in a killed process
            if calls_left > 0:
                return call(*arguments, **options)
            if kind == "full disk":
                calls_left = 1 << 60
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if kind == "kill after":
                call(*arguments, **options)
            raise Killed

        return wrapped

    with patch.context() as context:
        context.setattr(files.os, "fsync", wrap(os.fsync))
        context.setattr(Path, "replace", wrap(Path.replace))
        context.setattr(Path, "unlink", wrap(Path.unlink))
        yield


def corrupt(directory: Path, random: Random) -> None:
    """Changes, cuts or empties a shard or the copy of one."""
    victims = sorted(directory.rglob("pairs-*.parquet"))
    if not victims:
        return
    victim = random.choice(victims)
    data = bytearray(victim.read_bytes())
    if random.random() < 0.5 and data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    else:
        del data[random.randrange(len(data) + 1) :]
    victim.write_bytes(bytes(data))


def simulate(directory: Path, patch: pytest.MonkeyPatch, hours: float, pairs: int) -> int:
    """Labels programs for so many hours; returns how often something broke."""
    random, clock = Random(1), Clock()
    # What a killed process has written is there without it, and a disk takes 20 ms each time.
    patch.setattr(files.os, "fsync", lambda _descriptor: None)
    programs = round(hours * 3600 / SECONDS_PER_PROGRAM)
    # A few dozen shards in the end, as many as there are of real labels.
    patch.setattr(store, "SMALL_ROWS", programs // 30 * (pairs + 1))
    patch.setattr(store, "MERGED_ROWS", programs // 12 * (pairs + 1))
    faults, next_fault = 0, SECONDS_BETWEEN_FAULTS
    stored: set[int] = set()
    while True:
        if random.random() < 0.5:
            with suppress(Killed, OSError), breaking(patch, random):
                clean_up(directory)
        clean_up(directory)
        known = {seed for _, seed, _, _ in known_seeds(directory, MACHINE)}
        assert stored <= known
        todo = [seed for seed in range(programs) if seed not in known]
        if not todo:
            return faults
        try:
            writer = Writer(directory, clock)
            for position, seed in enumerate(todo):
                clock.now += SECONDS_PER_PROGRAM
                writer.append(rows_of(labelled(seed, pairs)))
                if clock.now >= next_fault:
                    next_fault = clock.now + random.expovariate(1 / SECONDS_BETWEEN_FAULTS)
                    faults += 1
                    if random.random() < 0.3:
                        corrupt(directory, random)
                        raise Killed
                    with breaking(patch, random):
                        writer.flush()
                if position % PROGRAMS_PER_FLUSH == 0:
                    writer.flush()
                    stored.update(todo[: position + 1])
            writer.flush()
        except (Killed, OSError):
            continue


def verify(directory: Path, hours: float, pairs: int) -> None:
    programs = round(hours * 3600 / SECONDS_PER_PROGRAM)
    clean_up(directory)
    keys = read_table(list_shards(directory).shards)["key"].to_pylist()
    assert len(keys) == len(set(keys)) == programs * (pairs + 1)
    # What an interrupted merge has left may be there twice on disk; readers take one of them.
    # Temporary files stay as long as the process that made them runs, which is this one.
    expected = ("put aside", "mends it", "there twice", "left by an interrupted process")
    for problem in check(directory).problems:
        assert any(words in problem for words in expected), problem


def test_an_hour_of_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert simulate(tmp_path, monkeypatch, 1.5, 3) >= 5
    verify(tmp_path, 1.5, 3)


@pytest.mark.campaign
def test_a_day_of_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert simulate(tmp_path, monkeypatch, 24.0, 4) >= 100
    verify(tmp_path, 24.0, 4)
