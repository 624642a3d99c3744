"""Progress display: one line on standard error, silent where that is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
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


class ProgressLine:
    """A text, with a bar and the remaining time if there is a total; a context manager.

    Only `update` draws the line: a thread that refreshes it would disturb measurements.
    """

    def __init__(self, total: int | None = None) -> None:
        self._display = _display(total) if sys.stderr.isatty() and not _is_quiet else None
        self._last = float("-inf")

    def update(self, text: str, completed: int | None = None, total: int | None = None) -> None:
        """Shows a text; `completed` and `total` stay as they are where they are None."""
        if self._display is None:
            return
        task = self._display.task_ids[0]
        self._display.update(task, description=text, completed=completed, total=total)
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            self._display.start()  # again, after `clear`
            self._display.refresh()

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


def _display(total: int | None) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    text = TextColumn(
        "{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")
    )
    columns = (
        (TimeElapsedColumn(), text)
        if total is None
        else (BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(), text)
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
