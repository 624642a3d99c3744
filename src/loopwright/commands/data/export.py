"""Writes a directory of labels as one file."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ...support.json_records import Document
from .. import UsageError
from ..common import warn_of_damage
from ..json_output import emit
from .common import add_directory


@dataclass(frozen=True)
class ExportDocument(Document):
    """Result of `loopwright data export`."""

    document: ClassVar[str] = "data-export"

    file: Annotated[Path, "what was written"]
    rows: Annotated[int, "rows in it"]
    is_damaged: Annotated[bool, "whether something could not be read"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The directory and the file."""
    add_directory(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="FILE.parquet, FILE.csv or FILE.jsonl",
    )


def run(arguments: argparse.Namespace) -> int:
    """Exports; 1 where something could not be read."""
    from ...costmodel.dataset.exporting import FORMATS, export

    if arguments.output.suffix not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"cannot export to '{arguments.output}': the name must end in {known}")
    is_damaged = warn_of_damage(arguments.directory)
    rows = export(arguments.directory, arguments.output)
    print(f"{rows} rows in {arguments.output}")
    emit(ExportDocument(arguments.output, rows, is_damaged))
    return int(is_damaged)
