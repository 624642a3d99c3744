"""The measuring process as its station sees it: what it runs, and since when."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...costmodel.labels import TOO_MUCH_MEMORY
from .children import Child, StartError
from .messages import OUT_OF_MEMORY, Candidate, Measurement, ObjectCode, Policy
from .queues import ProgramQueue
from .stopwatch import Stopwatch

OPEN_LIMIT = 120.0
"""Seconds to start, and to make the arguments of a program."""


class MeasuringSlot:
    """A measuring process; it has at most one request at a time."""

    def __init__(self, cpus: Sequence[int], policy: Policy) -> None:
        self._cpus = tuple(cpus)
        self._policy = policy
        self._open: ProgramQueue | None = None
        self._queue: ProgramQueue | None = None
        self._watch = Stopwatch()
        self._spawn()

    def _spawn(self) -> None:
        cpus = ",".join(map(str, self._cpus))
        self.child = Child("measurer", cpus, cpus=set(self._cpus))
        self.child.send(self._policy)
        self._expect("start", None, OPEN_LIMIT)
        self._open = None

    def _expect(self, request: str, candidate: Candidate | None, limit: float) -> None:
        self._request, self._candidate = request, candidate
        self._limit = limit
        self._watch.restart()

    @property
    def is_idle(self) -> bool:
        """Whether it waits for a request."""
        return self._request == ""

    @property
    def is_overdue(self) -> bool:
        """Whether an answer takes too long."""
        seconds = self._watch.look()
        return not self.is_idle and seconds > self._limit

    def start_next(self, queue: ProgramQueue) -> set[int]:
        """Runs what is next of a program, if there is anything; returns the CPUs that it needs."""
        run = queue.next_run()
        if run is None:
            return set()
        queue.is_running = True
        self._queue = queue
        if self._open is not queue:
            self._open = queue
            self.child.send(("open", queue.opened))
            queue.repeat(run[0])
            self._expect("open", None, OPEN_LIMIT)
            return {self._cpus[-1]}
        return self._run(queue, *run)

    def _run(self, queue: ProgramQueue, candidate: Candidate | None, code: ObjectCode) -> set[int]:
        known = queue.baseline_seconds
        self.child.send(("run", code, known if candidate is not None else None))
        slowest = self._policy.run_limit
        if known is not None:
            slowest = max(slowest, 10 * self._policy.cutoff * known)
        self._expect("run", candidate, slowest)
        return set(self._cpus) if code.is_parallel else {self._cpus[-1]}

    def hear(self) -> None:
        """Takes the answer; raises EOFError when the process has ended."""
        answer = self.child.receive()
        if self._request == "run":
            assert isinstance(answer, Measurement) and self._queue is not None
            self._watch.look()
            if self._watch.was_suspended:
                self._queue.repeat(self._candidate)
            else:
                self._queue.measured(self._candidate, answer)
        if self._queue is not None:
            self._queue.is_running = False
        self._request = ""

    def replace(self, kind: str) -> None:
        """Kills the process, notes what it was at, and starts another.

        Raises StartError where the process has not even started.
        """
        hung = self._watch.look()
        if kind == "crash" and self.child.exit_code == OUT_OF_MEMORY:
            kind = TOO_MUCH_MEMORY
        how = self.child.kill()
        if self._request == "start":
            raise StartError(f"the measuring process does not start: {how}")
        if self._request in ("run", "open"):
            self._blame(kind, how, hung)
        self._spawn()

    def _blame(self, kind: str, how: str, seconds: float) -> None:
        queue, candidate = self._queue, self._candidate
        assert queue is not None, "it was asked to run something"
        queue.is_running = False
        known = queue.baseline_seconds
        if candidate is None or known is None:
            if kind != TOO_MUCH_MEMORY:
                kind = f"run-{kind}"
            queue.fail(kind, f"the program itself: {how}", "")
            queue.is_hopeless = True
        elif kind == "hang":
            queue.measured(candidate, Measurement((seconds,), True, 0.0, time.time()))
        elif kind == TOO_MUCH_MEMORY:
            queue.fail(kind, "it needs more memory than a process may have", candidate.schedule)
        else:
            queue.fail(f"run-{kind}", f"the measuring process: {how}", candidate.schedule)
