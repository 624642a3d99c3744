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
from pathlib import Path
from typing import TYPE_CHECKING

from ..costmodel.model_names import DEFAULT_MODEL, DEFAULT_RANKER, INTERCHANGE_MODEL
from ..passes.search.names import (
    BEAM,
    GUIDED,
    SPACES,
    WIDEST_BEAM,
    search_names,
    tile_search_names,
)
from . import UsageError
from .common import (
    add_program_arguments,
    add_quiet_argument,
    add_run_arguments,
    check_output,
    check_seed,
    check_threads,
    one_function,
    parse_time,
)
from .file_arguments import WrittenFile
from .job_array import add_cluster_arguments, print_job_script
from .shipped import add_size_argument
from .tune_arguments import LEASE, SAMPLE, TILE_SEARCH, add_searches_argument, check_cluster

if TYPE_CHECKING:
    from ..passes.search.algorithm import SearchKind

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
        choices=SPACES,
        help="the search space: LOOPer's, or the full one (default: full)",
    )
    parser.add_argument(
        "--interchange",
        metavar="NAME",
        help=f"the model that chooses interchanges, such as {INTERCHANGE_MODEL} (default: try all)",
    )
    parser.add_argument("--beam", type=int, help=f"schedules kept per level (default: {BEAM})")
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
        help=f"share of all combinations to run, besides {GUIDED} more (default: {SAMPLE:g})",
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
    from .tune_run import run_search, run_tiles

    if arguments.tiles:
        return run_tiles(arguments, function, budget)
    return run_search(arguments, function, budget, search_name(arguments))


def _check(arguments: argparse.Namespace) -> None:
    name = search_name(arguments)
    if arguments.search not in (None, name):
        raise UsageError(
            f"--rank and --registers are searches: leave out --search {arguments.search}"
        )
    kind = None if name is None else _find_search(name)
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
        from ..runtime.bench import plots

        try:
            plots.check_plot(Path(arguments.plot))
        except plots.PlottingError as error:
            raise UsageError(str(error)) from error
    if arguments.beam is not None and not 1 <= arguments.beam <= WIDEST_BEAM:
        raise UsageError(f"--beam must be between 1 and {WIDEST_BEAM}, got {arguments.beam}")


def _find_search(name: str) -> SearchKind:
    from ..passes.search.searches import find_search

    return find_search(name)


def search_name(arguments: argparse.Namespace) -> str | None:
    """The search that the options mean; None for the usual one."""
    wanted = arguments.rank is not None, arguments.registers
    return COMBINED.get(wanted, arguments.search)
