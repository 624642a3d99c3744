"""Shared by the actions of `loopwright data`."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path

from ...runtime.labelling.policy import Policy
from .. import UsageError
from ..common import add_fast_math_argument, add_quiet_argument

LEAST_MEMORY = 0.5
"""GiB: what a process needs to start, and a little more."""


def add_directory(parser: argparse.ArgumentParser) -> None:
    """The argument `DIR`."""
    parser.add_argument("directory", metavar="DIR", type=Path, help="a directory of labels")


def add_measuring_arguments(parser: argparse.ArgumentParser) -> None:
    """How to compile and measure."""
    parser.add_argument(
        "-t",
        "--threads",
        type=int,
        metavar="T",
        help="threads of parallel loops (default: all CPUs)",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="compiling processes (default: one per CPU)"
    )
    parser.add_argument(
        "--cutoff",
        type=float,
        default=Policy.cutoff,
        metavar="F",
        help=f"censor schedules F times slower than the program (default: {Policy.cutoff:g})",
    )
    parser.add_argument(
        "--memory",
        type=float,
        default=Policy.memory / 2**30,
        metavar="GIB",
        help=f"memory limit of each process (default: {Policy.memory / 2**30:g})",
    )
    add_fast_math_argument(parser)
    add_quiet_argument(parser)


def measuring_policy(arguments: argparse.Namespace, *, is_remote: bool = False) -> Policy:
    """The policy that these arguments ask for; raises UsageError."""
    cpus = len(os.sched_getaffinity(0))
    threads = cpus if arguments.threads is None else arguments.threads
    if threads < 1 or (threads > cpus and not is_remote):
        raise UsageError(f"--threads must be between 1 and {cpus}, got {threads}")
    if not arguments.cutoff > 1:
        raise UsageError(f"--cutoff must be more than 1, got {arguments.cutoff:g}")
    if arguments.workers is not None and arguments.workers < 1:
        raise UsageError(f"--workers must be positive, got {arguments.workers}")
    if not LEAST_MEMORY <= arguments.memory < math.inf:
        raise UsageError(f"--memory must be at least {LEAST_MEMORY} GiB, got {arguments.memory:g}")
    return Policy(
        threads=threads,
        cutoff=arguments.cutoff,
        memory=int(arguments.memory * 2**30),
        fast_math=arguments.fast_math,
    )
