"""Work that processes on many machines share through a folder, without a server.

    work.json                    what the work is: all workers must say the same
    claims/00012/0012345.0       batch 12345 is claimed; the file's time is the last heartbeat
    claims/00012/0012345.1       claimed once more: the first worker was silent for a lease
    claims/00012/0012345.done    its items are in journals
    journals/HOST-PID-XXXX.jsonl what one worker has done, a line each, with a checksum

A claim is a file that only one process can create, also on network file systems. A worker writes to
no file of another one; whoever takes over a batch leaves out what is in the journals of those
before. What is in a journal is safe, so that a killed worker costs the items that it was at.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from .checked_lines import append_line, naming, sound_lines

BATCH = 8
"""Items that are claimed at a time."""

LEASE = 120.0
"""Seconds without a heartbeat after which others take over."""

ATTEMPTS = 5
"""Workers that may be lost with a batch before it is given up: it may be what kills them."""

_IN_FOLDER = 1000
"""Batches whose claims lie in one folder."""

_DONE = "done"


class SharedWorkError(Exception):
    """A folder that cannot be joined; `str()` is one line."""


@dataclass(frozen=True)
class Progress:
    """How far the work is: items in journals, of these how many twice, and batches given up."""

    done: int
    twice: int
    given_up: int


@dataclass
class _Claim:
    """A batch of this worker: its file, and the items that are not in its journal yet."""

    path: Path
    missing: set[int]


class SharedWork:
    """A share in the work on `items` items, numbered from 0.

    Used as a context manager, in which a thread keeps claims alive. Raises SharedWorkError where
    the folder is for other work.
    """

    def __init__(
        self,
        folder: Path,
        description: str,
        items: int,
        *,
        batch: int = BATCH,
        lease: float = LEASE,
    ) -> None:
        self._folder = folder
        self._items = items
        self._batch = batch
        self._lease = lease
        self._batches = -(-items // batch)
        self._finished: set[int] = set()
        self._claims: dict[int, _Claim] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._start = random.Random(self._name).randrange(max(1, self._batches))
        self._journal: IO[bytes] | None = None
        for name in ("claims", "journals"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self._agree({"description": description, "items": items, "batch": batch, "lease": lease})

    def _agree(self, terms: dict[str, Any]) -> None:
        """Whether all workers do the same."""
        path = self._folder / "work.json"
        beside = self._folder / f"work.{self._name}"
        beside.write_text(json.dumps(terms, indent=1), encoding="utf-8")
        try:
            os.link(beside, path)
        except FileExistsError:
            try:
                found: Any = json.loads(path.read_bytes())
            except ValueError:
                found = None
            if not isinstance(found, dict):
                raise SharedWorkError(
                    f"{path} does not say what the work is; name another folder"
                ) from None
            known = cast("dict[str, Any]", found)
            for name, value in terms.items():
                if known.get(name) != value:
                    raise SharedWorkError(
                        f"{self._folder} is for other work: {name} is {known.get(name)!r} there, "
                        f"and {value!r} here; name another folder"
                    ) from None
        finally:
            beside.unlink()

    def __enter__(self) -> SharedWork:
        path = self._folder / "journals" / f"{self._name}.jsonl"
        self._journal = path.open("ab")
        self._heart = threading.Thread(target=self._beat, daemon=True)
        self._heart.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._heart.join()
        assert self._journal is not None
        self._journal.close()

    def items(self) -> Iterator[int]:
        """Claims batches one by one, and gives their items; ends where none is free now."""
        while (batch := self._claim()) is not None:
            yield from sorted(self._claims[batch].missing)

    def record(self, item: int, result: Any) -> None:
        """Stores what has come of an item, as JSON; it is safe then. Raises OSError."""
        assert self._journal is not None, "used as a context manager"
        append_line(self._journal, json.dumps([item, result], separators=(",", ":")).encode())
        self.skip(item)

    def skip(self, item: int) -> None:
        """Leaves out an item: it counts as done, without a result. Raises OSError."""
        number = item // self._batch
        claim = self._claims[number]
        claim.missing.discard(item)
        if not claim.missing:
            self._finish(number)

    def wait(self) -> bool:
        """Waits until there may be something to claim; False when all work is done."""
        if self._is_complete():
            return False
        self._stop.wait(min(self._lease / 4, 5.0))
        return True

    def _finish(self, number: int) -> None:
        with self._lock:
            del self._claims[number]
        (self._folder_of(number) / f"{number:07}.{_DONE}").touch()
        self._finished.add(number)

    def _folder_of(self, number: int) -> Path:
        return self._folder / "claims" / f"{number // _IN_FOLDER:05}"

    def _claim(self) -> int | None:
        """Claims a batch that nobody has; None where all are done or in work."""
        for number, attempt in self._open_batches():
            folder = self._folder_of(number)
            folder.mkdir(exist_ok=True)
            path = folder / f"{number:07}.{attempt}"
            try:
                descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
            except FileExistsError:
                continue  # another worker was faster
            with naming(path), os.fdopen(descriptor, "w") as file:
                file.write(self._name)
            first = number * self._batch
            missing = set(range(first, min(first + self._batch, self._items)))
            for before in range(attempt):
                missing -= self._recorded_by(folder / f"{number:07}.{before}")
            with self._lock:
                self._claims[number] = _Claim(path, missing)
            if missing:
                return number
            self._finish(number)
        return None

    def _recorded_by(self, claim: Path) -> set[int]:
        """The items in the journal of the worker that had a claim."""
        name = claim.read_text(encoding="utf-8")
        journal = self._folder / "journals" / f"{name}.jsonl"
        return {item for item, _ in _recorded(journal)} if name else set()

    def _open_batches(self) -> Iterator[tuple[int, int]]:
        """Batches to claim with the number of the attempt, from a place of this worker's own."""
        groups = -(-self._batches // _IN_FOLDER)
        first = self._start // _IN_FOLDER
        for step in range(groups):
            group = (first + step) % groups
            numbers = range(group * _IN_FOLDER, min((group + 1) * _IN_FOLDER, self._batches))
            if self._finished.issuperset(numbers):
                continue
            attempts = self._attempts(group * _IN_FOLDER)
            now = self._now()
            start = self._start % len(numbers)
            for number in (*numbers[start:], *numbers[:start]):
                attempt = attempts.get(number, 0)
                if number in self._finished or number in self._claims or attempt >= ATTEMPTS:
                    continue
                if attempt and now - self._heartbeat(number, attempt - 1) < self._lease:
                    continue
                yield number, attempt

    def _attempts(self, first: int) -> dict[int, int]:
        """How often the batches of a folder were claimed; notes those that are done."""
        attempts: dict[int, int] = {}
        with suppress(FileNotFoundError):
            for path in self._folder_of(first).iterdir():
                number, _, attempt = path.name.partition(".")
                if not number.isdecimal():
                    continue  # network file systems have files of their own (.nfs0000...)
                if attempt == _DONE:
                    self._finished.add(int(number))
                else:
                    attempts[int(number)] = max(attempts.get(int(number), 0), int(attempt) + 1)
        return attempts

    def _heartbeat(self, number: int, attempt: int) -> float:
        return (self._folder_of(number) / f"{number:07}.{attempt}").stat().st_mtime

    def _now(self) -> float:
        """The time by the clock of the file system: those of the machines may differ."""
        assert self._journal is not None, "used as a context manager"
        os.utime(self._journal.name)
        return Path(self._journal.name).stat().st_mtime

    def _beat(self) -> None:
        while not self._stop.wait(self._lease / 6):
            with self._lock:
                paths = [claim.path for claim in self._claims.values()]
            for path in paths:
                with suppress(OSError):  # the network may be away for a moment
                    os.utime(path)

    def _is_complete(self) -> bool:
        for group in range(-(-self._batches // _IN_FOLDER)):
            first = group * _IN_FOLDER
            numbers = range(first, min(first + _IN_FOLDER, self._batches))
            if self._finished.issuperset(numbers):
                continue
            attempts = self._attempts(first)
            now = self._now()
            for number in numbers:
                attempt = attempts.get(number, 0)
                is_given_up = attempt >= ATTEMPTS and (
                    now - self._heartbeat(number, attempt - 1) >= self._lease
                )
                if number not in self._finished and not is_given_up:
                    return False
        return True


def _recorded(journal: Path) -> Iterator[tuple[int, bytes]]:
    """The items of a journal, each with its result, which is JSON still. Raises OSError."""
    for line in sound_lines(journal):
        item, _, result = line.partition(b",")
        yield int(item.removeprefix(b"[")), result.removesuffix(b"]")


def results(folder: Path) -> Iterator[tuple[int, Any]]:
    """The result of every item in the journals, the first of each. Raises OSError."""
    seen: set[int] = set()
    for journal in sorted((folder / "journals").glob("*.jsonl")):
        for item, result in _recorded(journal):
            if item not in seen:
                seen.add(item)
                yield item, json.loads(result)


def progress(folder: Path) -> Progress:
    """What the journals and claims say. Raises OSError."""
    journals = (folder / "journals").glob("*.jsonl")
    items = [item for journal in journals for item, _ in _recorded(journal)]
    names = {path.name for path in (folder / "claims").glob("*/*")}
    last = {name.partition(".")[0] for name in names if name.endswith(f".{ATTEMPTS - 1}")}
    given_up = sum(f"{number}.{_DONE}" not in names for number in last)
    return Progress(len(set(items)), len(items) - len(set(items)), given_up)
