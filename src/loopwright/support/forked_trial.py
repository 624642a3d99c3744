"""A call tried in a copy of this process: for libraries that end the process at some inputs."""

from __future__ import annotations

import faulthandler
import os
import resource
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn


def survives(call: Callable[[], object], seconds: int) -> bool:
    """Whether a forked child gets through a call, or raises in it, within some seconds of CPU time.

    The call is of a library alone: locks of other threads stay taken in the child.
    """
    try:
        child = os.fork()
    except OSError:
        return False
    if not child:
        _try(call, seconds)
    try:
        _, status = os.waitpid(child, 0)
    except ChildProcessError:  # somebody else waits for all children
        return False
    return os.waitstatus_to_exitcode(status) == 0


def _try(call: Callable[[], object], seconds: int) -> NoReturn:
    """Ends the child: with 0 when the call has ended."""
    try:
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        with suppress(Exception):  # the caller gets the same one
            call()
    finally:
        os._exit(0)
