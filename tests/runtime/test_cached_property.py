"""Cached properties: found once, and the same object in all threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from loopwright.support.cached_property import cached_property

THREADS = 4


class Asked:
    """An object that several threads ask at the same time."""

    def __init__(self) -> None:
        self.everybody_asks = threading.Barrier(THREADS)
        self.found = 0

    @cached_property
    def value(self) -> object:
        self.everybody_asks.wait(timeout=60)
        self.found += 1
        return object()


def test_threads_get_the_same_object() -> None:
    asked = Asked()
    with ThreadPoolExecutor(THREADS) as threads:
        results = list(threads.map(lambda _: asked.value, range(THREADS)))
    assert all(each is asked.value for each in results)
    assert asked.found == THREADS
