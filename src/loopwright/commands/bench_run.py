"""Measurements of `loopwright bench`, once its arguments are known to be right."""

from __future__ import annotations

import argparse
import datetime
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..runtime.bench.bench_kernel import BenchKernel
from ..runtime.bench.case import Case, NotApplicable
from ..runtime.bench.harness import Outcome, measure
from ..runtime.bench.peers import ours
from ..runtime.bench.peers.choosing import peer_variants, select_peers
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
from ..runtime.bench.selection import SelectionError
from ..runtime.bench.variant import Variant
from ..runtime.calling.inputs import InputError
from ..runtime.machine import measured as machines
from ..runtime.machine.measure_machine import measure_machine
from ..runtime.measuring.timing import format_seconds
from ..support.json_records import Document
from ..support.progress import ProgressLine
from ..support.version import __version__
from . import UsageError
from .bench_files import file_cases
from .common import format_table
from .json_output import emit, report

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


def bench(
    arguments: argparse.Namespace,
    threads: list[int],
    schedules: dict[str, str],
    shipped: Sequence[tuple[BenchKernel, str]],
    files: Sequence[str],
) -> int:
    """Measures shipped kernels, and files, and prints; 1 when a result of ours is wrong."""
    try:
        cases = [*shipped, *file_cases(arguments, files)]
        if arguments.plot is not None:
            check_plot(Path(arguments.plot))
        peers = select_peers(arguments.peers)
    except (SelectionError, PlottingError, InputError) as error:
        raise UsageError(str(error)) from error
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
