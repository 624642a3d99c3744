"""Numbered checks in child processes: a child's death or hang is a finding, and the rest goes on.

`supervise(check, seeds)` calls `check(seed, tell)` for each seed. A check sends its verdicts with
`tell(verdict)`, and says before each step that may end its process what it is about to do:
`tell("dependences")`. A step that takes longer than the limit, in seconds of CPU, ends the child.
"""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

ENDED, HANG = "process ended", "hang"

# Seconds that a step may take without computing, and a busy machine to get to it.
PATIENCE = 600


@dataclass(frozen=True)
class Verdict:
    """What one check of a seed has found; `name` tells the checks of one seed apart."""

    seed: int
    name: str
    verdict: str
    detail: str = ""


Tell = Callable[[str | Verdict], None]
Check = Callable[[int, Tell], None]


def _work(out: Connection, errors: str, check: Check, seeds: Sequence[int], limit: int) -> None:
    """Runs the checks of a batch in a child process."""
    descriptor = os.open(errors, os.O_WRONLY | os.O_APPEND)
    os.dup2(descriptor, sys.stderr.fileno())
    faulthandler.enable(all_threads=False)
    # After the traceback, the signal ends the process, also inside of a call of isl or LLVM.
    faulthandler.register(signal.SIGXCPU, all_threads=False, chain=True)

    def tell(message: str | Verdict) -> None:
        if isinstance(message, str):
            used = resource.getrusage(resource.RUSAGE_SELF)
            seconds = int(used.ru_utime + used.ru_stime) + 1 + limit
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
        out.send(message)

    for seed in seeds:
        tell("")
        check(seed, tell)
        out.send(seed)


@dataclass
class _Worker:
    """A child process, and how far it is with its batch."""

    process: BaseProcess
    receiver: Connection
    errors: Path
    left: dict[int, None]
    step: str = ""
    since: float = field(default_factory=time.monotonic)

    @classmethod
    def start(cls, check: Check, seeds: Sequence[int], limit: int, folder: Path) -> _Worker:
        """A new process for the batch."""
        context = multiprocessing.get_context("spawn")
        receiver, sender = context.Pipe(duplex=False)
        handle, errors = tempfile.mkstemp(dir=folder)
        os.close(handle)
        arguments = (sender, errors, check, seeds, limit)
        process = context.Process(target=_work, args=arguments, daemon=True)
        process.start()
        sender.close()
        return cls(process, receiver, Path(errors), dict.fromkeys(seeds))

    def messages(self) -> Iterator[Verdict | int]:
        """The verdicts and finished seeds that have arrived; notes the steps.

        Raises EOFError at the end.
        """
        while self.receiver.poll():
            message = self.receiver.recv()
            self.since = time.monotonic()
            if isinstance(message, Verdict):
                yield message
            elif isinstance(message, int):
                del self.left[message]
                yield message
            else:
                self.step = message

    def end(self) -> Verdict | None:
        """Ends the process; the verdict on the seed that it was busy with."""
        hung = self.process.is_alive() and bool(self.left)
        if hung:
            self.process.join(1)
            hung = self.process.is_alive()
        self.process.kill()
        self.process.join()
        self.receiver.close()
        told = self.errors.read_text(errors="replace").strip()
        self.errors.unlink()
        if not self.left:
            return None
        code = self.process.exitcode or 0
        kind = HANG if hung or code == -signal.SIGXCPU else ENDED
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        detail = f"{name}\n{self.step}\n{told}".strip()
        return Verdict(next(iter(self.left)), "", kind, detail)


def supervise(
    check: Check,
    seeds: Sequence[int],
    *,
    jobs: int = 1,
    batch: int = 20,
    limit: int = 30,
    patience: float = PATIENCE,
) -> Iterator[Verdict | int | None]:
    """The verdicts as they come, each seed once it is done with, and None every second.

    A child process has `batch` seeds; `limit` are the seconds of CPU that a step may take, and
    `patience` those that it may take in all.
    """
    waiting = [list(seeds[n : n + batch]) for n in range(0, len(seeds), batch)]
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        workers: list[_Worker] = []
        stack.callback(lambda: [worker.end() for worker in workers])
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(_Worker.start(check, waiting.pop(0), limit, folder))
            wait([worker.receiver for worker in workers], timeout=1)
            yield None
            for worker in list(workers):
                ended = False
                try:
                    yield from worker.messages()
                except EOFError:
                    ended = True
                if ended or time.monotonic() - worker.since > patience:
                    workers.remove(worker)
                    verdict = worker.end()
                    if verdict is not None:
                        yield verdict
                        yield verdict.seed
                        if rest := [*worker.left][1:]:
                            waiting.insert(0, rest)
