"""Reads everything in a directory of labels."""

from __future__ import annotations

import argparse

from .common import add_directory


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
    from ...costmodel.dataset.checking import PUT_ASIDE, check
    from ...costmodel.dataset.store import merge_directories

    report = check(arguments.directory)
    is_right = not report.problems
    for problem in report.problems:
        print(problem)
    if arguments.fix and report.problems:
        # A merge cleans up, and takes each row once.
        merge_directories([arguments.directory], arguments.directory)
        report = check(arguments.directory)
        left = [problem for problem in report.problems if not problem.endswith(PUT_ASIDE)]
        if left:
            print("what could not be put right:", *left, sep="\n")
        else:
            print("put right; 'loopwright data generate' labels again what could not be mended")
        is_right = not left
    print(
        f"{report.rows} rows in {report.shards} shards, {report.pairs} labelled pairs, "
        f"{len(report.problems)} problems"
    )
    return int(not is_right)
