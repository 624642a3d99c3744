"""Prints how random programs cover the space, beside PolyBench."""

from __future__ import annotations

import argparse

from ...costmodel.labelled_data import RandomWorkload
from .. import UsageError
from ..common import format_table


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
    print(format_table(coverage_table(list(random_coverage(seeds)), list(benchmark_coverage()))))
    print("10 %, 50 % and 90 % quantiles; arrays and instances of PolyBench at size LARGE")
    return 0
