"""Child process that runs kernels of a Python library, with its own environment and threads.

Requests come through the connection, a tuple each, and are answered by
`("ok", value)`, by `("unsupported", reason)` or by `("failed", reason)`:

    ("version",)          the library's version
    ("case", entry, size) prepares a kernel
    ("time", threads)     runs it once from the initial contents; seconds
    ("outputs",)          what the last run computed
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from ...kernels.catalogue import Size
from ..measuring.written_arrays import WrittenArray, restore
from ..program import load
from .bench_kernel import BenchKernel
from .case import NotApplicable, check_memory, written_arrays
from .peers.libraries import LIBRARIES, Library, Unsupported


class Worker:
    """Requests to a library, one method each."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._entry: BenchKernel | None = None
        self._arguments: list[Any] = []
        self._written: list[WrittenArray] = []
        self._is_first = True
        self._run: Callable[[], object] = lambda: None

    def version(self) -> str:
        """The library's version."""
        return self.library.version()

    def case(self, entry: BenchKernel, size: Size) -> None:
        """Prepares a kernel."""
        self._arguments, self._written, self._is_first = [], [], True
        check_memory(entry, size)
        self._arguments = entry.arguments(size)
        self._written = written_arrays(load(entry.text)[entry.function], self._arguments)
        self._entry = entry
        self._run = self.library.prepare(entry, self._arguments)

    def time(self) -> float:
        """Runs once; seconds."""
        restore(self._written, whole=self._is_first)
        self._is_first = False
        start = time.perf_counter()
        self._run()
        return time.perf_counter() - start

    def outputs(self) -> dict[str, Any]:
        """What the last run computed."""
        assert self._entry is not None, "a case comes first"
        return self._entry.output_arrays(self._arguments)


def main(connection: Connection, peer: str, threads: str) -> None:
    """Answers requests until the connection is closed."""
    try:
        library: Library = importlib.import_module(f".peers.{LIBRARIES[peer]}", __package__)  # pyright: ignore[reportAssignmentType]
        library.use_threads(int(threads))
        worker = Worker(library)
        connection.send(("ok", None))
    except Exception as error:
        connection.send(("failed", _one_line(error)))
        return
    while True:
        try:
            request, *values = connection.recv()
        except EOFError:
            return
        try:
            answer = ("ok", getattr(worker, request)(*values))
        except (Unsupported, NotApplicable) as error:
            answer = ("unsupported", str(error))
        except Exception as error:
            answer = ("failed", _one_line(error))
        connection.send(answer)


def _one_line(error: Exception) -> str:
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}"
