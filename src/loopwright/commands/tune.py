"""Searches for the fastest schedule of a program for given sizes.

A cost model proposes schedules; with --budget, the most promising are run on random or given
inputs, in processes of their own, and compared with the program as written. Without it, or with
--no-runs, nothing is run. The table shows the way to the schedule that was chosen: its steps, and
the speed-up over the program as written with all steps up to each, as predicted and as measured.
Ctrl-C ends the search with the best schedule so far.

With --registers, an agent learns how many iterations of the innermost loops to keep in registers
together; it runs a tenth of the possibilities, or as many as the budget allows.
With --tiles, only tile sizes are tuned: the program is compiled once, with sizes that are given at
run time, in a tiling of its deepest bands, all with the same sizes, or the one of -p, whose sizes
have names. A share of all combinations is run, chosen by a Gaussian process (or the network of the
literature, or at random). Interrupted, it goes on where it was when it is started again.

With --cluster-folder, searches with several seeds are shared with all who run the same command on
any machine that sees the folder; --cluster prints the job array for that.

examples:
  loopwright tune polybench/gemm --size LARGE --budget 20s -o gemm-schedule.mlir
  loopwright tune polybench/2mm --size LARGE
  loopwright tune blur.mlir --set n=1000 --budget 2m --threads 4
  loopwright tune gemm/gemm --size 128x2048x4096 --rank --budget 30s --threads 1
  loopwright tune gemm/gemm --size SMALL --threads 1 --registers
  loopwright tune gemm/gemm --size 84x1024x4096 --rank --registers --threads 1
  loopwright tune polybench/gemm --tiles --threads 1
  loopwright tune polybench/gemm --size LARGE --budget 5m --cluster-folder shared --searches 64
  loopwright tune lu.mlir --set n=600 --tiles -p 'affine-schedule,tile{loops=k,i,j sizes=Tk,Ti,Tj}'
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..costmodel.find import DEFAULT_RANKER, INTERCHANGE_MODEL
from ..costmodel.model_names import DEFAULT_MODEL
from ..passes.schedules.schedule import Schedule
from ..passes.search.beam import WIDEST_BEAM
from ..passes.search.result import Progress, Result
from ..passes.search.searches import find_search, search_names
from ..passes.search.space.stages import SPACES
from ..passes.search.tile_size_search import CHOSEN, tile_search_names
from ..passes.syntax.schedule_ops import to_sequence
from ..runtime.bench import plots
from ..runtime.calling.ranges import MOST_SECONDS
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
from . import UsageError
from .common import (
    add_program_arguments,
    add_quiet_argument,
    add_run_arguments,
    check_output,
    check_seed,
    check_threads,
    format_table,
    one_function,
)
from .file_arguments import WrittenFile
from .job_array import add_cluster_arguments, print_job_script
from .json_output import emit
from .program_inputs import argument_values, load_inputs
from .shipped import add_size_argument, find_kernel
from .tune_cluster import LEASE, add_searches_argument, check_cluster, tune_in_cluster

COMBINED = {
    (True, False): "ranked",
    (False, True): "registers",
    (True, True): "ranked-registers",
}
"""The search that `--rank` and `--registers` mean."""

NOT_FOR_TILES = (
    *(
        "search",
        "rank",
        "registers",
        "interchange",
        "model",
        "space",
        "beam",
        "plot",
        "cluster_folder",
    ),
)
"""Options that mean nothing where only tile sizes are tuned."""

TILE_SEARCH = "guided"
"""How tile sizes are chosen, when nothing is said."""

SAMPLE = 1.0
"""Percent of all combinations of tile sizes that are run, when nothing is said."""

_NOTHING = "interrupted before anything was found"

UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright tune`."""
    add_program_arguments(parser)
    add_size_argument(parser)
    add_run_arguments(parser)
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument(
        "-b", "--budget", metavar="TIME", help="time for searching and running: 2s, 5m"
    )
    budget.add_argument("--seconds", metavar="S", help="the budget in seconds")
    parser.add_argument(
        "--no-runs",
        action="store_true",
        help="search with the model alone, within the budget if there is one",
    )
    parser.add_argument(
        "--model", metavar="NAME", help=f"the cost model (default: {DEFAULT_MODEL})"
    )
    parser.add_argument(
        "--search",
        choices=search_names(),
        help="the search algorithm (default: hybrid with a budget for runs, else beam)",
    )
    parser.add_argument(
        "--rank",
        nargs="?",
        const=DEFAULT_RANKER,
        metavar="MODEL",
        help="two-level tiling, ranked by a pairwise model; with a budget, the best tenth is run "
        f"(default: {DEFAULT_RANKER})",
    )
    parser.add_argument(
        "--registers",
        action="store_true",
        help="learn register tiles; with --rank, those of its fastest tiling",
    )
    parser.add_argument(
        "--space",
        choices=tuple(SPACES),
        help="the search space: LOOPer's, or the full one (default: full)",
    )
    parser.add_argument(
        "--interchange",
        metavar="NAME",
        help=f"the model that chooses interchanges, such as {INTERCHANGE_MODEL} (default: try all)",
    )
    parser.add_argument(
        "--beam", type=int, help=f"schedules kept per level (default: {TuningOptions.beam})"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    parser.add_argument(
        "--forget",
        action="store_true",
        help="neither read nor write the tuning database",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=WrittenFile, help="write the schedule to a file"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=WrittenFile,
        help="draw the speed-ups of the steps (.png, .svg or .pdf)",
    )
    tiles = parser.add_argument_group("tile sizes")
    tiles.add_argument("--tiles", action="store_true", help="tune tile sizes alone")
    tiles.add_argument(
        "-p", "--pipeline", metavar="PASSES", help="a schedule with named tile sizes, for --tiles"
    )
    tiles.add_argument(
        "--sample",
        type=float,
        metavar="PERCENT",
        help=f"share of all combinations to run, besides {CHOSEN} more (default: {SAMPLE:g})",
    )
    tiles.add_argument(
        "--tile-search",
        choices=tile_search_names(),
        help=f"how to choose what to run (default: {TILE_SEARCH})",
    )
    add_cluster_arguments(parser, LEASE)
    add_searches_argument(parser)
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Searches, and prints and writes what was found."""
    option = "--budget" if arguments.seconds is None else "--seconds"
    arguments.budget = arguments.budget or arguments.seconds
    _check(arguments)
    if print_job_script(arguments):
        return 0
    budget = None if arguments.budget is None else parse_time(arguments.budget, option)
    function = one_function(arguments)
    if arguments.tiles:
        return _run_tiles(arguments, function, budget)
    line = ProgressLine()
    options = TuningOptions(
        budget,
        arguments.threads,
        arguments.fast_math,
        arguments.model or DEFAULT_MODEL,
        _search_name(arguments),
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
    return 0


def _run_tiles(arguments: argparse.Namespace, function: Function, budget: float | None) -> int:
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
    return 0


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


def _check(arguments: argparse.Namespace) -> None:
    name = _search_name(arguments)
    if arguments.search not in (None, name):
        raise UsageError(
            f"--rank and --registers are searches: leave out --search {arguments.search}"
        )
    kind = None if name is None else find_search(name)
    if arguments.tiles:
        way, options = "tunes nothing but tile sizes", NOT_FOR_TILES
    else:
        way, options = ("", ()) if kind is None else (kind.way, kind.ignores)
    unused = (option for option in options if getattr(arguments, option))
    other = [f"--{option.replace('_', '-')}" for option in unused]
    if other:
        given = [each for each in ("tiles", "rank", "registers") if getattr(arguments, each)]
        chosen = given[0] if given else f"search {name}"
        raise UsageError(f"--{chosen} {way}: leave out {' and '.join(other)}")
    if arguments.pipeline is not None and not arguments.tiles:
        raise UsageError("-p gives the tiling for --tiles; add that")
    for option in ("sample", "tile_search"):
        if getattr(arguments, option) is not None and not arguments.tiles:
            raise UsageError(f"--{option.replace('_', '-')} is for --tiles; add that")
    if arguments.sample is not None and not 0 < arguments.sample <= 100:
        raise UsageError(f"--sample must be above 0 and at most 100, got {arguments.sample:g}")
    needs_runs = arguments.tiles or (kind is not None and kind.runs != "at the end")
    if arguments.no_runs and needs_runs:
        raise UsageError("--no-runs is for searches by model, such as beam")
    if arguments.budget is None and kind is not None and kind.runs == "within a budget":
        raise UsageError(f"--search {arguments.search} runs candidates: say how long with --budget")
    check_cluster(arguments)
    check_threads(arguments.threads)
    check_seed(arguments.seed)
    if arguments.output is not None:
        check_output(Path(arguments.output))
    if arguments.plot is not None:
        try:
            plots.check_plot(Path(arguments.plot))
        except plots.PlottingError as error:
            raise UsageError(str(error)) from error
    if arguments.beam is not None and not 1 <= arguments.beam <= WIDEST_BEAM:
        raise UsageError(f"--beam must be between 1 and {WIDEST_BEAM}, got {arguments.beam}")


def _search_name(arguments: argparse.Namespace) -> str | None:
    """The search that the options mean; None for the usual one."""
    wanted = arguments.rank is not None, arguments.registers
    return COMBINED.get(wanted, arguments.search)


def parse_time(text: str, option: str = "--budget") -> float:
    """Seconds from `2s`, `5m`, `1.5h`, `300ms` or a number; raises UsageError."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)(ms|s|m|h|)", text)
    if match is None or not float(match[1]):
        raise UsageError(f"{option} expects a time such as 2s, 5m or 300ms, got '{text}'")
    seconds = float(match[1]) * UNITS[match[2]]
    if seconds > MOST_SECONDS:
        raise UsageError(f"{option} must be at most {MOST_SECONDS} seconds, got '{text}'")
    return seconds


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
