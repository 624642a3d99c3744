"""A timer that aborts the calls of isl in a thread: isl itself counts operations, never the time.

Python cannot interrupt a call of isl, which holds the interpreter's lock. A POSIX timer on the CPU
time of the thread can: the C library calls `isl_ctx_abort` on a thread of its own when it expires,
and isl then ends with an error, as it does after too many operations.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from functools import cache
from importlib import import_module
from pathlib import Path

import islpy as isl

_CLOCK_THREAD_CPUTIME_ID = 3
_SIGEV_THREAD = 2
_TIMER_ABSTIME = 1
_NANOSECONDS = 1_000_000_000


class _EventUnion(ctypes.Union):
    """What the C library calls, in the room that `struct sigevent` has."""

    _fields_ = (("function", ctypes.c_void_p), ("_room", ctypes.c_int * 12))


class _Event(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_void_p),
        ("_signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("call", _EventUnion),
    )


class _Setting(ctypes.Structure):
    """`struct itimerspec`: a timer that expires once."""

    _fields_ = (
        ("_interval", ctypes.c_long * 2),
        ("seconds", ctypes.c_long),
        ("nanoseconds", ctypes.c_long),
    )


class AbortTimer:
    """Aborts isl at a time of the clock of the calling thread (`time.thread_time`)."""

    def __init__(self, library: ctypes.CDLL, function: int, argument: int) -> None:
        self._library = library
        self._timer = ctypes.c_void_p()
        event = _Event(argument, 0, _SIGEV_THREAD, _EventUnion(function))
        clock = ctypes.c_int(_CLOCK_THREAD_CPUTIME_ID)
        if library.timer_create(clock, ctypes.byref(event), ctypes.byref(self._timer)) != 0:
            raise OSError("no timer")
        self._owner = os.getpid()
        self._is_running = False

    def __del__(self) -> None:
        # A forked child inherits the object, not the timer.
        if self._timer and self._owner == os.getpid():
            self._library.timer_delete(self._timer)

    def start(self, deadline: float) -> None:
        """Isl is aborted at the deadline, at once when that is past; ended by `stop`."""
        self._is_running = deadline > time.thread_time()
        if self._is_running:
            self._set(_Setting((0, 0), *divmod(int(deadline * _NANOSECONDS), _NANOSECONDS)))
        else:
            isl.DEFAULT_CONTEXT.abort()

    def stop(self) -> bool:
        """Whether isl was aborted since `start`; it can be used again afterwards."""
        if self._owner != os.getpid():
            return False
        context = isl.DEFAULT_CONTEXT
        if self._is_running:
            left = self._set(_Setting((0, 0), 0, 0))
            if left.seconds or left.nanoseconds:
                return False
            # It has expired, and the thread that aborts may only be about to run.
            end = time.monotonic() + 1
            while not context.aborted() and time.monotonic() < end:
                time.sleep(0.0001)
        context.resume()
        return True

    def _set(self, setting: _Setting) -> _Setting:
        before = _Setting()
        self._library.timer_settime(
            self._timer, _TIMER_ABSTIME, ctypes.byref(setting), ctypes.byref(before)
        )
        return before


class _Timers(threading.local):
    """The timer of each thread; None where there is none."""

    def __init__(self) -> None:
        self.process = 0
        self.timer: AbortTimer | None = None


_timers = _Timers()


def abort_timer() -> AbortTimer | None:
    """The timer of this thread; None where the system has no such timers."""
    if _timers.process != os.getpid():
        _timers.process, _timers.timer = os.getpid(), _make_timer()
    return _timers.timer


def _make_timer() -> AbortTimer | None:
    found = _functions()
    if found is None:
        return None
    try:
        return AbortTimer(*found)
    except OSError:
        return None


@cache
def _functions() -> tuple[ctypes.CDLL, int, int] | None:
    """The C library, the address of `isl_ctx_abort`, and that of islpy's context."""
    try:
        library = ctypes.CDLL(None)
        for name in ("timer_create", "timer_settime", "timer_delete"):
            getattr(library, name)
        own = ctypes.CDLL(str(import_module("islpy._isl").__file__))
        function = ctypes.cast(own.isl_ctx_abort, ctypes.c_void_p).value
    except (AttributeError, OSError):
        return None
    context = _address_of_context(own)
    return None if context is None or function is None else (library, function, context)


def _address_of_context(library: ctypes.CDLL) -> int | None:
    """Where isl's context is: the first word of what nanobind keeps for the Python object.

    Believed only where that word points to memory in which isl finds the setting just made.
    """
    context = isl.DEFAULT_CONTEXT
    header, size = object.__basicsize__, type(context).__basicsize__
    offset = ctypes.c_int32.from_address(id(context) + header).value
    if not header <= offset <= size - ctypes.sizeof(ctypes.c_void_p):
        return None
    address = ctypes.c_void_p.from_address(id(context) + offset).value
    if address is None or not _is_readable(address):
        return None
    get = library.isl_ctx_get_max_operations
    get.restype, get.argtypes = ctypes.c_ulong, [ctypes.c_void_p]
    before, mark = context.get_max_operations(), 0x5CED_1E5E
    context.set_max_operations(mark)
    try:
        return address if get(address) == mark else None
    finally:
        context.set_max_operations(before)


def _is_readable(address: int) -> bool:
    """Whether the page at an address, and the one behind it, can be read."""
    try:
        with Path("/proc/self/mem").open("rb", buffering=0) as memory:
            memory.seek(address)
            return len(memory.read(1024)) == 1024
    except (OSError, OverflowError, ValueError):
        return False
