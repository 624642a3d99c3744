"""Plots of measurements, with matplotlib if it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...support.extras import extra_for
from ..machine.measured import MeasuredMachine
from ..machine.roofline_text import FIRST, LAST


class PlottingError(Exception):
    """A plot that cannot be made; `str()` is one line."""


@dataclass(frozen=True)
class Point:
    """A measured program: FLOP per byte of traffic, and FLOP/s."""

    name: str
    intensity: float
    rate: float


def check_plot(path: Path) -> None:
    """Raises PlottingError or MissingExtra when a picture cannot be drawn, before measurements."""
    drawing, _ = figure(1)
    _check_format(drawing, path)


def figure(rows: int) -> tuple[Any, Any]:
    """A figure with so many axes above each other; raises MissingExtra without matplotlib."""
    with extra_for("drawing pictures"):
        matplotlib = importlib.import_module("matplotlib")
        pyplot = importlib.import_module("matplotlib.pyplot")
    matplotlib.use("Agg")
    return pyplot.subplots(rows, 1, figsize=(11, 5.5 * rows), squeeze=False)


def write(drawing: Any, path: Path) -> None:
    """Writes a figure to a file, in the format that its name asks for; raises PlottingError."""
    _check_format(drawing, path)
    drawing.tight_layout()
    drawing.savefig(path)


def _check_format(drawing: Any, path: Path) -> None:
    formats = drawing.canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in formats:
        raise PlottingError(f"cannot draw {path}: name it .png, .svg or .pdf")


def draw_roofline(
    axes: Any,
    machine: MeasuredMachine,
    element_type: str,
    threads: int,
    points: Sequence[Point] = (),
) -> None:
    """The roofs of every level of memory, and measured programs below them."""
    exponents = [FIRST + (LAST - FIRST) * step / 200 for step in range(201)]
    intensities = [2**exponent for exponent in exponents]
    ceilings = machine.ceilings(element_type, threads)
    for level in machine.bandwidths:
        rates = [ceilings.attainable(level, intensity) * 1e-9 for intensity in intensities]
        axes.plot(intensities, rates, label=level)
    for point in points:
        axes.plot([point.intensity], [point.rate * 1e-9], "k.")
        axes.annotate(point.name, (point.intensity, point.rate * 1e-9), fontsize=7)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlabel("FLOP per byte")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(f"{machine.cpu}, {element_type}, threads: {threads}")
    axes.legend()


def draw_bars(
    axes: Any, groups: Sequence[str], heights: Mapping[str, Sequence[float | None]], title: str
) -> None:
    """Bars of several series beside each other per group, up or down from 1; None leaves a gap."""
    width = 0.8 / max(1, len(heights))
    for number, (name, values) in enumerate(heights.items()):
        offset = (number - (len(heights) - 1) / 2) * width
        shown = [(x + offset, value) for x, value in enumerate(values) if value is not None]
        heights_from_one = [value - 1.0 for _, value in shown]
        axes.bar([x for x, _ in shown], heights_from_one, width, bottom=1.0, label=name)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_yscale("log", base=2)
    axes.set_xticks(range(len(groups)), groups, rotation=60, ha="right", fontsize=7)
    axes.set_title(title)
    axes.legend(fontsize=7)
