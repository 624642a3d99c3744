"""Speed-up of `auto` over the default schedule on PolyBench, kernel by kernel.

    python benchmarks/tuning.py FILE --size LARGE --budget 20s --seconds 55 [KERNEL ...]
    python benchmarks/tuning.py FILE --untuned --model additive

With a budget, every kernel is tuned as `loopwright tune` does. With --untuned, it is what
`schedule="auto"` takes without tuning: the default schedule, or what all members of the model take
to be clearly faster; the last column is how much faster the least convinced member takes it to be.
What is found, unless it is the default schedule, is then run in turns with that, whatever tuning
has measured: what was chosen for being fast has had luck, too. The median of the turns counts.
Results are lines of FILE; kernels that are there are not measured again, and none is begun that
would probably end after --seconds. Nothing is kept for `auto`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from math import exp, inf, log
from pathlib import Path
from statistics import fmean, median
from typing import Any

import record

import loopwright
from loopwright.commands.common import parse_time
from loopwright.costmodel.find import find_model
from loopwright.costmodel.model_names import DEFAULT_MODEL
from loopwright.kernels.catalogue import KernelEntry
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.unanimity import unanimous_gains
from loopwright.runtime.bench.selection import SelectionError, select_kernels
from loopwright.runtime.choosing.auto import SECONDS, modelled_schedule
from loopwright.runtime.program import Function
from loopwright.runtime.tuning.evaluator import RunningEvaluator, Substitute
from loopwright.runtime.tuning.tune import TuningOptions, tune
from loopwright.session.shipped_kernels import comparison

ROUNDS = 10

OVERHEAD = 15.0
"""Seconds for a kernel besides the budget, as a rule."""


def tuned(
    entry: KernelEntry, function: Function, values: Sequence[object], options: argparse.Namespace
) -> dict[str, Any]:
    """The speed-up of tuning over the default schedule."""
    budget = parse_time(options.budget)
    settings = TuningOptions(budget, options.threads, True, options.model, keep=False)
    result = tune(function, values, settings, comparison(entry, function, values))
    if not result.measured or not result.default:
        gain = None
    else:
        gain = in_turns(entry, function, values, options, result.best)
    return {"gain": gain, "schedule": str(result.best), "seconds": result.seconds}


def in_turns(
    entry: KernelEntry,
    function: Function,
    values: Sequence[object],
    options: argparse.Namespace,
    found: Schedule,
) -> float | None:
    """How many times as fast as the default schedule a schedule is; None where one cannot run."""
    sizes = function.signature.sizes_of(values).of(function.scop)
    context = SchedulingContext(sizes, options.threads)
    default = default_schedule(function.scop, sizes, threads=options.threads, reassociate=True)
    if str(found) == str(default):
        return 1.0
    pair = [found, default]
    gains: list[float] = []
    with RunningEvaluator(
        function,
        values,
        threads=options.threads,
        fast_math=True,
        comparison=comparison(entry, function, values),
        substitute=Substitute.default(
            function, context, parse_time(options.budget), fast_math=True
        ),
    ) as evaluator:
        for _ in range(ROUNDS):
            speedups = dict(zip(map(str, pair), evaluator.measure(context, pair), strict=True))
            if not all(speedups.values()):
                return None
            gains.append(speedups[str(found)] / speedups[str(default)])
            pair.reverse()
    return median(gains)


def untuned(
    entry: KernelEntry, function: Function, values: Sequence[object], options: argparse.Namespace
) -> dict[str, Any]:
    """The speed-up of what the model finds without a run over the default schedule."""
    sizes = function.signature.sizes_of(values).of(function.scop)
    original = Schedule.original(function.scop, reassociate=True)
    context = SchedulingContext(sizes, options.threads)
    default = default_schedule(function.scop, sizes, threads=options.threads, reassociate=True)
    begin = time.monotonic()
    found = modelled_schedule(original, sizes, options.threads, options.model)
    seconds = time.monotonic() - begin
    predicted = unanimous_gains(find_model(options.model), context, [default, found])[1]
    return {
        "gain": in_turns(entry, function, values, options, found),
        "predicted": predicted,
        "schedule": str(found),
        "seconds": seconds,
    }


def report(lines: Sequence[dict[str, Any]]) -> None:
    """A row per kernel, and the geometric mean."""
    for line in lines:
        gain = "-" if line["gain"] is None else f"{line['gain']:.2f}"
        predicted = f"{line['predicted']:8.2f}" if "predicted" in line else ""
        print(f"{line['kernel']:<24}{gain:>6}{line['seconds']:8.1f} s{predicted}")
    gains = [line["gain"] for line in lines if line["gain"]]
    if gains:
        mean = exp(fmean(map(log, gains)))
        print(f"{len(gains)} kernels: geometric mean {mean:.3f}, least {min(gains):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--size", default="LARGE")
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--untuned", action="store_true")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=inf, help="of this call")
    record.add_option(parser)
    options = parser.parse_intermixed_args()
    text = options.file.read_text() if options.file.exists() else ""
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    known = {line["kernel"] for line in lines}
    try:
        entries = select_kernels(options.kernels or ["polybench"])
    except SelectionError as error:
        parser.error(str(error))
    budget = SECONDS if options.untuned else parse_time(options.budget)
    end = time.monotonic() + options.seconds - budget - OVERHEAD
    for entry in entries:
        if entry.name in known or time.monotonic() > end:
            continue
        function = loopwright.load(entry.text)[entry.function]
        values = list(entry.arguments(options.size))
        measure = untuned if options.untuned else tuned
        lines.append({"kernel": entry.name, **measure(entry, function, values, options)})
        record.add_line(options.file, lines[-1])
    report(lines)
    rows = [(line["kernel"], round(line["gain"], 2)) for line in lines if line["gain"]]
    record.write(options.record, ("kernel", "speed-up"), rows)


if __name__ == "__main__":
    main()
