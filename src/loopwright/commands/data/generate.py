"""Labels random programs until there are as many as wanted."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ...costmodel.factory import WORKLOADS, RandomWorkload, SeededWorkload
from ...costmodel.labels import TOO_MUCH_MEMORY, LabelledProgram
from ...runtime.labelling.fingerprint import machine_fingerprint
from ...runtime.labelling.local import label_here
from ...runtime.labelling.messages import Policy
from .. import UsageError
from .common import add_measuring_arguments, measuring_policy
from .progress import Progress

if TYPE_CHECKING:
    from ...costmodel.dataset.store import Writer

INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much to label, of what, where, and how to measure."""
    parser.add_argument("--programs", type=int, required=True, metavar="N", help="how many in all")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="other programs (0)")
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, required=True, help="where labels are added"
    )
    parser.add_argument(
        "--workload",
        choices=WORKLOADS,
        default=RandomWorkload.origin,
        help="random schedules, or every interchange of two loops of programs of one nest",
    )
    parser.add_argument(
        "--schedules",
        metavar="A,B",
        help="of each random program at least and at most, where there are as many (32,128)",
    )
    add_measuring_arguments(parser)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster: tcp://host:8786")


def run(arguments: argparse.Namespace) -> int:
    """Labels what is not labelled yet."""
    from ...costmodel.dataset.store import Writer, known_seeds

    policy = measuring_policy(arguments, is_remote=arguments.scheduler is not None)
    workload = _workload(arguments, policy.threads)
    if arguments.programs < 1:
        raise UsageError(f"--programs must be positive, got {arguments.programs}")
    machine = None if arguments.scheduler else machine_fingerprint()
    known = known_seeds(arguments.output, machine)
    items = [item for item in range(arguments.programs) if workload.identity(item) not in known]
    if len(items) < arguments.programs:
        print(f"{arguments.programs - len(items)} programs are labelled already", file=sys.stderr)
    progress = Progress(len(items))
    kinds: Counter[str] = Counter()
    stages: Counter[str] = Counter()
    interrupted = False
    labels = _labels(workload, policy, items, arguments)
    with Writer(arguments.output) as writer, closing(labels):
        progress.show()
        try:
            for labelled in labels:
                _store(arguments.output, writer, labelled, kinds)
                stages.update(labelled.stages)
                mistakes = sum(incident.is_mistake for incident in labelled.incidents)
                progress.advance(len(labelled.labels), mistakes)
        except KeyboardInterrupt:
            interrupted = True
    progress.clear()
    print(f"{progress.pairs} pairs in {progress.seconds:.0f} s: {progress.rate:.1f} pairs/s")
    if progress.pairs:
        print(_describe(stages, progress.pairs))
    if TOO_MUCH_MEMORY in kinds:
        count = kinds.pop(TOO_MUCH_MEMORY)
        print(f"{count} schedules failed: they need more memory than --memory gives a process")
    for kind, count in sorted(kinds.items()):
        print(f"{count} x {kind}: see {arguments.output / 'incidents'}")
    if interrupted:
        print("interrupted; the same command goes on here", file=sys.stderr)
    return INTERRUPTED if interrupted else 0


def _workload(arguments: argparse.Namespace, threads: int) -> SeededWorkload:
    if arguments.workload == RandomWorkload.origin:
        return RandomWorkload(arguments.seed, *_schedules(arguments.schedules), threads)
    if arguments.schedules is not None:
        raise UsageError(
            f"--schedules is for random ones: --workload {arguments.workload} labels all it has"
        )
    return WORKLOADS[arguments.workload](arguments.seed)


def _labels(
    workload: SeededWorkload, policy: Policy, items: Sequence[int], arguments: argparse.Namespace
) -> Generator[LabelledProgram]:
    if arguments.scheduler is None:
        return label_here(workload, policy, items, arguments.workers)
    from ...runtime.labelling.cluster import label_on_cluster

    return label_on_cluster(workload, policy, items, arguments.scheduler)


def _store(directory: Path, writer: Writer, labelled: LabelledProgram, kinds: Counter[str]) -> None:
    from ...costmodel.dataset.incidents import store_incident
    from ...costmodel.dataset.schema import rows_of

    writer.append(rows_of(labelled))
    for incident in labelled.incidents:
        kinds[incident.kind] += 1
        if incident.is_mistake:
            store_incident(directory, incident)


def _describe(stages: Mapping[str, float], pairs: int) -> str:
    """Where the time went: milliseconds per pair."""
    parts = sorted(stages.items(), key=lambda part: -part[1])
    each = ", ".join(f"{name} {1e3 * seconds / pairs:.1f}" for name, seconds in parts)
    return f"ms per pair, in processes that run side by side: {each}"


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
