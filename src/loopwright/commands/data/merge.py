"""Puts several directories of labels into one."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ...support.json_records import Document
from ..common import warn_of_damage
from ..json_output import emit


@dataclass(frozen=True)
class MergeDocument(Document):
    """Result of `loopwright data merge`."""

    document: ClassVar[str] = "data-merge"

    directory: Annotated[Path, "what was written"]
    rows: Annotated[int, "rows in it"]
    doubles: Annotated[int, "rows that were there twice"]
    is_damaged: Annotated[bool, "whether something could not be read"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Sources and target."""
    parser.add_argument(
        "sources", metavar="DIR", type=Path, nargs="+", help="directories of labels"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        required=True,
        help="directory to write, may be one of them",
    )


def run(arguments: argparse.Namespace) -> int:
    """Merges; the sources stay as they are. 1 where something of them could not be read."""
    from ...costmodel.dataset.store import merge_directories

    is_damaged = warn_of_damage(*arguments.sources)
    rows, doubles = merge_directories(arguments.sources, arguments.output)
    print(f"{rows} rows in {arguments.output}, {doubles} were there twice")
    emit(MergeDocument(arguments.output, rows, doubles, is_damaged))
    return int(is_damaged)
