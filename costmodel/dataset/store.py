"""Writer of shards: appending and compaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from . import files
from .arrow import Table
from .locking import lock
from .rows import Row, seeds_of
from .schema import table_of
from .shards import (
    Listing,
    Shard,
    list_shards,
    read_table,
    write_shard,
)

FLUSH_SECONDS = 10.0
FLUSH_ROWS = 2000
SMALL_ROWS = 20_000
"""Shards with fewer rows are merged when there are many of them."""

MANY = 16
MERGED_ROWS = 200_000


class Writer:
    """Collects rows and stores them; what `flush` has returned from is safe.

    Used as a context manager. One process at a time adds to a directory: another one gets
    DatasetError. Not more than `FLUSH_SECONDS` of work are lost when the process is
    killed, and those are done again.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = lock(directory)
        self._directory = directory
        self._clock = clock
        self._rows: list[Row] = []
        self._since = clock()
        self._small = [shard for shard in clean_up(directory).shards if shard.rows < SMALL_ROWS]

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.flush()
        finally:
            self._lock.close()

    def append(self, rows: Iterable[Row]) -> None:
        """Adds all rows of a program, and stores them now and then; raises OSError."""
        self._rows += rows
        if len(self._rows) >= FLUSH_ROWS or self._clock() - self._since >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Stores what has been added; raises OSError, after which it can be tried again."""
        if self._rows:
            self._small.append(write_shard(self._directory, table_of(self._rows)))
            self._rows = []
        self._since = self._clock()
        if len(self._small) >= MANY:
            merged = merge_shards(self._directory, self._small)
            self._small = [shard for shard in merged if shard.rows < SMALL_ROWS]


def clean_up(directory: Path) -> Listing:
    """Removes what was left by processes that were killed, and mends what was damaged.

    What cannot be mended is put aside. Raises DatasetError, OSError.
    """
    listing = list_shards(directory)
    for shard in listing.replaced:
        files.delete(shard.path)
    for path in listing.left_behind:
        if not files.is_being_written(path):
            path.unlink(missing_ok=True)
    for damage in listing.damaged:
        files.put_aside(damage.path)
    for shard in listing.shards:
        files.mend(shard.path)
    return listing


def merge_shards(directory: Path, shards: Iterable[Shard]) -> list[Shard]:
    """Writes the rows of some shards as few ones, sorted by program, and deletes these."""
    old = sorted(shards, key=lambda shard: shard.path.name)
    table = _sorted(read_table(old))
    new: list[Shard] = []
    names = [shard.path.name for shard in old]
    for start in range(0, max(1, table.num_rows), MERGED_ROWS):
        part = table.slice(start, MERGED_ROWS)
        # Only the last one says what it replaces: before it is there, the old ones count.
        is_last = start + MERGED_ROWS >= table.num_rows
        written = {shard.path.name for shard in new}
        gone = [name for name in names if name not in written] if is_last else []
        new.append(write_shard(directory, part, gone))
    kept = {shard.path.name for shard in new}
    for shard in old:
        if shard.path.name not in kept:
            files.delete(shard.path)
    return new


def _sorted(table: Table) -> Table:
    return table.sort_by([("program_key", "ascending"), ("measured_at", "ascending")])


def merge_directories(sources: Iterable[Path], target: Path) -> tuple[int, int]:
    """Puts the rows of several directories into one; returns how many, and how many were twice.

    The sources stay as they are, unless the target is one of them. Raises DatasetError, OSError.
    """
    with lock(target):
        return _merge_into(sources, target)


def _merge_into(sources: Iterable[Path], target: Path) -> tuple[int, int]:
    here = clean_up(target).shards
    others = [
        shard
        for source in sources
        if source.resolve() != target.resolve()
        for shard in list_shards(source).shards
    ]
    before = sum(shard.rows for shard in (*here, *others))
    copies = [write_shard(target, read_table([shard])) for shard in others]
    by_name = {shard.path.name: shard for shard in (*here, *copies)}
    merged = merge_shards(target, by_name.values()) if by_name else []
    after = sum(shard.rows for shard in merged)
    return after, before - after


def known_seeds(
    directory: Path, machine: str | None, *, fast_math: bool = False
) -> set[tuple[str, int, int, int]]:
    """Origin, seed and versions of the programs that are labelled on a machine already.

    Without a machine, on any.
    """
    identity = ["origin", "seed", "generator_version", "sampler_version"]
    columns = [*identity, "machine", "fast_math", "schedule"]
    if not directory.is_dir():
        return set()
    rows: list[Row] = read_table(list_shards(directory).shards, columns).to_pylist()
    return seeds_of(rows, machine, fast_math=fast_math)
