"""Prints how random programs cover the space, beside PolyBench."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Annotated, ClassVar

from ...costmodel.labelled_data import RandomWorkload
from ...support.json_records import Document
from .. import UsageError
from ..common import format_table
from ..json_output import emit


@dataclass(frozen=True)
class CoverDocument(Document):
    """Result of `loopwright data cover`."""

    document: ClassVar[str] = "data-cover"

    table: Annotated[tuple[tuple[str, ...], ...], "rows of cells; the first is the header"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which programs."""
    parser.add_argument(
        "--programs", type=int, default=100, metavar="N", help="number of programs (default: 100)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of the programs (default: 0)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Counts and prints."""
    from ...costmodel.generator.program_coverage import (
        benchmark_coverage,
        coverage_table,
        random_coverage,
    )

    if arguments.programs < 1:
        raise UsageError(f"--programs must be positive, got {arguments.programs}")
    workload = RandomWorkload(arguments.seed)
    seeds = map(workload.program_seed, range(arguments.programs))
    table = coverage_table(list(random_coverage(seeds)), list(benchmark_coverage()))
    print(format_table(table))
    emit(CoverDocument(tuple(map(tuple, table))))
    print("10 %, 50 % and 90 % quantiles; arrays and instances of PolyBench at size LARGE")
    return 0
