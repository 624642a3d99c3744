"""The measuring process as seen by its labelling worker."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from ...costmodel.labels import TOO_MUCH_MEMORY
from ..measuring.candidate_code import ObjectCode
from ..measuring.children import Child, StartError
from ..measuring.clock import SuspensionTolerantClock
from .messages import OUT_OF_MEMORY, Candidate, Measurement
from .policy import Policy
from .queues import ProgramQueue

OPEN_LIMIT = 120.0
"""Seconds to start, and to make the arguments of a program."""

LOOK_AGAIN = 0.5
"""Seconds between two looks at threads that are far from each other."""

LONGEST_APART = 30.0
"""Seconds after which parallel candidates run though their threads are far from each other."""


class MeasuringSlot:
    """A measuring process with at most one pending request."""

    def __init__(self, cpus: Sequence[int], policy: Policy) -> None:
        self._cpus = tuple(cpus)
        self._policy = policy
        self._open: ProgramQueue | None = None
        self._queue: ProgramQueue | None = None
        self._watch = SuspensionTolerantClock()
        self._apart_since: float | None = None
        self._looked = 0.0
        self._spawn()

    def _spawn(self) -> None:
        cpus = ",".join(map(str, self._cpus))
        self.child = Child("labelling.measurer", cpus, cpus=set(self._cpus))
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

    def start_next(self, queues: Iterable[ProgramQueue]) -> set[int]:
        """Runs what is next of the first program, if anything; returns the CPUs that it needs.

        While the threads of parallel candidates are far from each other, these wait, and another
        program's turn comes where one waits for nothing else. Now and then it looks whether they
        still are.
        """
        now = time.monotonic()
        if self._apart_since is not None and now >= self._looked + LOOK_AGAIN:
            self.child.send(("is_near",))
            self._expect("is_near", None, OPEN_LIMIT)
            return set(self._cpus)
        for queue in queues:
            run = queue.next_run(is_parallel=self._runs_parallel(now))
            if run is not None:
                return self._start(queue, *run)
            if self._apart_since is None or not queue.is_closed:
                break
        return set()

    def _runs_parallel(self, now: float) -> bool:
        return self._apart_since is None or now > self._apart_since + LONGEST_APART

    def _start(
        self, queue: ProgramQueue, candidate: Candidate | None, code: ObjectCode
    ) -> set[int]:
        queue.is_running = True
        self._queue = queue
        if self._open is not queue:
            self._open = queue
            self.child.send(("open", queue.opened))
            queue.repeat(candidate)
            self._expect("open", None, OPEN_LIMIT)
            return {self._cpus[-1]}
        known = queue.baseline_seconds
        baseline = known if candidate is not None else None
        is_apart = self._apart_since is not None
        is_patient = (
            candidate is not None
            and self._policy.threads > 1
            and queue.patience > 0
            and not is_apart
        )
        self.child.send(("run", code, baseline, is_patient))
        slowest = self._policy.run_limit
        if known is not None:
            slowest = max(slowest, 10 * self._policy.cutoff * known)
        self._expect("run", candidate, slowest)
        return set(self._cpus) if code.is_parallel else {self._cpus[-1]}

    def hear(self) -> None:
        """Takes the answer; raises EOFError when the process has ended."""
        answer = self.child.receive(Measurement | bool | None)
        if self._request in ("start", "is_near"):
            # Between two looks something runs, however long they take.
            self._looked = time.monotonic()
        if self._request == "is_near" and answer:
            self._apart_since = None
        if self._request == "run":
            assert self._queue is not None, "it runs something of a program"
            self._watch.look()
            if answer is None:
                assert self._candidate is not None, "nothing waits but candidates"
                self._queue.put_back(self._candidate)
                self._apart_since = self._looked = time.monotonic()
            elif self._watch.was_suspended:
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
