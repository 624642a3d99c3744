"""Writes what a schedule does to a program as one HTML page.

The page needs no network and no other file: source with its dependences, iteration spaces,
schedule tree, the loops before and after each step, generated loops beside the hot assembly, times,
roofline, and the certificate. Without -p or -S, the schedule is the default one for the sizes, as
far as they are known. Where a step is illegal, the page shows why, and the schedule before it.

Times are those of the program as written, of the default schedule, of the one in the tuning
database, and of the given one; --peers adds other compilers and libraries for shipped kernels.

examples:
  loopwright report polybench/gemm -o gemm.html
  loopwright report polybench/jacobi-2d --size MEDIUM -p 'parallel{loops=t}' -o illegal.html
  loopwright report blur.mlir --set n=1000 --no-runs -o blur.html
  loopwright report polybench/atax --size LARGE --threads 2 --peers numpy,clang -o atax.html
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..runtime.bench.peers.names import PEERS, named_peers
from ..runtime.bench.selection import SelectionError
from . import UsageError
from .common import (
    add_program_arguments,
    add_quiet_argument,
    add_run_arguments,
    add_schedule_arguments,
    check_output,
    check_seconds,
    check_seed,
    check_threads,
    one_function,
)
from .file_arguments import WrittenFile
from .shipped import add_size_argument

DEFAULT_OUTPUT = "report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright report`."""
    add_program_arguments(parser)
    add_size_argument(parser)
    add_run_arguments(parser)
    add_schedule_arguments(parser)
    parser.add_argument(
        "--peers",
        metavar="P,...",
        default="none",
        help=f"measure {', '.join(PEERS)}, or all, too (shipped kernels; default: none)",
    )
    parser.add_argument("--no-runs", action="store_true", help="measure nothing")
    parser.add_argument(
        "--seconds", type=float, default=0.5, metavar="S", help="time per variant (default: 0.5)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the random inputs (default: 0)"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=WrittenFile,
        default=DEFAULT_OUTPUT,
        help=f"the page to write (default: {DEFAULT_OUTPUT})",
    )
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the page, and says where it is."""
    check_threads(arguments.threads)
    check_seconds(arguments.seconds)
    check_seed(arguments.seed)
    check_output(Path(arguments.output))
    try:
        named_peers(arguments.peers)
    except SelectionError as error:
        raise UsageError(str(error)) from error
    one_function(arguments)
    from .report_run import write_report

    return write_report(arguments)
