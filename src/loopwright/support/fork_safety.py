"""Locks across a fork: taken before it, and released in parent and child.

A child of `os.fork` has the forking thread alone. A lock that another thread held then would never
be released in it, and what it protects might be half changed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Protocol

SECONDS = 60.0
"""How long a fork waits for a lock: longer than any holder works."""


class Lock(Protocol):
    """A lock of `threading`."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...

    def release(self) -> None: ...


def held_in_forks(lock: Lock) -> None:
    """Has forks wait until no other thread holds the lock.

    A thread that holds it must not wait for one that was registered before.
    """
    taken = threading.local()

    def before() -> None:
        taken.now = lock.acquire(timeout=SECONDS)

    def after() -> None:
        if getattr(taken, "now", False):
            taken.now = False
            lock.release()

    os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)


def after_fork_in_child(action: Callable[[], object]) -> None:
    """Has `action` called in every child of a fork."""
    os.register_at_fork(after_in_child=action)
