"""Rows a large power of two apart have few lines of a column in a cache together."""

from __future__ import annotations

from math import inf

import pytest

from loopwright.passes.estimate.set_conflicts import rows_without_conflicts
from loopwright.passes.machine.target import Target


@pytest.mark.parametrize(
    ("pitch", "level", "rows"),
    [
        (4096, 1, 8),
        (8192, 1, 8),
        (2048, 1, 16),
        (1024, 1, 32),
        (8128, 1, 512),
        (8192, 2, 128),
        (4096, 2, 256),
        (8, 1, 4096),
        (0, 1, inf),
    ],
)
def test_rows_of_a_pitch(pitch: int, level: int, rows: float) -> None:
    assert rows_without_conflicts(Target.named("zen4"), pitch, level) == rows


def test_rows_of_nearly_such_a_pitch() -> None:
    """Lanes of skewed rows are an element less than a row apart."""
    assert rows_without_conflicts(Target.named("zen4"), 4096 - 4) < 16
    assert rows_without_conflicts(Target.named("zen4"), 4096 + 4) < 16
