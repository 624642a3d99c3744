"""Puts several directories of labels into one."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..common import warn_of_damage


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
    return int(is_damaged)
