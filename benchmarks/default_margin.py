"""Margin of the learned model in the default schedule, on random programs that it has not seen.

    python benchmarks/default_margin.py                  # 200 programs; goes on where it stopped
    python benchmarks/default_margin.py --record default-margin

Of each program, on one thread: the candidate of which the least convinced member of the model
expects most is run in turns with the analytical choice, where it is expected to be 1.05 times as
fast or more. The CPU time counts, so that a busy machine does little harm. The table shows what
each margin would have taken. The seeds are of their own: no workload of `loopwright data generate`
has these programs. Every program that is done becomes a line of a file.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import record

from loopwright import load
from loopwright.costmodel.deciding_model import DecidingModel, deciding_model
from loopwright.costmodel.generator import CONTRACTION, GENERAL, random_program
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.default_choice import MARGIN
from loopwright.runtime.calling.inputs import Settings, make_arguments
from loopwright.runtime.choosing.default import decided
from loopwright.runtime.kernel import Kernel
from loopwright.runtime.measuring.compare import compare
from loopwright.support.progress import ProgressLine

LEAST = 1.05
MARGINS = (1.1, 1.2, 1.5, 2.0, 2.5, MARGIN, 4.0)
TURNS = 11
TURN_SECONDS = 0.01
MOST_CALLS = 2000
CONTRACTIONS = 5
"""Every so manieth program is a contraction."""

SLOWER = 0.95
COLUMNS = ("margin", "taken", "geometric mean", "least", "slower than 0.95")
TITLE = "Margin of the learned model in the default schedule"
TEXT = (
    "Random programs that the model has not learned from, one thread: the schedule of which the "
    "least convinced member of `ensemble` expects at least the margin over the analytical choice; "
    "otherwise that one. CPU time of interleaved runs, results checked; the geometric mean is over "
    "all programs, the least gain over those in which another schedule was taken."
)

Line = dict[str, Any]


def main() -> int:
    """Measures what is missing, and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--lines", type=Path, default=Path("build/default-margin.jsonl"))
    record.add_option(parser)
    options = parser.parse_args()
    deciding = deciding_model()
    if deciding is None:
        parser.error("there is no model: LOOPWRIGHT_MODEL is off")
    options.lines.parent.mkdir(parents=True, exist_ok=True)
    here = {"code": record.code(), "machine": record.machine(), "model": deciding.version}
    known = record.known_lines(options.lines, here)
    with ProgressLine(options.programs) as progress:
        for number in range(options.programs):
            progress.update("programs", number)
            if str(number) not in known:
                line = {**here, "kernel": str(number), **measured(number, deciding)}
                record.add_line(options.lines, line)
                known[str(number)] = line
    lines = [known[str(number)] for number in range(options.programs)]
    lines = [line for line in lines if line["expected"] is not None]
    rows = [row(lines, margin) for margin in MARGINS]
    print(f"{len(lines)} programs with enough work\n{'  '.join(COLUMNS)}")
    for each in rows:
        print("  ".join(map(str, each)))
    record.write(options.record, COLUMNS, rows, title=TITLE, text=TEXT, page="tuning")
    wrong = [line["kernel"] for line in lines if not line["agrees"]]
    if wrong:
        print(f"wrong: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


def measured(number: int, deciding: DecidingModel) -> Line:
    """What is expected of the best candidate of a program, and how much faster it runs."""
    digest = hashlib.sha256(f"margin of the default schedule {number}".encode()).digest()
    mix = GENERAL if number % CONTRACTIONS else CONTRACTION
    program = random_program(int.from_bytes(digest[:6], "big"), mix)
    (function,) = load(program.text).values()
    fast_math = bool(number % 2)
    sizes = {name: str(size) for name, size in program.sizes.items()}
    settings = Settings(sizes, {}, 1)
    arguments = [make_arguments(function.scop, function.signature, settings) for _ in range(3)]
    context = SchedulingContext(function.checked_sizes(arguments[0]), 1)
    original = Schedule.original(function.scop, reassociate=fast_math)
    decision = decided(original, context, deciding)
    if not decision.rated:
        return {"expected": None, "gain": 1.0, "agrees": True}
    best = decision.rated[0]
    if best.gain < LEAST:
        return {"expected": best.gain, "gain": 1.0, "agrees": True}
    schedules = (decision.proposals.analytical, best.schedule)
    kernels = [function.compile(each, threads=1, fast_math=fast_math) for each in schedules]
    expected, *found = arguments
    function.compile(None, threads=1)(*expected)
    for kernel, values in zip(kernels, found, strict=True):
        kernel(*values)
    agrees = all(_agree(values, expected) for values in found)
    gain = _gain(kernels, found[0])
    return {"expected": best.gain, "gain": gain, "agrees": agrees, "schedule": str(best.schedule)}


def _gain(kernels: Sequence[Kernel], arguments: Sequence[object]) -> float:
    """How many times as fast the second kernel is, from turns of both."""
    calls = [
        max(1, min(MOST_CALLS, int(TURN_SECONDS / max(1e-7, _seconds(kernel, arguments, 1)))))
        for kernel in kernels
    ]
    gains: list[float] = []
    for turn in range(TURNS):
        times = [0.0, 0.0]
        for which in (0, 1) if turn % 2 else (1, 0):
            times[which] = _seconds(kernels[which], arguments, calls[which])
        gains.append(times[0] / times[1])
    return median(gains)


def _seconds(kernel: Kernel, arguments: Sequence[object], calls: int) -> float:
    begin = time.thread_time()
    for _ in range(calls):
        kernel(*arguments)
    return (time.thread_time() - begin) / calls


def _agree(values: Sequence[object], expected: Sequence[object]) -> bool:
    pairs = zip(values, expected, strict=True)
    return all(
        compare("", found, wanted, 1e4).agrees
        for found, wanted in pairs
        if isinstance(found, np.ndarray) and isinstance(wanted, np.ndarray)
    )


def row(lines: Sequence[Line], margin: float) -> list[record.Cell]:
    """The cells of a margin."""
    taken = [line["gain"] for line in lines if line["expected"] >= margin]
    mean = exp(fmean(log(gain) for gain in (*taken, *[1.0] * (len(lines) - len(taken)))))
    slower = sum(gain < SLOWER for gain in taken)
    return [margin, len(taken), round(mean, 3), round(min(taken, default=1.0), 2), slower]


if __name__ == "__main__":
    sys.exit(main())
