"""Defaults of `loopwright tune`, and its arguments for clusters."""

from __future__ import annotations

import argparse

from . import UsageError

LEASE = 60.0
"""Seconds without a heartbeat after which others take a search over."""

TILE_SEARCH = "guided"
"""How tile sizes are chosen, when nothing is said."""

SAMPLE = 1.0
"""Percent of all combinations of tile sizes that are run, when nothing is said."""


def add_searches_argument(parser: argparse.ArgumentParser) -> None:
    """The argument `--searches`."""
    parser.add_argument(
        "--searches",
        type=int,
        metavar="N",
        help="searches with seeds from --seed on, for --cluster-folder (default: 8)",
    )


def check_cluster(arguments: argparse.Namespace) -> None:
    """Raises UsageError."""
    if arguments.cluster_folder is None:
        if arguments.searches is not None:
            raise UsageError("--searches is for --cluster-folder; add that")
        return
    if arguments.budget is None or arguments.no_runs:
        raise UsageError("--cluster-folder is for searches that run candidates: give a --budget")
    if arguments.plot is not None:
        raise UsageError("--plot draws one search: leave it out, or --cluster-folder")
    if arguments.searches is not None and not 1 <= arguments.searches <= 1_000_000:
        raise UsageError(f"--searches must be between 1 and 1000000, got {arguments.searches}")
