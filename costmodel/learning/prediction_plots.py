"""Plots of predictions, with matplotlib if it is installed.

Sorted speed-ups: LOOPer, figure 4, and Baghdadi et al., "A deep learning based cost model", 2021,
figure 4. Errors: figure 5 there. Correlations of each program: figure 7. Programs: figure 8.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from ...support.extras import require
from . import metrics
from .evaluation_report import FEWEST, ProgramPredictions

MOST_PAIRS = 5000
"""Pairs in a picture of sorted speed-ups, drawn by chance (LOOPer, section 6.1)."""

SHOWN_PROGRAMS = 16

Predictions = Sequence[ProgramPredictions]


def write_plots(folder: Path, programs: Predictions, title: str, seed: int = 0) -> list[Path]:
    """Writes all pictures, as PNG files; raises MissingExtra without matplotlib, OSError."""
    require("drawing pictures", "matplotlib")
    figure: Any = importlib.import_module("matplotlib.figure")
    written: list[Path] = []
    for name, draw in _PICTURES.items():
        drawing = figure.Figure(figsize=(10, 7.5))
        draw(drawing, programs, Random(seed))
        drawing.suptitle(title)
        drawing.tight_layout()
        path = folder / f"{name}.png"
        drawing.savefig(path, dpi=100)
        written.append(path)
    return written


def _sorted_speedups(drawing: Any, programs: Predictions, random: Random) -> None:
    measured = np.concatenate([each.measured for each in programs])
    predicted = np.concatenate([each.predicted for each in programs])
    chosen = sorted(random.sample(range(len(measured)), min(MOST_PAIRS, len(measured))))
    order = np.array(chosen)[np.argsort(measured[chosen], kind="stable")]
    axes = drawing.subplots(1, 1)
    axes.plot(predicted[order], ".", markersize=3, label="predicted")
    axes.plot(measured[order], label="measured")
    axes.set_yscale("log")
    axes.set_xlabel("pairs of the test programs, by measured speed-up")
    axes.set_ylabel("speed-up")
    axes.legend()


def _errors(drawing: Any, programs: Predictions, random: Random) -> None:
    measured = np.concatenate([each.measured[~each.censored] for each in programs])
    predicted = np.concatenate([each.predicted[~each.censored] for each in programs])
    errors = 100 * metrics.absolute_percentage_errors(predicted, measured)
    above, below = drawing.subplots(2, 1)
    above.hist(np.minimum(errors, 200), bins=80)
    above.set_xlabel("absolute percentage error (200: this or more)")
    above.set_ylabel("pairs")
    below.plot(measured, errors, ".", markersize=3)
    below.set_xscale("log")
    below.set_yscale("symlog", linthresh=10)
    below.set_xlabel("measured speed-up")
    below.set_ylabel("absolute percentage error")


def _correlations(drawing: Any, programs: Predictions, random: Random) -> None:
    ranked = [each for each in programs if len(each.measured) >= FEWEST]
    kinds: Mapping[str, Callable[[Any, Any], float]] = {
        "Pearson": metrics.pearson,
        "Spearman": metrics.spearman,
    }
    for axes, (name, correlation) in zip(drawing.subplots(1, 2), kinds.items(), strict=True):
        found = [correlation(each.predicted, each.measured) for each in ranked]
        known = sorted(value for value in found if not math.isnan(value))
        axes.bar(range(len(known)), known, width=1.0)
        axes.set_ylim(-1, 1)
        axes.set_title(name)
        axes.set_xlabel("test programs")


def _programs(drawing: Any, programs: Predictions, random: Random) -> None:
    shown = random.sample(list(programs), min(SHOWN_PROGRAMS, len(programs)))
    grid = drawing.subplots(4, 4, squeeze=False)
    for axes, program in zip(grid.flat, shown, strict=False):
        both = np.concatenate([program.measured, program.predicted])
        ends = [float(both.min()), float(both.max())]
        axes.plot(ends, ends, "r", linewidth=0.8)
        axes.plot(program.measured, program.predicted, ".", markersize=4)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(program.key[:8], fontsize=7)
        axes.minorticks_off()
        axes.tick_params(labelsize=6)
    drawing.supxlabel("measured speed-up")
    drawing.supylabel("predicted speed-up")


_PICTURES: Mapping[str, Callable[[Any, Predictions, Random], None]] = {
    "speedups": _sorted_speedups,
    "errors": _errors,
    "correlations": _correlations,
    "programs": _programs,
}
