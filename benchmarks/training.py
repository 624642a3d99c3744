"""Training of a model: how good it is on each part of its labels, and its curve.

    loopwright train datasets/random-tiramisu --model tiramisu -o tiramisu.npz
    python benchmarks/training.py tiramisu.npz "loopwright train ..." --record tiramisu-training

The figures are those that `loopwright train` has left in FILE and FILE.report; `constant` is the
best constant prediction for the test. The curve is a record of its own, NAME-curve.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import record

from loopwright.costmodel.models.model_files import load_model

PARTS = ("test", "constant", "validation", "training")
COLUMNS = (
    *("part", "programs, pairs", "MAPE", "median error", "Spearman", "within program"),
    *("nDCG@1", "regret of the choice"),
)
CURVE = ("epoch", "training error", "validation error", "best")
SHOWN = 14
"""Epochs in the table of a curve, the closer the earlier."""


def row(part: str, found: Mapping[str, float]) -> list[record.Cell]:
    """The figures of a part; '-' for those that a constant does not have."""

    def ratio(name: str) -> str:
        return f"{found[name]:.3f}" if name in found else "-"

    return [
        part,
        f"{found['programs']:,}, {found['pairs']:,}",
        f"{found['mape']:.1%}",
        f"{found['median_error']:.1%}",
        ratio("spearman"),
        ratio("spearman_within"),
        ratio("ndcg_1"),
        f"{found['regret']:.1%}",
    ]


def shown(epochs: Sequence[Mapping[str, str]]) -> list[list[record.Cell]]:
    """Some epochs of a curve, the first and the last among them."""
    numbers = np.geomspace(1, len(epochs), SHOWN).round().astype(int)
    chosen: list[int] = (np.unique(numbers) - 1).tolist()
    return [
        [
            int(epochs[number]["epoch"]),
            *(f"{float(epochs[number][name]):.1%}" for name in CURVE[1:]),
        ]
        for number in chosen
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="the model")
    parser.add_argument("command", help="that has trained it")
    record.add_option(parser)
    options = parser.parse_args()
    metrics = load_model(options.file).card["metrics"]
    rows = [row(part, metrics[part]) for part in PARTS]
    curve = options.file.with_name(f"{options.file.name}.report") / "curve.csv"
    epochs = shown(list(csv.DictReader(curve.read_text().splitlines())))
    for each in (*rows, *epochs):
        print("  ".join(map(str, each)))
    if options.record is not None:
        command = options.command
        record.write(options.record, COLUMNS, rows, command=command, page="papers")
        record.write(f"{options.record}-curve", CURVE, epochs, command=command, page="papers")


if __name__ == "__main__":
    main()
