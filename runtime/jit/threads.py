"""The OpenMP thread team: execution on each thread, and pinning to CPUs."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache

from ..calling.errors import TooManyThreads
from .openmp import imports, library

_Task = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def default_threads() -> int:
    """The default number of threads of a parallel loop."""
    runtime = library()
    return 1 if runtime is None else runtime.omp_get_max_threads()


@cache
def check_threads(threads: int) -> None:
    """Tries out whether the system gives this process so many threads; raises TooManyThreads.

    The OpenMP runtime would end the process. What it needs besides is left to it.
    """
    gate = threading.Event()
    started: list[threading.Thread] = []
    spare = threads // 8
    try:
        for _ in range(threads + spare - 1):
            thread = threading.Thread(target=gate.wait, daemon=True)
            thread.start()
            started.append(thread)
    except (RuntimeError, MemoryError) as error:
        raise TooManyThreads(
            f"the system does not give this process {threads} threads; "
            f"ask for at most {max(1, len(started) + 1 - spare)}"
        ) from error
    finally:
        gate.set()
        for thread in started:
            thread.join()


def run_in_team(threads: int, task: Callable[[], object]) -> None:
    """Calls `task` once in each of the OpenMP threads that run a parallel loop of this thread."""
    if threads == 1:
        task()
        return
    parallel = ctypes.CFUNCTYPE(None, _Task, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)(
        imports()["GOMP_parallel"]
    )

    def run(_: int | None) -> None:
        task()

    parallel(_Task(run), None, threads, 0)


@contextmanager
def pinned(threads: int) -> Generator[bool]:
    """Binds this thread's team of `threads` threads to one CPU each, while inside.

    This thread, the first of them, has the last CPU: systems handle interrupts on the first one.
    Yields whether that was possible; otherwise nothing is bound.
    """
    before: dict[int, set[int]] = {}
    cpus = _cpus()
    caller = threading.get_native_id()
    free = iter(cpus)
    lock = threading.Lock()

    def bind() -> None:
        identity = threading.get_native_id()
        with lock, suppress(OSError):
            allowed = os.sched_getaffinity(identity)
            os.sched_setaffinity(identity, {cpus[-1] if identity == caller else next(free)})
            before[identity] = allowed

    try:
        if threads <= len(cpus):
            run_in_team(threads, bind)
        yield len(before) == threads
    finally:
        for identity, allowed in before.items():
            with suppress(OSError):  # the thread may have ended
                os.sched_setaffinity(identity, allowed)


def _cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
