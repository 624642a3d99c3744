"""isl's ILP scheduler in a process of its own, which can be killed.

The scheduler solves integer programs whose size nobody can foresee, and a bound on isl's
operations does not stop it inside arithmetic on huge numbers. So one worker process is kept,
requests and answers are lines of JSON, and a worker that does not answer in time is killed and
started again when it is needed next.
"""

from __future__ import annotations

import atexit
import json
import math
import selectors
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass

import islpy as isl

SLICE = 0.1
"""Seconds that are waited at a time: where all processes were suspended, the last slice is lost."""


@dataclass(frozen=True)
class SchedulerOptions:
    """Which of isl's schedules is wanted.

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
    """The scheduler did not answer in time."""


@dataclass(frozen=True)
class SchedulerProblem:
    """Instances, and relations between them, as isl texts."""

    context: str
    domain: str
    validity: str
    proximity: str


def solve(problem: SchedulerProblem, options: SchedulerOptions, seconds: float) -> str:
    """isl's schedule as text; raises SchedulerTimeOut.

    The same question is answered from memory.
    """
    return _worker.ask({**asdict(problem), **asdict(options)}, seconds)


class _Worker:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[str] | None = None
        self.answers: dict[str, str] = {}

    def ask(self, request: dict[str, object], seconds: float) -> str:
        line = json.dumps(request)
        with self.lock:
            if line not in self.answers:
                self.answers[line] = self._ask(line, seconds)
            return self.answers[line]

    def _ask(self, line: str, seconds: float) -> str:
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(line + "\n")
            process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            is_ready = any(selector.select(SLICE) for _ in range(math.ceil(seconds / SLICE)))
        answer = process.stdout.readline() if is_ready else ""
        if not answer:
            self.stop()
            raise SchedulerTimeOut
        return json.loads(answer)

    def _running(self) -> subprocess.Popen[str]:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, "-P", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert self.process.stdout is not None
            self.process.stdout.readline()  # it is up: starting does not count as solving
        return self.process

    def stop(self) -> None:
        """Ends the worker process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


_worker = _Worker()
atexit.register(_worker.stop)


def serve() -> None:
    """The worker process: answers requests from standard input until it ends."""
    print(flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        options = SchedulerOptions(
            request["fusion"], request["algorithm"], request["outer_parallel"]
        )
        problem = SchedulerProblem(
            request["context"], request["domain"], request["validity"], request["proximity"]
        )
        print(json.dumps(_solve(problem, options)), flush=True)


def _solve(problem: SchedulerProblem, options: SchedulerOptions) -> str:
    settings = isl.DEFAULT_CONTEXT
    settings.set_schedule_serialize_sccs(int(options.fusion == "minimal"))
    settings.set_schedule_whole_component(int(options.fusion == "maximal"))
    settings.set_schedule_maximize_coincidence(int(options.fusion != "maximal"))
    settings.set_schedule_outer_coincidence(int(options.outer_parallel))
    settings.set_schedule_algorithm(ALGORITHMS.index(options.algorithm))
    validity = isl.UnionMap(problem.validity)
    constraints = (
        isl.ScheduleConstraints.on_domain(isl.UnionSet(problem.domain))
        .set_context(isl.Set(problem.context))
        .set_validity(validity)
        .set_coincidence(validity)
        .set_proximity(isl.UnionMap(problem.proximity))
    )
    return str(constraints.compute_schedule())


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # nobody waits for the answer any more
        serve()
