"""isl's ILP scheduler in a child process, with a time-out.

The scheduler solves integer programs whose size nobody can foresee, and a bound on isl's
operations does not stop it inside arithmetic on huge numbers. So one worker process is kept,
requests and answers are lines of JSON, and a worker that does not answer in time is killed and
started again when it is needed next.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import math
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import count

import islpy as isl

SLICE = 0.1
"""Seconds that are waited at a time: where all processes were suspended, the last slice is lost."""

_LOOKS = 1.0
"""Seconds until a worker notices that the process that asks has ended."""

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class SchedulerOptions:
    """Options of isl's scheduler: fusion and objective.

    `fusion`: minimal (each strongly connected component by itself), balanced, or maximal (whole
    components). `algorithm`: isl (Pluto's objective: tilable bands with small distances, Feautrier
    where that fails) or feautrier. `outer_parallel`: outer loops without dependences are preferred.
    """

    fusion: str = "balanced"
    algorithm: str = "isl"
    outer_parallel: bool = False


FUSIONS = ("minimal", "balanced", "maximal")
ALGORITHMS = ("isl", "feautrier")


class SchedulerTimeOut(Exception):
    """isl's scheduler exceeded its time-out."""


class NoSchedule(Exception):
    """isl's scheduler found no schedule."""


@dataclass(frozen=True)
class SchedulerProblem:
    """Instances and dependences, as isl texts."""

    context: str
    domain: str
    validity: str
    proximity: str


def solve(problem: SchedulerProblem, options: SchedulerOptions, seconds: float) -> str:
    """isl's schedule as text; raises SchedulerTimeOut, NoSchedule.

    The same question is answered from memory.
    """
    return _worker.ask(problem, options, seconds)


def begin(problem: SchedulerProblem, options: Sequence[SchedulerOptions]) -> None:
    """Starts to solve what `solve` is going to be asked, in this order."""
    _worker.begin(problem, options)


Question = tuple[SchedulerProblem, SchedulerOptions]


class Worker:
    """A thread-safe child process that answers one request after the other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.is_up = False
        self.answers: dict[Question, str | None] = {}
        self.pending: deque[Question] = deque()
        self.received = b""

    def ask(self, problem: SchedulerProblem, options: SchedulerOptions, seconds: float) -> str:
        """The answer, from memory where it is known; raises SchedulerTimeOut, NoSchedule."""
        question = problem, options
        with self.lock:
            if question not in self.pending:
                self._send(problem, [options])
            slices = iter(range(math.ceil(seconds / SLICE)))
            while question not in self.answers:
                answer = self._receive(slices)
                self.answers[self.pending.popleft()] = answer
            found = self.answers[question]
        if found is None:
            raise NoSchedule
        return found

    def begin(self, problem: SchedulerProblem, options: Sequence[SchedulerOptions]) -> None:
        """Has questions answered that will be asked next, in this order."""
        with self.lock:
            self._send(problem, options)

    def _send(self, problem: SchedulerProblem, options: Sequence[SchedulerOptions]) -> None:
        """One request for all questions without an answer, so that they share the problem."""
        new = [each for each in options if (problem, each) not in self.answers]
        if not new:
            return
        if self.pending:
            self.stop()  # nobody has waited for these answers
        process = self._running()
        assert process.stdin is not None
        request = {**asdict(problem), "options": [asdict(each) for each in new]}
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        self.pending.extend((problem, each) for each in new)

    def _receive(self, slices: Iterator[int]) -> str | None:
        """The next answer; raises SchedulerTimeOut when all slices of time are used up.

        So does an answer that is not whole: the worker is not asked again.
        """
        if not self.is_up:
            self._line(count())  # starting does not count as solving
            self.is_up = True
        try:
            return json.loads(self._line(slices))
        except ValueError:
            self.stop()
            raise SchedulerTimeOut from None

    def _line(self, slices: Iterator[int]) -> bytes:
        while b"\n" not in self.received:
            more = self._read(slices)
            if not more:
                self.stop()
                raise SchedulerTimeOut
            self.received += more
        line, _, self.received = self.received.partition(b"\n")
        return line

    def _read(self, slices: Iterator[int]) -> bytes:
        """What the worker has written; nothing when it has ended or no time is left."""
        assert self.process is not None and self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            is_ready = any(selector.select(SLICE) for _ in slices)
        return os.read(self.process.stdout.fileno(), 1 << 16) if is_ready else b""

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, "-P", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self.is_up = False
        return self.process

    def stop(self) -> None:
        """Ends the worker process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        self.pending.clear()
        self.received = b""


_worker = Worker()
atexit.register(_worker.stop)


def serve() -> None:
    """The worker process: answers requests from standard input until it ends."""
    print(flush=True)  # it is up
    for line in sys.stdin:
        request = json.loads(line)
        problem = SchedulerProblem(
            request["context"], request["domain"], request["validity"], request["proximity"]
        )
        constraints = _constraints(problem)
        for options in request["options"]:
            print(json.dumps(_solve(constraints, SchedulerOptions(**options))), flush=True)


def _constraints(problem: SchedulerProblem) -> isl.ScheduleConstraints:
    validity = isl.UnionMap(problem.validity)
    return (
        isl.ScheduleConstraints.on_domain(isl.UnionSet(problem.domain))
        .set_context(isl.Set(problem.context))
        .set_validity(validity)
        .set_coincidence(validity)
        .set_proximity(isl.UnionMap(problem.proximity))
    )


def _solve(constraints: isl.ScheduleConstraints, options: SchedulerOptions) -> str | None:
    """The schedule as text; None where isl gives up ("unable to carry dependences")."""
    settings = isl.DEFAULT_CONTEXT
    settings.set_schedule_serialize_sccs(int(options.fusion == "minimal"))
    settings.set_schedule_whole_component(int(options.fusion == "maximal"))
    settings.set_schedule_maximize_coincidence(int(options.fusion != "maximal"))
    settings.set_schedule_outer_coincidence(int(options.outer_parallel))
    settings.set_schedule_algorithm(ALGORITHMS.index(options.algorithm))
    try:
        return str(constraints.compute_schedule())
    except isl.Error:
        return None


def _guard() -> None:
    """Serves in a child, which is killed when the process that asks has ended.

    A signal at the death of the parent would come when the thread ends that has started this one.
    """
    asking, serving = os.getppid(), os.fork()
    if not serving:
        libc = ctypes.CDLL(None)
        if hasattr(libc, "prctl"):
            libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        serve()
        return
    try:
        while os.getppid() == asking and os.waitpid(serving, os.WNOHANG) == (0, 0):
            time.sleep(_LOOKS)
    finally:
        with suppress(ProcessLookupError):
            os.kill(serving, signal.SIGKILL)


if __name__ == "__main__":
    with suppress(BrokenPipeError, KeyboardInterrupt):  # nobody waits for the answer any more
        _guard()
