"""Checks that end or stop their process; in a module of its own, which other processes import."""

from __future__ import annotations

import ctypes
import os
import time

from .supervision import Tell, Verdict


def dies(seed: int, tell: Tell) -> None:
    """Reads through a null pointer at seed 2."""
    tell("a step")
    if seed == 2:
        ctypes.string_at(0)
    tell(Verdict(seed, "schedule 0", "same"))


def leaves(seed: int, tell: Tell) -> None:
    """Exits at seed 1, without a message."""
    if seed == 1:
        os._exit(3)
    tell(Verdict(seed, "schedule 0", "same"))


def computes_for_ever(seed: int, tell: Tell) -> None:
    """Hangs at seed 0."""
    tell("a long step")
    while not seed:
        pass
    tell(Verdict(seed, "schedule 0", "same"))


def waits_for_ever(seed: int, tell: Tell) -> None:
    """Hangs at seed 0, without taking any time of a CPU."""
    tell("a lock")
    time.sleep(0 if seed else 1000)
    tell(Verdict(seed, "schedule 0", "same"))


def is_wrong(seed: int, tell: Tell) -> None:
    """A wrong result."""
    tell(Verdict(seed, "C", "wrong", "A: 1\n2"))
