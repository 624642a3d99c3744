"""Several at once: writers, threads, children of every kind, a Dask worker that is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from random import Random

import numpy as np

import loopwright
from loopwright.runtime.kernel import Kernel

from .kills import is_stored
from .processes import Home, Running

TEXT = """
func.func @f(%n: index, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %w = arith.addf %v, %v : f64
    affine.store %w, %x[%i] : memref<?xf64>
  }
  return
}
"""

THREADS = 8

_WRITES = """
from support.faults.kills import writer
writes = [writer(what, {folder!r}) for what in ("database", "cache")]
for number in range({start}, {start} + {count}):
    for write in writes:
        write(number)
"""


def writers(processes: int) -> Callable[[Home, Random, int], Iterator[str]]:
    """So many processes write to one database and one cache; half of the entries are the same."""

    def check(home: Home, random: Random, times: int) -> Iterator[str]:
        starts = [number * times // 2 for number in range(processes)]
        programs = [
            _WRITES.format(folder=str(home.folder), start=start, count=times) for start in starts
        ]
        running = [Running(home, ["-c", program]) for program in programs]
        for each in running:
            yield from each.finished().problems([0])
        for what in ("database", "cache"):
            numbers = range(starts[-1] + times)
            lost = [n for n in numbers if not is_stored(what, home.folder, n)]
            if lost:
                yield f"{len(lost)} entries of the {what} lost"

    return check


def threads(home: Home, random: Random, times: int) -> Iterator[str]:
    """Threads call one kernel with sizes of their own, and compile others meanwhile."""
    shared = compiled()
    wrong: list[str] = []

    def work(number: int) -> None:
        try:
            for turn in range(times):
                kernel = compiled() if turn % 16 == 0 else shared
                if not doubles(kernel, 100 + 8 * (turn % 5) + number):
                    wrong.append("a wrong result")
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")

    started = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for each in started:
        each.start()
    for each in started:
        each.join()
    yield from wrong


def compiled(schedule: str = "parallel{loops=i}") -> Kernel:
    """A kernel that doubles, on two threads."""
    return loopwright.load(TEXT)["f"].compile(schedule, threads=2)


def doubles(kernel: Kernel, size: int) -> bool:
    """Whether it does."""
    values = np.arange(size, dtype=np.float64)
    kernel(size, values)
    return bool((values == 2 * np.arange(size)).all())


def children(method: str) -> Callable[[Home, Random, int], Iterator[str]]:
    """Children call the parent's kernel, and compile one, while a thread of the parent compiles."""

    def check(home: Home, random: Random, times: int) -> Iterator[str]:
        kernel = compiled()
        assert doubles(kernel, 1000)
        done = threading.Event()

        def compile_on() -> None:
            while not done.is_set():
                doubles(compiled(), 50)

        thread = threading.Thread(target=compile_on)
        thread.start()
        context = multiprocessing.get_context(method)
        try:
            for _ in range(times):
                child = context.Process(target=_child, args=(kernel,))
                child.start()
                child.join(120)
                if child.exitcode != 0:
                    yield f"a child ended with {child.exitcode}" if child.exitcode else "it hangs"
                    child.kill()
        finally:
            done.set()
            thread.join()

    return check


def _child(kernel: Kernel) -> None:
    fine = doubles(kernel, 1000) and doubles(kernel, 77) and doubles(compiled(), 500)
    os._exit(0 if fine else 3)


def lost_workers(home: Home, random: Random, times: int) -> Iterator[str]:
    """A Dask worker is killed at a random moment; all programs get their labels."""
    import distributed

    from loopwright.costmodel.labelled_data import RandomWorkload
    from loopwright.runtime.labelling.cluster import label_on_cluster
    from loopwright.runtime.labelling.policy import Policy

    policy = Policy(budget=0.002, enough=0.0005)
    for turn in range(times):
        items = range(12)
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster:
            address = cluster.scheduler_address
            killer = threading.Thread(target=_kill_one, args=(address, random.uniform(0.0, 8.0)))
            killer.start()
            labels = label_on_cluster(RandomWorkload(21 + turn, 1, 3), policy, items, address)
            found = {labelled.item for labelled in labels}
            killer.join()
        if found != set(items):
            yield f"{len(set(items) - found)} programs lost"


def _kill_one(address: str, seconds: float) -> None:
    import distributed

    with distributed.Client(address) as client:
        processes = client.run(os.getpid)
        time.sleep(seconds)
        os.kill(min(processes.values()), signal.SIGKILL)
