"""Training curve of a model: errors by epoch, as a CSV file."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...support.output_files import write_output
from .learned_model import TrainingProgress

HEADER = ("epoch", "training error", "validation error", "best", "seconds")


@dataclass
class TrainingCurve:
    """Epochs of one run, with the seconds since its begin."""

    begin: float = field(default_factory=time.monotonic)
    rows: list[tuple[TrainingProgress, float]] = field(
        default_factory=list[tuple[TrainingProgress, float]]
    )

    @property
    def seconds(self) -> float:
        """The time since the begin."""
        return time.monotonic() - self.begin

    def append(self, progress: TrainingProgress) -> None:
        """Notes an epoch."""
        self.rows.append((progress, self.seconds))

    def write(self, path: Path, *, goes_on: bool) -> None:
        """Writes the file; with `goes_on`, after the epochs that are there. Raises OSError."""
        before = list(_earlier(path, self.rows[0][0].epoch)) if goes_on and self.rows else []
        since = float(before[-1][-1]) if before else 0.0
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([HEADER, *before])
        writer.writerows(_cells(progress, since + seconds) for progress, seconds in self.rows)
        write_output(path, text.getvalue())


def _cells(progress: TrainingProgress, seconds: float) -> Sequence[str]:
    errors = (progress.training_error, progress.validation_error, progress.best)
    return (str(progress.epoch), *(f"{error:.5f}" for error in errors), f"{seconds:.1f}")


def _earlier(path: Path, epoch: int) -> Iterator[Sequence[str]]:
    """The rows of an earlier run, up to the epoch from which this one has gone on."""
    if path.exists():
        for row in list(csv.reader(path.read_text().splitlines()))[1:]:
            if int(row[0]) >= epoch:
                return
            yield row
