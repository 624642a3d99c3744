"""Puts several directories of labels into one."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Sources and target."""
    parser.add_argument(
        "sources", metavar="DIR", type=Path, nargs="+", help="directories of labels"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, required=True, help="may be one of them"
    )


def run(arguments: argparse.Namespace) -> int:
    """Merges; the sources stay as they are."""
    from ...costmodel.dataset.store import merge_directories

    rows, doubles = merge_directories(arguments.sources, arguments.output)
    print(f"{rows} rows in {arguments.output}, {doubles} were there twice")
    return 0
