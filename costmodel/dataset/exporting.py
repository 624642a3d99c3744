"""Export of a directory of labels to one file, for other tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...support.output_files import replacing
from .arrow import Table, csv, pa, parquet
from .shards import list_shards, read_table


def export(directory: Path, output: Path) -> int:
    """Writes Parquet, CSV or JSON lines, as the suffix says; returns the number of rows.

    Keys are written in hexadecimal digits. Raises DatasetError, OSError, and KeyError for another
    suffix.
    """
    write = FORMATS[output.suffix]
    table = _readable(read_table(list_shards(directory).shards))
    temporary = output.with_name(f"{output.name}.writing")
    write(table, temporary)
    temporary.replace(output)
    return table.num_rows


def _readable(table: Table) -> Table:
    """Keys as text, and dictionaries as plain columns."""
    columns: list[Any] = []
    for field in table.schema:
        column = table[field.name]
        if pa.types.is_fixed_size_binary(field.type):
            column = pa.chunked_array([[key.hex() for key in column.to_pylist()]], pa.string())
        elif pa.types.is_dictionary(field.type):
            column = column.cast(field.type.value_type)
        columns.append(column)
    return pa.table(columns, names=table.schema.names)


def _write_parquet(table: Table, path: Path) -> None:
    parquet.write_table(table, path, compression="zstd")


def _write_csv(table: Table, path: Path) -> None:
    csv.write_csv(table, path)


def _write_lines(table: Table, path: Path) -> None:
    with replacing(path) as beside, beside.open("w", encoding="utf-8") as file:
        for batch in table.to_batches(max_chunksize=4096):
            file.writelines(f"{json.dumps(row)}\n" for row in batch.to_pylist())


FORMATS: Mapping[str, Callable[[Table, Path], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".jsonl": _write_lines,
}
