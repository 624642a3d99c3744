"""Interrupts by SIGTERM, also where Python can only ignore an exception."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from loopwright.support import termination
from loopwright.support.termination import Terminated, termination_interrupts


def test_sigterm_interrupts_and_everything_is_as_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with termination_interrupts() as came:
        with pytest.raises(Terminated):
            signal.raise_signal(signal.SIGTERM)
        assert came.is_set()
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_in_a_destructor_comes_again(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    class Released:
        def __del__(self) -> None:
            signal.raise_signal(number)

    with termination_interrupts(), pytest.raises(KeyboardInterrupt):
        Released()
        time.sleep(60)
    assert "Traceback" not in capsys.readouterr().err


def test_other_threads_are_left_alone() -> None:
    def look() -> None:
        with termination_interrupts() as came:
            found.append(came.is_set())

    found: list[bool] = []
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [False]


def test_an_interrupt_that_was_lost_does_not_come_after_another_one() -> None:
    class Released:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    with termination_interrupts(), pytest.raises(KeyboardInterrupt):
        Released()
        signal.raise_signal(signal.SIGINT)
    time.sleep(3 * termination._SOON)  # pyright: ignore[reportPrivateUsage]
