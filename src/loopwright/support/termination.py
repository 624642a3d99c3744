"""Ends of processes: SIGTERM as an interrupt, and children that do not outlive their parent."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

_PR_SET_PDEATHSIG = 1

_SOON = 0.05
"""Seconds until a lost interrupt comes again."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends what it interrupts as Ctrl-C does."""


@contextmanager
def termination_interrupts() -> Generator[threading.Event]:
    """SIGTERM raises Terminated inside, as Ctrl-C KeyboardInterrupt; the event is set when it came.

    So what was found until then is told and stored, and child processes are ended. Who handles the
    signal, or ignores it, and threads other than the main one keep what they have. An interrupt
    that is raised where Python can only ignore it, as in a destructor, comes again.
    """
    came = threading.Event()
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield came
        return

    def interrupt(*_: object) -> NoReturn:
        came.set()
        raise Terminated

    ignored, main = sys.unraisablehook, threading.get_ident()
    repeated: list[threading.Timer] = []

    def repeat(problem: sys.UnraisableHookArgs) -> None:
        if not issubclass(problem.exc_type, KeyboardInterrupt):
            ignored(problem)
            return
        number = signal.SIGTERM if issubclass(problem.exc_type, Terminated) else signal.SIGINT
        timer = threading.Timer(_SOON, signal.pthread_kill, (main, number))
        timer.daemon = True
        repeated.append(timer)
        timer.start()

    signal.signal(signal.SIGTERM, interrupt)
    sys.unraisablehook = repeat
    try:
        yield came
    finally:
        # Whoever was interrupted by another one meanwhile is not to be interrupted again.
        for timer in repeated:
            timer.cancel()
        sys.unraisablehook = ignored
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def die_with_parent(parent: int) -> None:
    """The system kills this process when the thread that started it ends, however that happens.

    `parent` is the process of that thread: it may have ended before.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)
