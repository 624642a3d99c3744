"""Worker processes: one request at a time, replaced when they crash or hang."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from .children import Child, StartError

START_LIMIT = 120.0
"""Seconds for a process to start on a busy machine."""


class Lost(Exception):
    """A worker process that ended without an answer; `str()` says how."""


class Overdue(Lost):
    """A worker process that exceeded its time-out."""

    def __init__(self) -> None:
        super().__init__("it took too long")


class Worker:
    """A child process of a module of `runtime`; (re)started with an initial message.

    `kind` is the type of its answers, `environment` as for Child.
    `ask` and `answer` raise StartError where it does not start.
    """

    def __init__(
        self,
        module: str,
        hello: object,
        kind: Any = Any,
        environment: Mapping[str, str | None] | None = None,
    ) -> None:
        self._module = module
        self._environment = environment
        self._kind = kind
        self._hello = hello
        self.starts = 0
        self._is_closed = False
        self._lock = threading.Lock()
        self._spawn()

    def _spawn(self) -> None:
        self.starts += 1
        self._child = Child(self._module, environment=self._environment)
        self._child.send(self._hello)
        self._is_ready = False
        self._deadline = time.monotonic() + START_LIMIT

    @property
    def connection(self) -> Connection:
        """Where answers come from."""
        return self._child.connection

    def get_ready(self) -> None:
        """Waits until the process has started."""
        if self._is_ready:
            return
        try:
            if not self.connection.poll(max(0.0, self._deadline - time.monotonic())):
                raise EOFError
            self._child.receive()
        except EOFError:
            with self._lock:
                how = "it was closed" if self._is_closed else self._child.kill()
            raise StartError(f"the {self._module} process does not start: {how}") from None
        self._is_ready = True

    def ask(self, question: object, limit: float) -> None:
        """Asks something that is to be answered in so many seconds."""
        self.get_ready()
        self._child.send(question)
        self._deadline = time.monotonic() + limit

    def answer(self) -> Any:
        """The answer to the last question; raises Lost, and starts another process, without one."""
        overdue = not self.connection.poll(max(0.0, self._deadline - time.monotonic()))
        try:
            if overdue:
                raise EOFError
            return self._child.receive(self._kind)
        except EOFError:
            with self._lock:
                if self._is_closed:
                    raise Lost("it was closed") from None
                how = self._child.kill()
                self._spawn()
            if overdue:
                raise Overdue from None
            raise Lost(f"its process: {how}") from None

    def has_answer(self) -> bool:
        """Whether `answer` does not have to wait."""
        return self.connection.poll(0) or time.monotonic() > self._deadline

    def interrupt(self) -> None:
        """Ends the process while another thread waits for an answer, which is lost."""
        with self._lock:
            self._child.interrupt()

    def close(self) -> None:
        """Ends the process, also while another thread waits for an answer."""
        with self._lock:
            self._is_closed = True
            self._child.kill()


def ask_all(
    workers: Sequence[Worker], questions: Sequence[object], limit: float, end: float
) -> list[Any]:
    """The answers to all questions that are asked before `end`, a time of the monotonic clock.

    In order; an exception Lost where there is none in `limit` seconds.
    """
    answers: list[Any] = []
    busy: dict[int, int] = {}
    while busy or (len(answers) < len(questions) and time.monotonic() < end):
        for number, worker in enumerate(workers):
            if number in busy and worker.has_answer():
                place = busy.pop(number)
                try:
                    answers[place] = worker.answer()
                except Lost as error:
                    answers[place] = error
            if number not in busy and len(answers) < len(questions) and time.monotonic() < end:
                worker.ask(questions[len(answers)], limit)
                busy[number] = len(answers)
                answers.append(None)
        wait([workers[number].connection for number in busy], timeout=0.2)
    return answers
