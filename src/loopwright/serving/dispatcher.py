"""The queue of calls: one at a time, each in a child process that is replaced when it fails.

One at a time, so that nothing disturbs what is timed. In a process that replaces another one, a
program is loaded again when somebody asks about it.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from ..runtime.measuring.children import StartError
from ..runtime.measuring.workers import Lost, Overdue, Worker
from ..session.problems import CallError
from ..session.session import MOST_PROGRAMS
from .call_worker import Request, Service

MOST_WAITING = 16
"""Calls that wait for their turn; others are refused."""

_ENVIRONMENT: Mapping[str, str | None] = {
    "LOOPWRIGHT_CACHE": "off",
    "LOOPWRIGHT_TUNING": "off",
    "LOOPWRIGHT_MODELS": "off",
}
"""Files outside of the folder that is served."""

Answer = dict[str, Any]
"""`{"result": ...}` or `{"problem": ...}`."""

_Item = tuple[Request, Future[Answer]]


class Dispatcher:
    """Answers calls from any thread; `close` ends the child process."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._waiting: queue.Queue[_Item | None] = queue.Queue(MOST_WAITING)
        self._loads: dict[str, Request] = {}
        self._worker: Worker | None = None
        self._starts = 0
        self._known: set[str] = set()
        self._is_closed = threading.Event()
        self._lock = threading.Lock()
        self._running: Future[Answer] | None = None
        self._is_interrupted = False
        # The child ends with the thread that has started it.
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """The answer to a call, when its turn has come."""
        return self.begin(name, arguments).result()

    def begin(self, name: str, arguments: Mapping[str, Any]) -> Future[Answer]:
        """The answer to come of a call."""
        future: Future[Answer] = Future()
        try:
            self._waiting.put_nowait((Request(name, arguments), future))
        except queue.Full:
            problem = _problem("busy", f"{MOST_WAITING} calls are waiting", "ask again later")
            future.set_result(problem)
        return future

    def cancel(self, future: Future[Answer]) -> None:
        """Nobody waits for an answer any more: a call that runs is ended, with its process."""
        if future.cancel():
            return
        with self._lock:
            if self._running is future and self._worker is not None:
                self._is_interrupted = True
                self._worker.interrupt()

    def close(self) -> None:
        """Ends the child process, and all calls with it."""
        self._is_closed.set()
        if self._worker is not None:
            self._worker.close()
        self._waiting.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (item := self._waiting.get()) is not None:
            request, future = item
            if not future.set_running_or_notify_cancel():
                continue
            with self._lock:
                self._running = future
            answer = self._answer(request)
            with self._lock:
                self._running = None
            if self._is_interrupted:
                self._renew()
            future.set_result(answer)

    def _renew(self) -> None:
        """Leaves a process that was interrupted, maybe after its answer, to its end."""
        self._is_interrupted = False
        if self._worker is not None and not self._is_closed.is_set():
            self._worker.close()
            self._worker, self._starts = None, 0

    def _answer(self, request: Request) -> Answer:
        if self._is_closed.is_set():
            return _problem("busy", "the server ends", None)
        try:
            answer = self._ask(request)
        except Overdue:
            return _problem(
                "time",
                f"the call took more than {self._service.seconds:g} s and was ended",
                "ask for less: smaller sizes, fewer steps",
            )
        except (Lost, StartError) as error:
            return _problem("crash", str(error).splitlines()[0], "ask for something else")
        if request.name == "load" and "result" in answer:
            self._remember(request, answer["result"]["program"])
        return answer

    def _ask(self, request: Request) -> Answer:
        """The answer of the child process; raises Lost, StartError."""
        worker = self._worker
        if worker is None:
            worker = Worker(".serving.call_worker", self._service, str, _ENVIRONMENT)
            self._worker = worker
        if self._starts != worker.starts:
            self._starts = worker.starts
            self._known.clear()
        name = request.arguments.get("program")
        if isinstance(name, str) and name in self._loads and name not in self._known:
            self._exchange(worker, self._loads[name], self._loads.keys() - {name})
            self._known.add(name)
        return self._exchange(worker, request, self._loads.keys())

    def _exchange(self, worker: Worker, request: Request, reserved: Iterable[str]) -> Answer:
        worker.ask(replace(request, reserved=frozenset(reserved)), self._service.seconds)
        return json.loads(worker.answer())

    def _remember(self, request: Request, name: str) -> None:
        self._loads[name] = Request("load", {**request.arguments, "name": name})
        self._known.add(name)
        while len(self._loads) > MOST_PROGRAMS:
            self._loads.pop(next(iter(self._loads)))


def _problem(code: str, message: str, remedy: str | None) -> Answer:
    return {"problem": CallError(code, message, remedy).problem.to_json()}
