"""Labelling on this machine."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable

from ...costmodel.labels import LabelledProgram, Workload
from .labelling_worker import LabellingWorker
from .policy import Policy


def label_here(
    workload: Workload, policy: Policy, items: Iterable[int], compilers: int | None = None
) -> Generator[LabelledProgram]:
    """The labels of all programs, in order; closing the generator ends the processes.

    Meanwhile this process keeps off the last of its CPUs, which measures.
    """
    cpus = sorted(os.sched_getaffinity(0))
    with LabellingWorker(workload, policy, compilers=compilers) as worker:
        if len(cpus) > 1:
            os.sched_setaffinity(0, cpus[:-1])
        try:
            yield from worker.label(items)
        finally:
            os.sched_setaffinity(0, cpus)
