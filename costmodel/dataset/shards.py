"""A directory of Parquet shards.

What is in a shard is as it was written (`files`), and nothing else is trusted. A shard that was
made of others names them in its metadata; they do not count any more, and are deleted when it is
safe.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import files
from .arrow import Table, pa, parquet
from .errors import DatasetError, VersionError
from .rows import Row
from .schema import SCHEMA, SCHEMA_VERSION

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
    """The shards of a directory that count; those that others have replaced; what else is there.

    `mendable` are shards that count, as one of the two, the file and its copy, is sound.
    """

    shards: tuple[Shard, ...]
    replaced: tuple[Shard, ...]
    mendable: tuple[Damage, ...]
    damaged: tuple[Damage, ...]
    left_behind: tuple[Path, ...]


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
    return Shard(files.write(directory, buffer.getvalue()), names, table.num_rows)


def open_shard(path: Path) -> Shard:
    """Checks a shard, or its copy, from its name to its schema.

    Raises DatasetError, VersionError, OSError.
    """
    data = files.contents(path)
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"{path}: not a Parquet file ({error})") from error
    metadata: dict[bytes, bytes] = file.schema_arrow.metadata or {}
    version = metadata.get(b"loopwright_schema", b"none").decode()
    if version != str(SCHEMA_VERSION):
        raise VersionError(
            f"{path}: schema version {version}, this loopwright reads {SCHEMA_VERSION}"
        )
    names = json.loads(metadata.get(b"replaces", b"[]"))
    return Shard(path, tuple(names), file.metadata.num_rows)


def list_shards(directory: Path) -> Listing:
    """What lies in a directory; every shard is read and checked. Raises DatasetError, OSError."""
    if not directory.is_dir():
        raise DatasetError(f"{directory} is not a directory")
    readable: list[Shard] = []
    mendable: list[Damage] = []
    damaged: list[Damage] = []
    for path in sorted(directory.glob("pairs-*.parquet")):
        try:
            readable.append(open_shard(path))
            reason = files.damage(path)
        except VersionError:
            raise
        except DatasetError as error:
            damaged.append(Damage(path, str(error)))
        except FileNotFoundError:
            continue  # another process has merged it
        else:
            mendable += [Damage(path, reason)] if reason else []
    gone = {name for shard in readable for name in shard.replaces}
    return Listing(
        tuple(shard for shard in readable if shard.path.name not in gone),
        tuple(shard for shard in readable if shard.path.name in gone),
        tuple(mendable),
        tuple(damaged),
        tuple(sorted(files.left_behind(directory))),
    )


def read_table(shards: Iterable[Shard], columns: list[str] | None = None) -> Table:
    """The rows of some shards, of each pair the first; in the order of programs and times."""
    wanted = None if columns is None else sorted({*columns, "key"})
    tables = [parquet.read_table(_reader(shard), columns=wanted, schema=SCHEMA) for shard in shards]
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


def read_rows(shard: Shard) -> Iterator[Row]:
    """The rows of a shard, as they were written."""
    for batch in parquet.ParquetFile(_reader(shard)).iter_batches(batch_size=8192):
        yield from batch.to_pylist()


def _reader(shard: Shard) -> io.BytesIO:
    return io.BytesIO(files.contents(shard.path))
