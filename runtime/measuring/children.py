"""Child processes that can be stopped, continued and killed, and that end with their parent."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing.connection import Connection, Pipe
from typing import Any

from ...support.termination import die_with_parent
from .received_messages import MOST_BYTES, MessageError, read_message

PATIENCE = 5.0
"""Seconds that a process has to end after it has closed its connection."""

MOST_WORDS = 2000
"""Bytes of a dead process's standard error that are reported."""


class StartError(ChildProcessError):
    """A child process that failed to start; `str()` is its output."""


class Child:
    """A process that runs `main(connection, *arguments)` of a module of `runtime`,
    named `labelling.measurer`, or of a package beside it, named `.serving.call_worker`.

    It has a session of its own, which takes the processes that it starts with it when it is killed,
    and ends with the thread that has started it.
    `environment` are variables that differ from those of this process (None: unset).
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        cpus: set[int] | None = None,
        environment: Mapping[str, str | None] | None = None,
    ) -> None:
        ours, theirs = Pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self.connection: Connection = ours
        self.name = module
        command = [sys.executable, "-P", "-m", __spec__.name, module, str(theirs.fileno())]
        command.append(str(os.getpid()))
        wanted: dict[str, str | None] = {
            **os.environ,
            # What it is sent may be of any module that this process knows.
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            # Threads of parallel code wait actively, as by default, but give up sooner: then their
            # CPUs belong to compiling processes.
            "OMP_WAIT_POLICY": "active",
            "GOMP_SPINCOUNT": "100000",
            "OPENBLAS_NUM_THREADS": "1",
            **(environment or {}),
        }
        self._process = subprocess.Popen(
            [*command, *arguments],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            start_new_session=True,
            env={name: value for name, value in wanted.items() if value is not None},
        )
        theirs.close()
        self.is_paused = False
        self._complaint = ""
        if cpus is not None:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self._process.pid, cpus)

    def send(self, message: object) -> None:
        """Sends a message; one that does not arrive shows in `receive`."""
        with contextlib.suppress(OSError):
            self.connection.send(message)

    def receive(self, kind: Any = Any) -> Any:
        """The next message, of a type; raises EOFError when the process has ended, or sends none.

        A type may have `is_possible`, which says whether the numbers in it can be.
        """
        try:
            return read_message(self.connection.recv_bytes(MOST_BYTES), kind)
        except (EOFError, OSError, MessageError) as error:
            if isinstance(error, MessageError):
                self._complaint = str(error)
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(PATIENCE)
            raise EOFError from error

    def pause(self) -> None:
        """Stops the process where it is."""
        if not self.is_paused:
            self.is_paused = True
            # Not its own children: stopped, they would outlive all who could continue them.
            self._process.send_signal(signal.SIGSTOP)

    def stay_paused(self) -> None:
        """Stops it again if somebody else has continued it, as after a suspension of everything."""
        if self.is_paused:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Lets it go on."""
        if self.is_paused:
            self.is_paused = False
            self._process.send_signal(signal.SIGCONT)

    @property
    def exit_code(self) -> int | None:
        """What it has ended with (the number of a signal, negative); None while it runs."""
        return self._process.poll()

    def interrupt(self) -> None:
        """Ends it and what it has started; who waits for a message sees the end."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def kill(self) -> str:
        """Ends it and what it has started; how it had ended before, if it had, in words."""
        if self._errors.closed:
            return "it was killed before"
        code = self._process.poll()
        self.interrupt()
        self.connection.close()
        self._process.wait()
        words = self._last_words()
        self._errors.close()
        if self._complaint:
            return self._complaint
        if code is None:
            return "it was killed"
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"it ended with {how}{': ' if words else ''}{words}"

    def _last_words(self) -> str:
        """The end of what it has written to its standard error."""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - MOST_WORDS))
        return self._errors.read().decode(errors="replace").strip()


def limit_memory(limit: int) -> None:
    """Bounds the memory of this process, in bytes; what asks for more fails.

    Processes that it starts may have other bounds.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _main(module: str, descriptor: str, parent: str, *arguments: str) -> None:
    # Before the module, whose imports take seconds.
    die_with_parent(int(parent))
    connection = Connection(int(descriptor))
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        importlib.import_module(f"..{module}", __package__).main(connection, *arguments)


if __name__ == "__main__":
    _main(*sys.argv[1:])
