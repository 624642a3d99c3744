"""Adapts a cost model to this machine by labelling random programs for some minutes.

Searches that ask for the model by its name use the adapted one from then on; it is not written if
its error (MAPE) on programs that it was not adapted with is larger. Ctrl-C keeps the labels made so
far, and the same command goes on; again later, it adds to those that it has.

examples:
  loopwright calibrate
  loopwright calibrate --budget 10m --model additive
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..costmodel.adapted import models_directory
from ..costmodel.model_names import DEFAULT_MODEL, SHIPPED, SUFFIX
from . import UsageError
from .common import check_output, parse_time
from .data.common import add_measuring_arguments, measuring_policy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which model, for how long, where to."""
    parser.add_argument(
        "--model",
        default=DEFAULT_MODEL,
        metavar="NAME",
        help=f"the model to adapt (default: {DEFAULT_MODEL})",
    )
    parser.add_argument(
        "-b",
        "--budget",
        default="5m",
        metavar="TIME",
        help="time for labelling: 90s, 10m (default: 5m)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write the adapted model to another file"
    )
    add_measuring_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Labels, learns, writes the model."""
    budget = parse_time(arguments.budget)
    folder = models_directory()
    if folder is None:
        raise UsageError("LOOPWRIGHT_MODELS is off: there is no place for labels and models")
    path = SHIPPED / f"{arguments.model}{SUFFIX}"
    if not path.exists():
        names = ", ".join(sorted(file.stem for file in SHIPPED.glob(f"*{SUFFIX}")))
        raise UsageError(f"there is no shipped model '{arguments.model}'; there are {names}")
    if arguments.output is not None:
        check_output(arguments.output, is_replaced=True)
    policy = measuring_policy(arguments)
    from .calibrate_run import calibrate

    return calibrate(path, folder, arguments.output, budget, policy, arguments.workers)
