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
import datetime
import shlex
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..runtime.bench.bench_kernel import BenchKernel
from ..runtime.bench.case import Case, NotApplicable
from ..runtime.bench.harness import Outcome, measure
from ..runtime.bench.peers import ours
from ..runtime.bench.peers.choosing import PEERS, peer_variants, select_peers
from ..runtime.bench.peers.python import Workers
from ..runtime.bench.plots import PlottingError, check_plot
from ..runtime.bench.report import (
    Row,
    notes,
    plot,
    rows,
    summary,
    table,
    write_csv,
)
from ..runtime.bench.selection import SelectionError, select_cases, select_kernels
from ..runtime.bench.variant import Variant
from ..runtime.calling.inputs import InputError
from ..runtime.calling.ranges import MOST_THREADS
from ..runtime.choosing.schedule_names import CHOSEN
from ..runtime.machine import measured as machines
from ..runtime.machine.measure_machine import measure_machine
from ..runtime.measuring.timing import format_seconds
from ..session.shipped_kernels import DEFAULT_SIZE
from ..support.json_records import Document
from ..support.progress import ProgressLine
from ..support.version import __version__
from . import UsageError
from .bench_files import add_file_arguments, file_cases, shipped_name
from .common import add_fast_math_argument, add_quiet_argument, check_seconds, format_table
from .file_arguments import ReadFile, WrittenFile
from .json_output import emit, report
from .shipped import not_sized

INTERRUPTED = 130


@dataclass(frozen=True)
class BenchCaseDocument(Document):
    """A case of `loopwright bench`, as soon as it is measured."""

    document: ClassVar[str] = "bench-case"

    kernel: Annotated[str, "the kernel"]
    size: Annotated[str, "its size"]
    rows: Annotated[tuple[Row, ...], "one per variant and number of threads"]
    remark: Annotated[str | None, "why the case was not run"]


@dataclass(frozen=True)
class BenchDocument(Document):
    """Result of `loopwright bench`."""

    document: ClassVar[str] = "bench"

    loopwright: Annotated[str, "the version"]
    date: Annotated[str, "when it was measured"]
    command: Annotated[str, "the command line"]
    versions: Annotated[Mapping[str, str], "of each variant"]
    machine: Annotated[machines.MachineRecord, "the limits of the machine"]
    rows: Annotated[tuple[Row, ...], "one per case, variant and number of threads"]
    interrupted: Annotated[bool, "whether cases are missing"]


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
    add_file_arguments(parser)
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
    """Measures and prints; 1 when a result of ours is wrong."""
    threads = _threads(arguments.threads)
    schedules = _schedules(arguments.schedule)
    try:
        cases = _cases(arguments)
        if arguments.plot is not None:
            check_plot(Path(arguments.plot))
        peers = select_peers(arguments.peers)
    except (SelectionError, PlottingError, InputError) as error:
        raise UsageError(str(error)) from error
    check_seconds(arguments.seconds)
    found: list[Row] = []
    interrupted = False
    with ProgressLine(len(cases)) as progress, closing(Workers()) as workers:
        machine = _machine(progress)
        try:
            progress.update("looking for peers")
            baseline = next(iter(ours.variants([1], {})))
            own = ours.variants(threads, schedules, fast_math=arguments.fast_math)
            others = (v for v in own if v.name != baseline.name)
            variants = [baseline, *others, *peer_variants(peers, threads, workers)]
            progress.clear()
            print(_describe(machine, variants) + "\n", flush=True)
            for number, (entry, size) in enumerate(cases):
                progress.update(f"{entry.name} {size}", number)
                _measure(entry, size, variants, arguments.seconds, progress, machine, found)
        except KeyboardInterrupt:
            interrupted = True
            progress.clear()
            print("\ninterrupted; what was measured until then:")
    _finish(arguments, found, machine, interrupted=interrupted)
    if interrupted:
        return INTERRUPTED
    wrong = sorted({f"{row.kernel} {row.size}" for row in found if _is_our_mistake(row)})
    if wrong:
        raise UsageError(f"loopwright computes other values than unscheduled in {', '.join(wrong)}")
    return 0


def _cases(arguments: argparse.Namespace) -> list[tuple[BenchKernel, str]]:
    """Kernels of the catalogue in all sizes, then files; raises SelectionError and others."""
    names = {name: shipped_name(name) for name in arguments.kernels}
    files = [name for name, own in names.items() if own is None]
    shipped = [own for own in names.values() if own is not None]
    if files and not shipped and arguments.size is not None:
        raise not_sized(files[0])
    sizes = (arguments.size or DEFAULT_SIZE).split(",")
    cases = select_cases(select_kernels(shipped), sizes) if shipped else []
    return [*cases, *file_cases(arguments, files)]


def _machine(progress: ProgressLine) -> machines.MeasuredMachine:
    """The limits of this machine as stored, else measured now."""
    machine = machines.load()
    if machine is None:
        machine = measure_machine(lambda text: progress.update(f"measuring the machine: {text}"))
        if (disturbance := machine.disturbance()) is not None:
            progress.clear()
            print(f"limits of this machine are not stored: {disturbance}", file=sys.stderr)
        with suppress(OSError):  # it can be measured again
            machines.save(machine)
    return machine


def _describe(machine: machines.MeasuredMachine, variants: list[Variant]) -> str:
    """The machine, and the version of every peer that takes part."""
    lines = [f"{machine.cpu}, {machine.cores} cores; limits measured {machine.date}"]
    versions = {v.peer: v.version.partition(": ")[0] for v in reversed(variants)}
    lines += [f"{peer}: {version}" for peer, version in reversed(versions.items())]
    return "\n".join(lines)


def _is_our_mistake(row: Row) -> bool:
    return row.peer == ours.PEER and row.correct is False


def _measure(
    entry: BenchKernel,
    size: str,
    variants: list[Variant],
    seconds: float,
    progress: ProgressLine,
    machine: machines.MeasuredMachine,
    found: list[Row],
) -> None:
    try:
        case = Case(entry, size)
    except NotApplicable as error:
        progress.clear()
        print(f"{entry.name} {size}: not run: {error}\n")
        report(BenchCaseDocument(entry.name, size, (), str(error)))
        return
    outcomes: list[Outcome] = []
    try:
        measure(
            case,
            variants[0],
            variants,
            seconds,
            lambda text: progress.update(f"{case.name}: {text}"),
            outcomes,
        )
    finally:
        new = rows(case, outcomes, machine)
        found += new
        report(BenchCaseDocument(entry.name, size, tuple(new), None))
        progress.clear()
        if any(row.median is not None for row in new):
            limit = format_seconds(new[0].limit)
            level = machine.level(case.data_bytes, 1)
            print(
                f"{case.name}: {entry.flops(size) * 1e-6:.4g} MFLOP, "
                f"{case.data_bytes / 1e6:.3g} MB (in {level}), limit on one thread {limit}"
            )
            print(format_table(table(new), numbers=True))
        for line in notes(new):
            print(line)
        print(flush=True)


def _finish(
    arguments: argparse.Namespace,
    found: list[Row],
    machine: machines.MeasuredMachine,
    *,
    interrupted: bool,
) -> None:
    overall = summary(found)
    if len(overall) > 1:
        print("speed-up against the unscheduled program on one thread")
        print(format_table(overall, numbers=True))
    if arguments.csv is not None:
        write_csv(Path(arguments.csv), found, machine)
    emit(
        BenchDocument(
            loopwright=__version__,
            date=datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            command=shlex.join(sys.argv[1:]),
            versions={f"{row.variant}, {row.threads}": row.version for row in found},
            machine=machines.MachineRecord(**vars(machine)),
            rows=tuple(found),
            interrupted=interrupted,
        )
    )
    if arguments.plot is not None and found:
        plot(Path(arguments.plot), found, machine)


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
