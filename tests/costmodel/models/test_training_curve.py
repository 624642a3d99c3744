"""Training curves, also of trainings that go on."""

from __future__ import annotations

from pathlib import Path

from loopwright.costmodel.models.learned_model import TrainingProgress
from loopwright.costmodel.models.training_curve import TrainingCurve


def curve(begin: float, *epochs: int) -> TrainingCurve:
    rows = [(TrainingProgress(n, 9, 1.0 / n, 2.0 / n, 2.0 / n), begin + n) for n in epochs]
    return TrainingCurve(rows=rows)


def test_a_curve_goes_on_after_the_last_epoch_that_counted(tmp_path: Path) -> None:
    path = tmp_path / "curve.csv"
    curve(0.0, 1, 2, 3).write(path, goes_on=False)
    # It was interrupted after the checkpoint of the second epoch.
    curve(0.5, 3, 4).write(path, goes_on=True)
    assert path.read_text().splitlines() == [
        "epoch,training error,validation error,best,seconds",
        "1,1.00000,2.00000,2.00000,1.0",
        "2,0.50000,1.00000,1.00000,2.0",
        "3,0.33333,0.66667,0.66667,5.5",
        "4,0.25000,0.50000,0.50000,6.5",
    ]


def test_another_training_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "curve.csv"
    curve(0.0, 1, 2).write(path, goes_on=False)
    curve(0.0, 1).write(path, goes_on=False)
    assert len(path.read_text().splitlines()) == 2
