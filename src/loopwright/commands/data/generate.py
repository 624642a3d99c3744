"""Labels random programs until there are as many as wanted."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from ...costmodel.factory import RandomWorkload
from ...costmodel.labels import LabelledProgram
from ...runtime.labelling.fingerprint import machine_fingerprint
from ...runtime.labelling.messages import Policy
from .. import UsageError
from .progress import Progress

INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much to label, of what, where, and how to measure."""
    parser.add_argument("--programs", type=int, required=True, metavar="N", help="how many in all")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="other programs (0)")
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, required=True, help="where labels are added"
    )
    parser.add_argument(
        "--schedules",
        default="32,128",
        metavar="A,B",
        help="of each program at least and at most, where there are as many (32,128)",
    )
    parser.add_argument(
        "-t", "--threads", type=int, metavar="T", help="of parallel loops (default: all CPUs)"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="compiling processes (default: one per CPU)"
    )
    parser.add_argument(
        "--cutoff",
        type=float,
        default=Policy.cutoff,
        metavar="F",
        help=f"censor what is F times slower than the program itself ({Policy.cutoff:g})",
    )
    parser.add_argument(
        "--memory",
        type=float,
        default=Policy.memory / 2**30,
        metavar="GIB",
        help=f"most of each process ({Policy.memory / 2**30:g})",
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster: tcp://host:8786")


def run(arguments: argparse.Namespace) -> int:
    """Labels what is not labelled yet."""
    from ...costmodel.dataset.store import Writer, known_seeds

    policy = _policy(arguments)
    fewest, most = _schedules(arguments.schedules)
    workload = RandomWorkload(arguments.seed, fewest, most, policy.threads)
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
    with (
        Writer(arguments.output) as writer,
        closing(_labels(workload, policy, items, arguments)) as labels,
    ):
        progress.show()
        try:
            for labelled in labels:
                _store(arguments.output, writer, labelled, kinds)
                stages.update(labelled.stages)
                progress.advance(len(labelled.labels), len(labelled.incidents))
        except KeyboardInterrupt:
            interrupted = True
    progress.clear()
    print(f"{progress.pairs} pairs in {progress.seconds:.0f} s: {progress.rate:.1f} pairs/s")
    if progress.pairs:
        print(_describe(stages, progress.pairs))
    for kind, count in sorted(kinds.items()):
        print(f"{count} x {kind}: see {arguments.output / 'incidents'}")
    if interrupted:
        print("interrupted; the same command goes on here", file=sys.stderr)
    return INTERRUPTED if interrupted else 0


def _describe(stages: Mapping[str, float], pairs: int) -> str:
    """Where the time went: milliseconds per pair."""
    parts = sorted(stages.items(), key=lambda part: -part[1])
    each = ", ".join(f"{name} {1e3 * seconds / pairs:.1f}" for name, seconds in parts)
    return f"ms per pair, in processes that run side by side: {each}"


def _store(directory: Path, writer: object, labelled: LabelledProgram, kinds: Counter[str]) -> None:
    from ...costmodel.dataset.incidents import store_incident
    from ...costmodel.dataset.schema import rows_of
    from ...costmodel.dataset.store import Writer

    assert isinstance(writer, Writer)
    writer.append(rows_of(labelled))
    for incident in labelled.incidents:
        store_incident(directory, incident)
        kinds[incident.kind] += 1


def _labels(
    workload: RandomWorkload, policy: Policy, items: Sequence[int], arguments: argparse.Namespace
) -> Iterator[LabelledProgram]:
    if arguments.scheduler is not None:
        from ...runtime.labelling.cluster import label_on_cluster

        yield from label_on_cluster(workload, policy, items, arguments.scheduler)
        return
    from ...runtime.labelling.station import Station

    cpus = sorted(os.sched_getaffinity(0))
    with Station(workload, policy, compilers=arguments.workers) as station:
        if len(cpus) > 1:
            # What this process does must not disturb what is measured on the last CPU.
            os.sched_setaffinity(0, cpus[:-1])
        try:
            yield from station.label(items)
        finally:
            os.sched_setaffinity(0, cpus)


def _policy(arguments: argparse.Namespace) -> Policy:
    cpus = len(os.sched_getaffinity(0))
    threads = cpus if arguments.threads is None else arguments.threads
    if not 1 <= threads <= cpus and not arguments.scheduler:
        raise UsageError(f"--threads must be between 1 and {cpus}, got {threads}")
    if arguments.cutoff <= 1:
        raise UsageError(f"--cutoff must be more than 1, got {arguments.cutoff:g}")
    if arguments.workers is not None and arguments.workers < 1:
        raise UsageError(f"--workers must be positive, got {arguments.workers}")
    return Policy(threads=threads, cutoff=arguments.cutoff, memory=int(arguments.memory * 2**30))


def _schedules(text: str) -> tuple[int, int]:
    parts = text.split(",")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise UsageError(f"--schedules expects two numbers such as 32,128, got '{text}'")
    fewest, most = map(int, parts)
    if not 1 <= fewest <= most:
        raise UsageError(f"--schedules must be in order and positive, got '{text}'")
    return fewest, most
