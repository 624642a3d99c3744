"""Measures and stores the limits of this machine, and prints its roofline.

Peaks are those of fused multiply-adds, bandwidths the best of reading, copying and triad (twice
the size of the data for a copy is counted, three times for a triad). The numbers are kept in the
cache directory; `loopwright bench` reports times as a share of these limits.

examples:
  loopwright machine
  loopwright machine --stored --type f32 --threads 1
  loopwright machine --plot roofline.svg
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..runtime.bench import plots
from ..runtime.machine import measured as machines
from ..runtime.machine.measure_machine import measure_machine
from ..runtime.machine.roofline_text import draw, tables
from ..support.json_records import Document
from ..support.progress import ProgressLine
from . import UsageError
from .common import add_quiet_argument, format_table
from .file_arguments import WrittenFile
from .json_output import emit


@dataclass(frozen=True)
class MachineDocument(Document, machines.MachineRecord):
    """Result of `loopwright machine`: rates per second, and seconds."""

    document: ClassVar[str] = "machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright machine`."""
    parser.add_argument(
        "--stored", action="store_true", help="print the numbers of the last measurement"
    )
    parser.add_argument(
        "--type",
        choices=("f32", "f64"),
        default="f64",
        help="element type of the roofline (default: f64)",
    )
    parser.add_argument(
        "-t", "--threads", type=int, metavar="T", help="threads of the roofline (default: all)"
    )
    parser.add_argument(
        "--plot", metavar="FILE", type=WrittenFile, help="draw the roofline (.png, .svg or .pdf)"
    )
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measures and prints."""
    if arguments.plot is not None:
        try:
            plots.check_plot(Path(arguments.plot))
        except plots.PlottingError as error:
            raise UsageError(str(error)) from error
    machine = machines.load() if arguments.stored else None
    if machine is None:
        if arguments.stored:
            raise UsageError("this machine was not measured yet: run 'loopwright machine'")
        with ProgressLine() as progress:
            machine = measure_machine(progress.update)
        path = machines.save(machine)
        if path is not None:
            print(f"stored in {path}", file=sys.stderr)
        elif (disturbance := machine.disturbance()) is not None:
            print(
                f"not stored: {disturbance}; measure again when nothing else runs", file=sys.stderr
            )
    threads = machine.cores if arguments.threads is None else arguments.threads
    if not 1 <= threads <= machine.cores:
        raise UsageError(f"--threads must be between 1 and {machine.cores}, got {threads}")
    print(f"{machine.cpu}, {machine.cores} cores, {machine.vector_bits}-bit vectors")
    caches = ", ".join(f"{level} {size >> 10} KiB" for level, size in machine.caches.items())
    print(f"caches: {caches}\nmeasured: {machine.date}\n")
    for table in tables(machine):
        print(format_table(table, numbers=True) + "\n")
    print(draw(machine, arguments.type, threads))
    emit(MachineDocument(**vars(machine)))
    if arguments.plot is not None:
        drawing, ((axes,),) = plots.figure(1)
        plots.draw_roofline(axes, machine, arguments.type, threads)
        plots.write(drawing, Path(arguments.plot))
    return 0
