"""A directory of Parquet shards that survives being killed at any moment.

A shard is named by the SHA-256 of its contents, and appears under that name by a rename after it
has reached the disk: it is whole or not there. Nothing else is trusted. A shard that was made of
others names them in its metadata; they do not count any more, and are deleted when it is safe.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .arrow import Row, Table, pa, parquet
from .errors import DatasetError
from .schema import SCHEMA, SCHEMA_VERSION

DIGITS = 16
SHARD = re.compile(rf"pairs-([0-9a-f]{{{DIGITS}}})\.parquet")
TEMPORARY = ".writing"
DAMAGED = ".damaged"
ROW_GROUP = 1 << 16


@dataclass(frozen=True)
class Shard:
    """A shard whose contents are those that its name says."""

    path: Path
    replaces: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class Damage:
    """A file that is not a valid shard, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Listing:
    """The shards of a directory that count; those that others have replaced; damaged files."""

    shards: tuple[Shard, ...]
    replaced: tuple[Shard, ...]
    damaged: tuple[Damage, ...]
    temporary: tuple[Path, ...]


def write_shard(directory: Path, table: Table, replaces: Iterable[str] = ()) -> Shard:
    """Stores a table as a new shard; raises OSError, and leaves nothing behind then."""
    names = tuple(sorted(replaces))
    metadata: dict[bytes, bytes] = {
        **(SCHEMA.metadata or {}),
        b"replaces": json.dumps(names).encode(),
    }
    buffer = io.BytesIO()
    parquet.write_table(
        table.replace_schema_metadata(metadata),
        buffer,
        compression="zstd",
        compression_level=12,
        row_group_size=ROW_GROUP,
        dictionary_pagesize_limit=1 << 26,
        use_byte_stream_split=["seconds", "fastest", "baseline_seconds"],
        use_dictionary=[field.name for field in table.schema if pa.types.is_dictionary(field.type)],
        write_statistics=False,
    )
    data = buffer.getvalue()
    name = f"pairs-{hashlib.sha256(data).hexdigest()[:DIGITS]}.parquet"
    path = directory / name
    temporary = directory / f"{name}.{os.getpid()}{TEMPORARY}"
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _sync(directory)
    return Shard(path, names, table.num_rows)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_shard(path: Path) -> Shard:
    """Checks a shard from its name to its schema; raises DatasetError."""
    match = SHARD.fullmatch(path.name)
    if match is None:
        raise DatasetError(f"{path} is not named as a shard")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest()[:DIGITS] != match[1]:
        raise DatasetError(f"{path}: the contents are not those that were written")
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"{path}: not a Parquet file ({error})") from error
    metadata: dict[bytes, bytes] = file.schema_arrow.metadata or {}
    version = metadata.get(b"loopwright_schema", b"none").decode()
    if version != str(SCHEMA_VERSION):
        raise DatasetError(
            f"{path}: schema version {version}, this loopwright reads {SCHEMA_VERSION}"
        )
    names = json.loads(metadata.get(b"replaces", b"[]"))
    return Shard(path, tuple(names), file.metadata.num_rows)


def list_shards(directory: Path) -> Listing:
    """What lies in a directory; every shard is read and checked. Raises DatasetError, OSError."""
    if not directory.is_dir():
        raise DatasetError(f"{directory} is not a directory")
    sound: list[Shard] = []
    damaged: list[Damage] = []
    for path in sorted(directory.glob("pairs-*.parquet")):
        try:
            sound.append(open_shard(path))
        except DatasetError as error:
            damaged.append(Damage(path, str(error)))
        except FileNotFoundError:
            continue  # another process has merged it
    gone = {name for shard in sound for name in shard.replaces}
    return Listing(
        tuple(shard for shard in sound if shard.path.name not in gone),
        tuple(shard for shard in sound if shard.path.name in gone),
        tuple(damaged),
        tuple(sorted(directory.glob(f"*{TEMPORARY}"))),
    )


def read_table(shards: Iterable[Shard], columns: list[str] | None = None) -> Table:
    """The rows of some shards, of each pair the first; in the order of programs and times."""
    wanted = None if columns is None else sorted({*columns, "key"})
    tables = [parquet.read_table(shard.path, columns=wanted, schema=SCHEMA) for shard in shards]
    if not tables:
        empty = SCHEMA.empty_table()
        return empty if wanted is None else empty.select(wanted)
    return without_duplicates(pa.concat_tables(tables, promote_options="permissive"))


def without_duplicates(table: Table) -> Table:
    """The first row of each key."""
    seen: set[bytes] = set()
    kept: list[int] = []
    for position, key in enumerate(table["key"].to_pylist()):
        if key not in seen:
            seen.add(key)
            kept.append(position)
    return table if len(kept) == table.num_rows else table.take(kept)


def quarantine(damage: Damage) -> Path:
    """Takes a damaged file out of the way, without deleting it."""
    target = damage.path.with_name(damage.path.name + DAMAGED)
    damage.path.replace(target)
    return target


def read_rows(shard: Shard) -> Iterator[Row]:
    """The rows of a shard, as they were written."""
    for batch in parquet.ParquetFile(shard.path).iter_batches(batch_size=8192):
        yield from batch.to_pylist()
