"""Labelling worker of one machine: compiling processes, and a measuring one.

The measuring process runs on the last CPUs. While a candidate runs, the compiling processes on the
CPUs that it uses are stopped: one with a candidate of one thread, all of them with others.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait

from ...costmodel.labels import LabelledProgram, Workload
from ..measuring.children import Child, StartError
from ..measuring.clock import SuspensionTolerantClock
from .measuring_slot import MeasuringSlot
from .messages import Begun, Candidate, Closed, Failed, FromCompiler, Opened, Skip
from .policy import Policy
from .queues import ProgramQueue

AHEAD = 6
"""Programs per compiling process that wait to be measured, at most.

They are enough for some 30 seconds in which candidates of one thread only are measured.
"""

START_LIMIT = 120.0
"""Seconds for a process to start on a busy machine."""


class CompilerSlot:
    """A compiling process with its current program."""

    def __init__(self, cpu: int, workload: Workload, policy: Policy) -> None:
        self.cpu = cpu
        self._workload = workload
        self._policy = policy
        self.queue: ProgramQueue | None = None
        self.begun: Begun | None = None
        self._watch = SuspensionTolerantClock()
        self.child = self._spawn()

    def _spawn(self) -> Child:
        child = Child("labelling.workload_compiler", cpus={self.cpu})
        child.send((self._workload, self._policy))
        self.is_ready = False
        self._watch.restart()
        return child

    def start(self, queue: ProgramQueue) -> None:
        """Compiles the candidates of a program."""
        self.queue = queue
        self.begun = None
        self.child.send(queue.item)
        self._watch.restart()

    def skip_hopeless(self) -> None:
        """Does not go on with a program that cannot be measured."""
        if self.queue is not None and self.queue.is_hopeless and not self.queue.is_skipped:
            self.queue.is_skipped = True
            self.child.send(Skip(self.queue.item))

    def pause(self) -> None:
        """Stands still, as does its clock."""
        self._watch.pause()
        self.child.pause()

    def resume(self) -> None:
        """Goes on."""
        self._watch.resume()
        self.child.resume()

    def heard(self, message: object) -> None:
        """Notes what the process has sent."""
        self._watch.restart()
        if isinstance(message, Begun):
            self.begun = message
        if isinstance(message, Closed):
            self.queue = None

    @property
    def is_overdue(self) -> bool:
        """Whether it has not said anything for too long, times of standing still not counted."""
        seconds = self._watch.look()
        limit = self._policy.compile_limit if self.is_ready else START_LIMIT
        return (self.queue is not None or not self.is_ready) and seconds > limit

    def replace(self, kind: str) -> None:
        """Kills the process and starts another; its program ends with what there is of it.

        Raises StartError where the process has not even started.
        """
        how = self.child.kill()
        if not self.is_ready:
            raise StartError(f"a compiling process does not start: {how}")
        queue, begun = self.queue, self.begun
        self.queue = self.begun = None
        if queue is not None:
            queue.lose(kind, f"the compiling process: {how}", begun)
        self.child = self._spawn()


class LabellingWorker:
    """Labels the programs of a workload on one machine; used as a context manager.

    `cpus` are those that it may use, by default those of this process. `label` raises StartError
    when a process does not start, and EOFError when the other end of `lifeline` is closed.
    """

    def __init__(
        self,
        workload: Workload,
        policy: Policy,
        *,
        compilers: int | None = None,
        cpus: Iterable[int] | None = None,
        lifeline: Connection | None = None,
    ) -> None:
        chosen = sorted(os.sched_getaffinity(0) if cpus is None else cpus)
        count = len(chosen) if compilers is None else compilers
        self._policy = policy
        self._measuring = MeasuringSlot(chosen[-policy.threads :], policy)
        self._slots = [
            CompilerSlot(chosen[number % len(chosen)], workload, policy) for number in range(count)
        ]
        self._queues: deque[ProgramQueue] = deque()
        self._lifeline = lifeline

    def __enter__(self) -> LabellingWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all processes."""
        for child in (self._measuring.child, *(slot.child for slot in self._slots)):
            child.kill()

    def label(self, items: Iterable[int]) -> Iterator[LabelledProgram]:
        """The labels of all programs, each as soon as it is done, in the order of `items`."""
        waiting = iter(items)
        exhausted = False
        while True:
            while not exhausted and len(self._queues) < AHEAD * len(self._slots):
                item = next(waiting, None)
                exhausted = item is None
                if item is not None:
                    self._queues.append(ProgramQueue(item, self._policy))
            if not self._queues:
                return
            self._step()
            while self._queues and self._queues[0].is_finished:
                yield self._queues.popleft().result()

    def _step(self) -> None:
        """Gives out work, then waits for the next message of any process."""
        self._give_out()
        for connection in wait(self._connections(), timeout=0.5):
            if connection is self._lifeline:
                raise EOFError("the caller has ended")
            if connection is self._measuring.child.connection:
                self._hear_measuring()
            for slot in self._slots:
                if connection is slot.child.connection:
                    self._hear_compiler(slot)
        for slot in self._slots:
            slot.skip_hopeless()
            slot.child.stay_paused()
            if slot.is_overdue:
                slot.replace("hang")
        if self._measuring.is_overdue:
            self._measuring.replace("hang")
            self._resume_compilers()

    def _connections(self) -> list[Connection]:
        return [
            *([] if self._lifeline is None else [self._lifeline]),
            self._measuring.child.connection,
            # One that stands still may be in the middle of a message.
            *(slot.child.connection for slot in self._slots if not slot.child.is_paused),
        ]

    def _give_out(self) -> None:
        unstarted = (queue for queue in self._queues if not queue.is_started)
        for slot in self._slots:
            if slot.is_ready and slot.queue is None:
                queue = next(unstarted, None)
                if queue is None:
                    break
                queue.is_started = True
                slot.start(queue)
        if self._measuring.is_idle and self._queues:
            used = self._measuring.start_next(self._queues)
            for slot in self._slots:
                if slot.cpu in used:
                    slot.pause()

    def _hear_measuring(self) -> None:
        try:
            self._measuring.hear()
        except EOFError:
            self._measuring.replace("crash")
        self._resume_compilers()

    def _resume_compilers(self) -> None:
        for slot in self._slots:
            slot.resume()

    def _hear_compiler(self, slot: CompilerSlot) -> None:
        try:
            message = slot.child.receive(FromCompiler)
        except EOFError:
            slot.replace("crash")
            return
        queue = slot.queue
        slot.heard(message)
        match message:
            case None:
                slot.is_ready = True
            case Opened() if queue is not None:
                queue.opened = message
            case Candidate() if queue is not None:
                queue.waiting.append(message)
            case Failed(incident=incident) if queue is not None:
                queue.incidents.append(incident)
            case Closed() if queue is not None:
                queue.close(message)
            case Begun() if queue is not None:
                queue.instance = message.instance
            case _:
                pass
