"""Labels schedules of PolyBench's kernels: a test for cost models, never learned from."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ...costmodel.polybench import PolybenchWorkload
from ...runtime.labelling.local import label_here
from ...runtime.machine.machine_fingerprint import machine_fingerprint
from .. import UsageError
from .common import add_measuring_arguments, measuring_policy
from .labelling import label_and_store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many schedules, where, and how to measure."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        required=True,
        help="directory that labels are added to",
    )
    parser.add_argument(
        "--schedules",
        type=int,
        default=PolybenchWorkload.count,
        metavar="N",
        help=f"schedules per kernel (default: {PolybenchWorkload.count})",
    )
    add_measuring_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Labels the kernels that are not labelled on this machine yet."""
    from ...costmodel.dataset.store import known_seeds

    policy = measuring_policy(arguments)
    if arguments.schedules < 1:
        raise UsageError(f"--schedules must be positive, got {arguments.schedules}")
    workload = PolybenchWorkload(arguments.schedules, policy.threads)
    known = known_seeds(arguments.output, machine_fingerprint(), fast_math=policy.fast_math)
    items = [item for item in range(len(workload)) if workload.identity(item) not in known]
    if len(items) < len(workload):
        print(f"{len(workload) - len(items)} kernels are labelled already", file=sys.stderr)
    labels = label_here(workload, policy, items, arguments.workers)
    return label_and_store(labels, len(items), arguments.output, fast_math=policy.fast_math)
