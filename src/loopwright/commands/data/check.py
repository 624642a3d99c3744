"""Reads everything in a directory of labels."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ...support.json_records import Document
from ..json_output import emit
from .common import add_directory


@dataclass(frozen=True)
class CheckDocument(Document):
    """Result of `loopwright data check`."""

    document: ClassVar[str] = "data-check"

    shards: Annotated[int, "files that were read"]
    rows: Annotated[int, "rows in them"]
    pairs: Annotated[int, "labelled pairs"]
    problems: Annotated[tuple[str, ...], "what was found; after --fix, what is left"]
    put_aside: Annotated[tuple[str, ...], "problems that are kept for inspection"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The directory, and whether to change anything."""
    add_directory(parser)
    parser.add_argument(
        "--fix",
        action="store_true",
        help="mend damaged shards from their copies, put aside what cannot be mended, and remove "
        "what interrupted processes have left",
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints one line per problem; 1 when there are problems that were not put right."""
    from ...costmodel.dataset.checking import check
    from ...costmodel.dataset.store import merge_directories

    report = check(arguments.directory)
    left = report.problems
    for problem in left:
        print(problem)
    if arguments.fix and left:
        # A merge cleans up, and takes each row once.
        merge_directories([arguments.directory], arguments.directory)
        report = check(arguments.directory)
        left = tuple(each for each in report.problems if each not in report.put_aside)
        if left:
            print("what could not be put right:", *left, sep="\n")
        else:
            print("put right; 'loopwright data generate' labels again what could not be mended")
    print(
        f"{report.rows} rows in {report.shards} shards, {report.pairs} labelled pairs, "
        f"{len(report.problems)} problems"
    )
    emit(CheckDocument(report.shards, report.rows, report.pairs, tuple(left), report.put_aside))
    return int(bool(left))
