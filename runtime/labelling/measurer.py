"""Child process that runs compiled candidates; replaced when it crashes or hangs."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...support.stage_times import StageTimes, record_stages, stage
from ..calling.arguments import ArrayArgument, FloatArgument, IntegerArgument
from ..calling.elements import numbers, stored
from ..jit.threads import pinned
from ..machine.machine_fingerprint import machine_fingerprint
from ..measuring.arena import Arena, array_bytes
from ..measuring.candidate_code import LoadedCandidate, ObjectCode
from ..measuring.children import limit_memory
from ..measuring.compare import relative_difference
from ..measuring.cpu_pace import PaceWatch
from ..measuring.team import TeamWatch, wake
from ..measuring.timing import quantile
from ..measuring.written_arrays import WrittenArray, restore
from .messages import OUT_OF_MEMORY, Measurement, Opened
from .policy import Policy

Array = NDArray[Any]

MOST_RUNS = 400

UNDISTURBED = 0.95
"""The share of a run in which its threads compute, at least; else it was interrupted.

Of a run on several threads this says little: those that wait compute, too, and all count.
"""

CLOCKS = 2e-5
"""Seconds by which the time that a process computes may be off."""

MOST_DISTURBED = 5
"""Interrupted runs in a row that are repeated; the one after that counts as it is."""

MOST_UNSTEADY = 3
"""Measurements in a row of which the last one counts, though the CPU was slow."""

LONG = 0.2
"""Seconds of runs that are not made again: the CPU was slow for a part of them only."""

REAL_TIME_SECONDS = 60


def main(connection: Connection, cpus: str) -> None:
    """Answers ("open", Opened), ("run", ObjectCode, baseline seconds or None, bool), ("is_near",).

    Of the CPUs (`0,1`), the last runs what has one thread.
    """
    policy = connection.recv()
    limit_memory(policy.memory)
    use_real_time()
    measurer = Measurer(policy, [int(number) for number in cpus.split(",")])
    connection.send(None)
    while True:
        request, *values = connection.recv()
        try:
            connection.send(getattr(measurer, request)(*values))
        except MemoryError:
            sys.exit(OUT_OF_MEMORY)


def use_real_time() -> None:
    """Where it is allowed, no other process interrupts this one from now on.

    The system ends it when it does not pause for `REAL_TIME_SECONDS`: nobody else could.
    """
    with contextlib.suppress(OSError):
        limit = REAL_TIME_SECONDS * 1_000_000
        resource.setrlimit(resource.RLIMIT_RTTIME, (limit, limit))
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


class _Apart(Exception):
    """The threads of the team do not share a cache."""


class Measurer:
    """Arguments of one program, and runs of its candidates on them."""

    def __init__(self, policy: Policy, cpus: list[int]) -> None:
        self._policy = policy
        self._cpus = cpus
        self._watch = PaceWatch()
        self._team = TeamWatch(policy.threads, machine_fingerprint())
        self._arrays: list[Array] = []
        self._written: list[WrittenArray] = []
        self._expected: list[Array] | None = None
        self._differences: dict[bytes, float] = {}
        self._values: list[Any] = []
        self._opened: Opened | None = None

    def open(self, opened: Opened) -> bool:
        """Makes the arguments of a program; its first run must be that of the program itself."""
        self.close()
        self._opened = opened
        random = np.random.default_rng(opened.instance.seed)
        names, shapes = opened.names, opened.sizes.shapes
        arena = Arena(
            sum(
                array_bytes(shapes[position], argument.element.dtype)
                for position, argument in enumerate(opened.signature.arguments)
                if isinstance(argument, ArrayArgument)
            )
        )
        for position, argument in enumerate(opened.signature.arguments):
            match argument:
                case ArrayArgument():
                    array = arena.array(shapes[position], argument.element.dtype)
                    _fill(random, array)
                    self._arrays.append(array)
                    self._values.append(array.ctypes.data)
                    if argument.writes:
                        self._written.append(WrittenArray(array, array.copy(), argument.reads))
                case IntegerArgument(is_size=True):
                    self._values.append(names[argument.place.name])
                case IntegerArgument():
                    self._values.append(3)
                case FloatArgument():
                    self._values.append(0.75)
        return True

    def close(self) -> bool:
        """Gives the memory of the program back."""
        self._arrays, self._written, self._values = [], [], []
        self._expected = self._opened = None
        self._differences.clear()
        return True

    def is_near(self) -> bool:
        """Whether the threads that run parallel loops share a cache, as far as they ever did."""
        os.sched_setaffinity(0, self._cpus)
        with pinned(self._policy.threads):
            return self._team.is_near()

    def run(
        self, code: ObjectCode, baseline: float | None, is_patient: bool = False
    ) -> Measurement | None:
        """Runs a candidate; without `baseline`, the program itself, whose results are expected.

        None if that `is_patient` and the threads of a parallel one are far from each other.
        """
        started = time.time()
        times = StageTimes()
        try:
            with record_stages(times):
                runs, is_censored, difference = self._measure(code, baseline, is_patient)
        except _Apart:
            return None
        stages = {f"measure: {name}": seconds for name, seconds in times.seconds.items()}
        return Measurement(runs, is_censored, difference, started, stages)

    def _measure(
        self, code: ObjectCode, baseline: float | None, is_patient: bool
    ) -> tuple[tuple[float, ...], bool, float]:
        assert self._opened is not None, "a program is opened first"
        with stage("load"):
            loaded = LoadedCandidate(code)
        function = self._opened.signature.foreign_function(loaded.address)

        def run_once(is_first: bool) -> tuple[float, bool]:
            """Seconds, and whether nothing interrupted the run."""
            with stage("restore"):
                restore(self._written, whole=is_first)
            if code.is_parallel:
                wake(self._policy.threads)
            with stage("run"):
                computed, start = time.process_time(), time.perf_counter()
                function(*self._values)
                seconds = time.perf_counter() - start
                computed = time.process_time() - computed
            return seconds, computed > UNDISTURBED * seconds - CLOCKS

        def call(is_first: bool = False) -> float:
            for _ in range(MOST_DISTURBED):
                seconds, is_whole = run_once(is_first)
                if is_whole:
                    return seconds
            return run_once(is_first)[0]

        def check_team() -> None:
            if is_patient and code.is_parallel and not self._team.is_near():
                raise _Apart

        os.sched_setaffinity(0, self._cpus if code.is_parallel else self._cpus[-1:])
        with pinned(self._policy.threads if code.is_parallel else 1):
            check_team()
            first = call(is_first=True)
            if loaded.has_failed_to_allocate:
                raise MemoryError("the candidate could not allocate its arrays")
            with stage("check"):
                difference = self._difference(code)
            found = self._repeat_steadily(call, first, baseline)
            check_team()
            return *found, difference

    def _repeat_steadily(
        self, call: Callable[[], float], first: float, baseline: float | None
    ) -> tuple[tuple[float, ...], bool]:
        """All measured runs, made again where the CPU is slow after them."""
        left = MOST_UNSTEADY
        while True:
            with stage("steady"):
                self._watch.wait()
            runs, is_censored = self._repeat(call, first, baseline)
            with stage("steady"):
                is_steady = self._watch.is_steady()
            left -= 1
            if is_steady or is_censored or not left or sum(runs) > LONG:
                return runs, is_censored

    def _repeat(
        self, call: Callable[[], float], first: float, baseline: float | None
    ) -> tuple[tuple[float, ...], bool]:
        """All measured runs; or, where they are too slow, the fastest of two."""
        policy = self._policy
        if baseline is not None and first > policy.cutoff * baseline:
            # The first run may have touched memory and code for the first time.
            fastest = min(first, call()) if first < policy.budget else first
            if fastest > policy.cutoff * baseline:
                return (fastest,), True
        is_slow = baseline is not None and first > policy.slow * baseline
        least = min(2, policy.least_runs) if is_slow else policy.least_runs
        # The first run of what is slow and takes long is as good as another one.
        runs = [first] if is_slow and first > policy.budget else []
        total = sum(runs)
        while len(runs) < MOST_RUNS:
            runs.append(call())
            total += runs[-1]
            if len(runs) < least or total < policy.enough:
                continue
            if is_slow or total >= policy.budget or _is_steady(runs, policy.steady):
                break
        return tuple(runs), False

    def _difference(self, code: ObjectCode) -> float:
        """`_check` of the results of a candidate; again only if threads may come to others."""
        if code.is_parallel or code.code not in self._differences:
            self._differences[code.code] = self._check()
        return self._differences[code.code]

    def _check(self) -> float:
        """The difference of the results from those expected, relative to the largest value."""
        results = [written.array for written in self._written]
        if self._expected is None:
            self._expected = [array.copy() for array in results]
            finite = all(bool(np.isfinite(numbers(array)).all()) for array in results)
            return 0.0 if finite else float("inf")
        pairs = zip(results, self._expected, strict=True)
        return max((relative_difference(a, b) for a, b in pairs), default=0.0)


def _fill(random: np.random.Generator, array: Array) -> None:
    """Floats from [0, 1), integers from 1 to 99."""
    if np.issubdtype(numbers(array[:0]).dtype, np.floating):
        array[...] = stored(random.random(array.shape, np.float32), array.dtype)
    else:
        array[...] = random.integers(1, 100, array.shape, np.int32)


def _is_steady(runs: list[float], share: float) -> bool:
    """Whether the quartiles, shrunk by the number of runs, are close enough to each other."""
    ordered = sorted(runs)
    spread = quantile(ordered, 0.75) - quantile(ordered, 0.25)
    return spread <= share * quantile(ordered, 0.5) * (len(runs) ** 0.5) / 1.5
