"""Searches of `loopwright tune`, once its arguments are known to be right."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..costmodel.model_names import DEFAULT_MODEL, DEFAULT_RANKER
from ..passes.schedules.schedule import Schedule
from ..passes.search.result import Progress, Result
from ..passes.syntax.schedule_ops import to_sequence
from ..runtime.bench import plots
from ..runtime.measuring.timing import format_seconds
from ..runtime.program import Function
from ..runtime.tuning.tiles import TileOptions, TileResult, tune_tiles
from ..runtime.tuning.tune import TuningOptions, tune
from ..session.describing import tuning_result
from ..session.records import TuningResult
from ..session.shipped_kernels import comparison
from ..support.json_records import Document
from ..support.output_files import write_output
from ..support.progress import ProgressLine
from .common import format_table
from .json_output import emit
from .program_inputs import argument_values, load_inputs
from .shipped import find_kernel
from .tune_arguments import SAMPLE, TILE_SEARCH
from .tune_cluster import tune_in_cluster

INTERRUPTED = 130
"""The exit code of a search that Ctrl-C has ended with what it had found."""

_NOTHING = "interrupted before anything was found"


@dataclass(frozen=True)
class TuneDocument(Document):
    """Result of `loopwright tune`."""

    document: ClassVar[str] = "tune"

    function: Annotated[str, "the name of the function"]
    bound: Annotated[float | None, "seconds after which the program as written was ended"]
    result: Annotated[TuningResult, "what was found"]


@dataclass(frozen=True)
class TileDocument(Document):
    """Result of `loopwright tune --tiles`."""

    document: ClassVar[str] = "tune-tiles"

    function: Annotated[str, "the name of the function"]
    tiling: Annotated[str, "the schedule with named tile sizes"]
    sizes: Annotated[Mapping[str, int], "the best tile sizes"]
    seconds: Annotated[float, "of a call with these sizes"]
    schedule: Annotated[str, "the schedule with these sizes as constants"]
    speedup: Annotated[float | None, "of that over the program as written"]
    default: Annotated[float | None, "the speed-up of the default schedule"]
    measured: Annotated[int, "combinations of sizes that were run"]
    combinations: Annotated[int, "combinations that there are"]
    elapsed: Annotated[float, "seconds of the search"]
    ended: Annotated[str, "done, time or interrupted"]
    bound: Annotated[float | None, "seconds after which the program as written was ended"]


def run_search(
    arguments: argparse.Namespace, function: Function, budget: float | None, name: str | None
) -> int:
    """Searches, and prints and writes what was found."""
    line = ProgressLine()
    options = TuningOptions(
        budget,
        arguments.threads,
        arguments.fast_math,
        arguments.model or DEFAULT_MODEL,
        name,
        arguments.space or TuningOptions.space,
        TuningOptions.beam if arguments.beam is None else arguments.beam,
        arguments.seed,
        not arguments.forget,
        lambda progress: line.update(_text(progress, budget)),
        arguments.rank or DEFAULT_RANKER,
        arguments.interchange,
        not arguments.no_runs,
    )
    values = argument_values(arguments, function, load_inputs(arguments))
    entry = find_kernel(arguments.file)
    compared = None if entry is None else comparison(entry, function, values)
    if arguments.cluster_folder is not None:
        return tune_in_cluster(arguments, function, values, options, compared, line)
    with line:
        try:
            result = tune(function, values, options, compared)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_NOTHING) from None
    print(_describe(result))
    emit(TuneDocument(function.name, result.bound, tuning_result(result)))
    if arguments.plot is not None:
        _plot(function, result, Path(arguments.plot))
    if arguments.output is not None:
        _write(result.best, arguments.output)
    return INTERRUPTED if result.ended == "interrupted" else 0


def run_tiles(arguments: argparse.Namespace, function: Function, budget: float | None) -> int:
    """Tunes tile sizes, and prints and writes what was found."""
    line = ProgressLine(0)
    options = TileOptions(
        arguments.pipeline,
        (SAMPLE if arguments.sample is None else arguments.sample) / 100,
        arguments.tile_search or TILE_SEARCH,
        budget,
        arguments.threads,
        arguments.fast_math,
        arguments.seed,
        not arguments.forget,
        lambda progress: line.update(
            f"runs, best {format_seconds(progress.best)}", progress.measured, progress.planned
        ),
    )
    values = argument_values(arguments, function, load_inputs(arguments))
    with line:
        try:
            result = tune_tiles(function, values, options)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{_NOTHING}; started again, it goes on from here") from None
    print(_describe_tiles(result))
    emit(
        TileDocument(
            function.name,
            str(result.tiling),
            result.sizes,
            result.seconds,
            str(result.schedule),
            result.speedup,
            result.default,
            result.measured,
            result.combinations,
            result.elapsed,
            result.ended,
            result.bound,
        )
    )
    if arguments.output is not None:
        _write(result.schedule, arguments.output)
    return INTERRUPTED if result.ended == "interrupted" else 0


def _plot(function: Function, result: Result, file: Path) -> None:
    drawing, ((axes,),) = plots.figure(1)
    series = {
        "predicted": [step.predicted for step in result.path],
        "measured": [step.measured for step in result.path],
    }
    known = {name: values for name, values in series.items() if any(values)}
    steps = [step.step for step in result.path]
    plots.draw_path(axes, steps, known, f"{function.name}: speed-up over the program as written")
    plots.write(drawing, file)


def _write(schedule: Schedule, file: str) -> None:
    # A format string would print the name of the class around it.
    write_output(file, str(to_sequence(schedule)) + "\n")


def _text(progress: Progress, budget: float | None) -> str:
    """How far a search is, how fast, and how long it will take at most."""
    seconds = max(progress.seconds, 1e-3)
    runs = f", {progress.measurements} runs" if progress.measurements else ""
    left = "" if budget is None else f", {max(0.0, budget - seconds):.0f} s left"
    return (
        f"{progress.candidates} schedules ({progress.candidates / seconds:.0f}/s){runs}, "
        f"best {progress.speedup:.2f}x{left}"
    )


def _describe_tiles(result: TileResult) -> str:
    sizes = ", ".join(f"{name}={size}" for name, size in result.sizes.items())
    lines = [
        f"tiling: {result.tiling}",
        f"best sizes: {sizes}: {format_seconds(result.seconds)}",
        f"{result.measured} of {result.combinations} combinations measured in "
        f"{result.elapsed:.1f} s{_ENDS[result.ended]}",
    ]
    if result.speedup is not None and result.default is not None:
        lines.append(
            f"as constants: {result.speedup:.2f}x over the program as written; "
            f"the default schedule: {result.default:.2f}x"
        )
        if result.speedup <= result.default:
            lines.append("these sizes are not kept for schedule='auto': default is faster")
    if result.ended != "done":
        lines.append("started again, it goes on from here")
    return "\n".join([*lines, f"{_bound(result)}{result.schedule}"])


def _bound(result: Result | TileResult) -> str:
    """What to know of the speed-ups where the program as written was ended: a line, or nothing."""
    if result.bound is None:
        return ""
    return (
        f"as written, the program takes more than {format_seconds(result.bound)}: measured "
        "speed-ups are over that, and results were compared with the default schedule's\n"
    )


_ENDS = {"done": "", "time": ", the budget is spent", "interrupted": ", interrupted"}


def _describe(result: Result) -> str:
    rows = [["step", "predicted", "measured"]]
    for step in result.path:
        cells = (f"{s:.2f}x" if s is not None else "-" for s in (step.predicted, step.measured))
        rows.append([step.step, *cells])
    compared = ""
    if result.default and result.measured:
        compared = f", {result.measured / result.default:.2f}x over the default schedule"
    remarks = "".join(f"{remark}\n" for remark in result.remarks)
    return (
        f"{format_table(rows, numbers=True)}\n\n"
        f"{result.candidates} schedules, {result.predictions} predictions, "
        f"{result.measurements} measurements in {result.seconds:.1f} s"
        f"{_ENDS[result.ended]}{compared}\n"
        f"{remarks}{_bound(result)}"
        f"{str(result.best) or 'as written'}"
    )
