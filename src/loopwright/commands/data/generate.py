"""Labels random programs until there are as many as wanted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Sequence
from pathlib import Path

from ...costmodel.find import find_model
from ...costmodel.labelled_data import (
    RandomWorkload,
    SearchedWorkload,
    SeededWorkload,
    find_workload,
    workload_names,
)
from ...costmodel.labels import LabelledProgram
from ...runtime.labelling.local import label_here
from ...runtime.labelling.policy import Policy
from ...runtime.machine.machine_fingerprint import machine_fingerprint
from ...support.shared_work import LEASE
from .. import UsageError
from ..common import check_seed
from ..job_array import add_cluster_arguments, print_job_script
from .cluster import work_in_cluster
from .common import add_measuring_arguments, measuring_policy
from .labelling import label_and_store

MOST_PROGRAMS = 10_000_000
"""What one command can keep in mind."""

DASK = "dask"
"""What `--cluster` may name besides job arrays: a Dask cluster that runs already."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much to label, of what, where, and how to measure."""
    parser.add_argument(
        "--programs", type=int, required=True, metavar="N", help="total number of programs"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of the programs (default: 0)"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        required=True,
        help="directory that labels are added to",
    )
    parser.add_argument(
        "--workload",
        choices=workload_names(),
        default=RandomWorkload.origin,
        help="random schedules; schedules found by a model-guided search, of all programs or of "
        "contractions; the data sets of papers",
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        help=f"model of the searches, a name or file (default: {SearchedWorkload.model})",
    )
    parser.add_argument(
        "--schedules",
        metavar="A,B",
        help="least and largest number of schedules per random program (default: 32,128)",
    )
    add_measuring_arguments(parser)
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="scheduler of a Dask cluster: tcp://host:8786"
    )
    add_cluster_arguments(parser, LEASE, (DASK,))


def run(arguments: argparse.Namespace) -> int:
    """Labels what is not labelled yet."""
    from ...costmodel.dataset.store import known_seeds

    policy = measuring_policy(arguments, is_remote=arguments.scheduler is not None)
    check_seed(arguments.seed)
    workload = _workload(arguments, policy.threads)
    if not 1 <= arguments.programs <= MOST_PROGRAMS:
        raise UsageError(
            f"--programs must be between 1 and {MOST_PROGRAMS}, got {arguments.programs}"
        )
    if arguments.cluster == DASK and arguments.scheduler is None:
        raise UsageError(f"--cluster {DASK} needs the address of its scheduler; add --scheduler")
    if print_job_script(arguments):
        return 0
    if arguments.cluster_folder is not None:
        return work_in_cluster(arguments, workload, policy)
    machine = None if arguments.scheduler else machine_fingerprint()
    known = known_seeds(arguments.output, machine, fast_math=policy.fast_math)
    items = [item for item in range(arguments.programs) if workload.identity(item) not in known]
    if len(items) < arguments.programs:
        print(f"{arguments.programs - len(items)} programs are labelled already", file=sys.stderr)
    return label_and_store(
        _labels(workload, policy, items, arguments),
        len(items),
        arguments.output,
        fast_math=policy.fast_math,
    )


def _workload(arguments: argparse.Namespace, threads: int) -> SeededWorkload:
    kind = find_workload(arguments.workload)
    if arguments.model is not None and not issubclass(kind, SearchedWorkload):
        raise UsageError(
            "--model is for --workload searched and contraction: other workloads ask no model"
        )
    if arguments.workload == RandomWorkload.origin:
        return RandomWorkload(arguments.seed, *_schedules(arguments.schedules), threads)
    if arguments.schedules is not None:
        raise UsageError(
            f"--schedules is for --workload random: {arguments.workload} has its own number of them"
        )
    if issubclass(kind, SearchedWorkload):
        model = arguments.model or SearchedWorkload.model
        find_model(model)  # raises here, and not in the processes that need it
        return kind(arguments.seed, threads, model)
    return kind(arguments.seed)


def _labels(
    workload: SeededWorkload, policy: Policy, items: Sequence[int], arguments: argparse.Namespace
) -> Generator[LabelledProgram]:
    if arguments.scheduler is None:
        return label_here(workload, policy, items, arguments.workers)
    from ...runtime.labelling.cluster import label_on_cluster

    return label_on_cluster(workload, policy, items, arguments.scheduler)


def _schedules(text: str | None) -> tuple[int, int]:
    if text is None:
        return RandomWorkload.fewest, RandomWorkload.most
    parts = text.split(",")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise UsageError(f"--schedules expects two numbers such as 32,128, got '{text}'")
    fewest, most = map(int, parts)
    if not 1 <= fewest <= most:
        raise UsageError(f"--schedules must be in order and positive, got '{text}'")
    return fewest, most
