"""Import labels of the public LOOPerSet, as far as our transformations express them."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from ...dataset.errors import DatasetError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """File and target."""
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="LOOPerSet as .json, .jsonl or .jsonl.gz"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        required=True,
        help="directory that labels are added to",
    )


def run(arguments: argparse.Namespace) -> int:
    """Adds the labels to a directory; says what was skipped, and why. 1 where nothing was read."""
    from ...dataset.rows import rows_of
    from ...dataset.store import Writer
    from .looperset import read_looperset
    from .looperset_programs import Untranslatable

    if not arguments.file.is_file():
        raise DatasetError(f"{arguments.file}: no such file")
    programs = pairs = skipped = 0
    reasons: Counter[str] = Counter()
    with Writer(arguments.output) as writer:
        for found in read_looperset(arguments.file):
            if isinstance(found, Untranslatable):
                reasons[str(found)] += 1
                continue
            programs += 1
            pairs += len(found.labelled.labels)
            skipped += found.skipped
            writer.append(rows_of(found.labelled))
    print(f"{programs} programs, {pairs} pairs; {skipped} schedules were skipped")
    for reason, count in reasons.most_common(10):
        print(f"{count} programs were skipped: {reason}")
    return int(not programs and not reasons)
