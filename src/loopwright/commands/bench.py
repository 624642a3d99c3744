"""Benchmarks kernels: as written, scheduled, and against installed peers.

Kernels are suites (polybench, tiramisu, interchange, gemm, tile_size, field), names
(polybench/gemm, atax), patterns ('polybench/j*') or files (gemm.mlir, blur.c, sum.py), whose sizes
`--set` gives. The variants of a kernel take turns, so that what disturbs the machine disturbs all
of them; arrays that are read get their initial contents before every run, outside of the time.
Results are compared with those of the unscheduled program. "of limit" is the share of the roofline
(see 'loopwright machine') that was reached, "speed-up" is against the unscheduled program on one
thread, with ~ where the difference is within the spread and so may be none; a spread (interquartile
range / median) with a star is not steady.

Peers: clang and gcc (the original loops as C, with -O3 -march=native, with and without -ffast-math,
with -fopenmp on the outermost parallel loop), polly, numpy, scipy, torch, numba, halide, onednn.

examples:
  loopwright bench polybench --size MINI,SMALL
  loopwright bench gemm atax --size LARGE --threads 1,2 --seconds 2 --json results.json
  loopwright bench polybench/gemm --schedule 'tiled=tile{loops=S1.i,S1.k,S1.j sizes=32,32,32}'
  loopwright bench blur.c --set h=1080 --set w=1920 --schedule default --threads 1,2
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..runtime.bench.peers.names import PEERS, named_peers
from ..runtime.bench.selection import SelectionError, select_cases, select_kernels
from ..runtime.calling.ranges import MOST_THREADS
from ..runtime.choosing.schedule_names import CHOSEN
from ..session.shipped_kernels import DEFAULT_SIZE
from . import UsageError
from .common import add_fast_math_argument, add_quiet_argument, add_values_arguments, check_seconds
from .file_arguments import ReadFile, WrittenFile
from .shipped import add_cflags_argument, find_kernel, not_sized

if TYPE_CHECKING:
    from ..kernels.catalogue import KernelEntry

_SUFFIXES = (".mlir", ".c", ".py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright bench`."""
    parser.add_argument(
        "kernels",
        metavar="KERNEL",
        type=ReadFile,
        nargs="*",
        default=["polybench"],
        help="default: polybench",
    )
    parser.add_argument(
        "--size",
        metavar="CLASS,...",
        help=f"sizes of the catalogue (default: {DEFAULT_SIZE})",
    )
    parser.add_argument(
        "-f", "--func", metavar="NAME", help="the function of a file (default: all that it has)"
    )
    add_values_arguments(parser)
    add_cflags_argument(parser)
    parser.add_argument(
        "--schedule",
        action="append",
        default=[],
        metavar="NAME=PASSES",
        help="a schedule to measure too, where it is legal; 'default' is chosen for the sizes",
    )
    add_fast_math_argument(parser)
    parser.add_argument(
        "-t", "--threads", default="1", metavar="T,...", help="numbers of threads (default: 1)"
    )
    parser.add_argument(
        "--peers",
        metavar="P,...",
        help=f"{', '.join(PEERS)}, all or none (default: all that are installed)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=0.15,
        metavar="S",
        help="time per variant of a kernel at most (default: 0.15)",
    )
    parser.add_argument("--csv", metavar="FILE", type=WrittenFile, help="write the rows to a file")
    parser.add_argument(
        "--plot", metavar="FILE", type=WrittenFile, help="draw speed-ups and roofline"
    )
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measures and prints; 1 when a result of ours is wrong. Wrong arguments are told first."""
    threads = _threads(arguments.threads)
    schedules = _schedules(arguments.schedule)
    try:
        shipped, files = _kernels(arguments)
        named_peers(arguments.peers)
    except SelectionError as error:
        raise UsageError(str(error)) from error
    check_seconds(arguments.seconds)
    from .bench_run import bench

    return bench(arguments, threads, schedules, shipped, files)


def _kernels(arguments: argparse.Namespace) -> tuple[list[tuple[KernelEntry, str]], list[str]]:
    """Kernels of the catalogue in all sizes, and files; raises UsageError, SelectionError."""
    names = {name: _shipped_name(name) for name in arguments.kernels}
    files = [name for name, own in names.items() if own is None]
    shipped = [own for own in names.values() if own is not None]
    if files and not shipped and arguments.size is not None:
        raise not_sized(files[0])
    sizes = (arguments.size or DEFAULT_SIZE).split(",")
    return select_cases(select_kernels(shipped), sizes) if shipped else [], files


def _shipped_name(name: str) -> str | None:
    """What the catalogue calls a kernel, a suite or a pattern; None for a file."""
    if not name.endswith(_SUFFIXES):
        return name
    entry = find_kernel(name)
    return None if entry is None else entry.name


def _threads(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= MOST_THREADS for part in parts):
        raise UsageError(
            f"--threads expects numbers from 1 to {MOST_THREADS} such as 1,2, got '{text}'"
        )
    return sorted({int(part) for part in parts})


def _schedules(texts: list[str]) -> dict[str, str]:
    schedules: dict[str, str] = {}
    for text in texts:
        name, equals, pipeline = (text, "=", text) if text in CHOSEN else text.partition("=")
        if not name or not equals or not pipeline or "{" in name:
            raise UsageError(f"--schedule expects NAME=PASSES, got '{text}'")
        schedules[name] = pipeline
    return schedules
