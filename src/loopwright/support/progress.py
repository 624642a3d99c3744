"""Progress display: one line on standard error, silent where that is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress

_is_quiet = False


@contextmanager
def quiet(is_quiet: bool = True) -> Generator[None]:
    """Around what shows no progress, whatever standard error is."""
    global _is_quiet
    before, _is_quiet = _is_quiet, is_quiet
    try:
        yield
    finally:
        _is_quiet = before


EVERY = 0.1
"""Seconds between two drawings of the line."""


REPORTED_EVERY = 1.0
"""Seconds before the first report to a program, and between two."""

Listener = Callable[[str, int | None, int | None, float], None]
"""Is told a text, how much is done of how much, and for how many seconds."""

_listener: Listener | None = None


@contextmanager
def report_progress(listener: Listener) -> Generator[None]:
    """Reports progress to a listener, in place of the line."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


class ProgressLine:
    """A text, with a bar, the rate and the remaining time if there is a total; a context manager.

    Only `update` draws the line: a thread that refreshes it would disturb measurements.
    """

    def __init__(self, total: int | None = None) -> None:
        is_drawn = _listener is None and not _is_quiet and sys.stderr.isatty()
        self._display = _display(total) if is_drawn else None
        self._last = float("-inf")
        self._start = self._reported = time.monotonic()
        self._completed: int | None = None
        self._total = total

    def update(self, text: str, completed: int | None = None, total: int | None = None) -> None:
        """Shows a text; `completed` and `total` stay as they are where they are None."""
        if _listener is not None and not _is_quiet:
            self._report(_listener, text, completed, total)
        if self._display is None:
            return
        task = self._display.task_ids[0]
        self._display.update(task, description=text, completed=completed, total=total)
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            self._display.start()  # again, after `clear`
            self._display.refresh()

    def _report(
        self, listener: Listener, text: str, completed: int | None, total: int | None
    ) -> None:
        self._completed = self._completed if completed is None else completed
        self._total = self._total if total is None else total
        now = time.monotonic()
        if now - self._reported >= REPORTED_EVERY:
            self._reported = now
            # A total of 0 is not known yet.
            listener(text, self._completed, self._total or None, now - self._start)

    def clear(self) -> None:
        """Removes the line, until the next update."""
        if self._display is not None and self._display.live.is_started:
            self._display.stop()
        self._last = float("-inf")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()


def rate_text(rate: float | None) -> str:
    """How many are done in a second, or how long one takes; nothing as long as it is not known."""
    if not rate:
        return ""
    return f"{rate:.3g}/s" if rate >= 1 else f"{1 / rate:.3g} s each"


def _display(total: int | None) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(rate_text(task.speed))

    text = TextColumn(
        "{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")
    )
    columns = (
        (TimeElapsedColumn(), text)
        if total is None
        else (BarColumn(20), MofNCompleteColumn(), Rate(), TimeRemainingColumn(), text)
    )
    display = Progress(
        *columns,
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    display.add_task("", total=total)
    return display
