"""isl is bounded in operations and in time, alone, one bound in another, and in every thread."""

from __future__ import annotations

import threading
import time

import islpy as isl
import pytest

from loopwright.passes.polyhedral.abort_timer import abort_timer
from loopwright.passes.polyhedral.isl_context import TooComplexError, bounded

needs_timer = pytest.mark.skipif(
    abort_timer() is None, reason="the system has no timers on the time of a thread"
)


def hard() -> None:
    """Minutes of isl."""
    parts = [
        f"{{ [a, b, c, d, e] : exists x, y: a = {k + 2}x + 2y and b = 5y + {k}x and "
        f"0 <= a, b, c, d, e <= n and (a mod 7) + (b mod {k + 3}) <= 3 }}"
        for k in range(1, 5)
    ]
    union = isl.Set(f"[n] -> {parts[0]}")
    for part in parts[1:]:
        union = union.union(isl.Set(f"[n] -> {part}"))
    union.complement().coalesce()


def is_usable() -> bool:
    return not isl.Set("{ [i] : 0 <= i < 3 }").is_empty() and not isl.DEFAULT_CONTEXT.aborted()


@needs_timer
def test_a_long_computation_ends() -> None:
    start = time.thread_time()
    with (
        pytest.raises(TooComplexError, match=r"isl gave up after 0\.1 seconds"),
        bounded(seconds=0.1),
    ):
        hard()
    assert time.thread_time() - start < 2
    assert is_usable()


def test_operations_are_bounded_as_well() -> None:
    with pytest.raises(TooComplexError, match="isl gave up after 1000 operations"), bounded(1000):
        hard()
    assert is_usable()


@needs_timer
def test_a_bound_holds_for_all_that_are_inside() -> None:
    ends = 0
    start = time.thread_time()
    with pytest.raises(TooComplexError, match=r"after 0\.3 seconds"), bounded(seconds=0.3):
        while time.thread_time() < start + 20:
            try:
                with bounded(seconds=0.1):
                    hard()
            except TooComplexError:
                ends += 1
            isl.Set("{ [i] : 0 <= i < 3 }").is_empty()
    assert 2 <= ends <= 4
    assert is_usable()


@needs_timer
def test_the_bound_around_goes_on_after_one_inside() -> None:
    with pytest.raises(TooComplexError, match=r"after 0\.05 seconds"), bounded(seconds=0.05):
        with bounded(seconds=5):
            isl.Set("{ [i] : 0 <= i < 3 }").is_empty()
        hard()
    assert is_usable()


@needs_timer
def test_what_ends_in_time_is_not_disturbed_later() -> None:
    with bounded(seconds=0.05):
        isl.Set("{ [i] : 0 <= i < 3 }").is_empty()
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        assert is_usable()


@needs_timer
def test_every_thread_has_a_time_of_its_own() -> None:
    messages: list[str] = []

    def work() -> None:
        try:
            with bounded(seconds=0.1):
                hard()
        except TooComplexError as error:
            messages.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert messages == ["isl gave up after 0.1 seconds"] * 2
    assert is_usable()
