"""Plots of measurements, with matplotlib if it is installed."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...support.extras import extra_for
from ..machine.measured import MeasuredMachine
from ..machine.roofline_text import FIRST, LAST

COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7"),
    *("#56B4E9", "#D55E00", "#F0E442", "#000000"),
)
"""Those of Okabe and Ito, which people with colour-vision deficiencies can tell apart."""

LINES, MARKERS, HATCHES = ("-", "--", "-.", ":"), ("o", "s", "^", "D"), ("", "//", "..", "xx")
INK, GRID = "#222222", "#DDDDDD"

SMALL = 9
"""Points of the smallest text."""

WIDEST_NAME = 44
"""Characters of a line of a name beside a plot."""


def colour(number: int) -> str:
    """The colour of a series."""
    return COLOURS[number % len(COLOURS)]


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


def figure(rows: int, bars: int = 0) -> tuple[Any, Any]:
    """A figure with so many axes above each other; raises MissingExtra without matplotlib.

    It is wide enough for so many bars.
    """
    with extra_for("drawing pictures"):
        matplotlib = importlib.import_module("matplotlib")
        pyplot = importlib.import_module("matplotlib.pyplot")
    matplotlib.use("Agg")
    return pyplot.subplots(rows, 1, figsize=(max(11, bars / 9), 5.5 * rows), squeeze=False)


def write(drawing: Any, path: Path) -> None:
    """Writes a figure to a file, in the format that its name asks for; raises PlottingError."""
    _check_format(drawing, path)
    drawing.tight_layout()
    drawing.savefig(path, dpi=150)


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
    last = max([2.0**LAST, *(2 * point.intensity for point in points)])
    steps = [step / 200 for step in range(201)]
    intensities = [2**FIRST * (last / 2**FIRST) ** step for step in steps]
    ceilings = machine.ceilings(element_type, threads)
    for number, level in enumerate(machine.bandwidths):
        rates = [ceilings.attainable(level, intensity) * 1e-9 for intensity in intensities]
        name = f"{level}: {ceilings.bandwidths[level] * 1e-9:.3g} GB/s"
        axes.plot(intensities, rates, LINES[number % len(LINES)], color=colour(number), label=name)
    for number, point in enumerate(points, start=1):
        at = point.intensity, point.rate * 1e-9
        axes.plot([at[0]], [at[1]], "o", color=INK, markersize=11)
        axes.annotate(str(number), at, fontsize=7, color="white", ha="center", va="center")
    _list_beside(axes, [point.name for point in points], start=1)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.xaxis.set_major_formatter(_power)
    axes.yaxis.set_major_formatter(_power)
    axes.set_xlabel("arithmetic intensity (FLOP/byte)")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(f"{machine.cpu}, {element_type}, threads: {threads}")
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.legend(fontsize=SMALL, title="bandwidth")


def _list_beside(axes: Any, names: Sequence[str], start: int) -> None:
    """Names with the numbers that stand for them in the plot."""
    lines: list[str] = []
    for number, name in enumerate(names, start):
        first, *more = textwrap.wrap(name, WIDEST_NAME) or [""]
        lines += [f"{number}  {first}", *(f"      {each}" for each in more)]
    axes.text(1.02, 1.0, "\n".join(lines), fontsize=SMALL, va="top", transform=axes.transAxes)


def _power(value: float, _: object) -> str:
    """A power of two: as a fraction below one."""
    return f"{value:g}" if value >= 1 else f"1/{1 / value:g}"


def draw_bars(
    axes: Any, groups: Sequence[str], heights: Mapping[str, Sequence[float | None]], title: str
) -> None:
    """Bars of several series beside each other per group, up or down from 1; None leaves a gap."""
    width = 0.8 / max(1, len(heights))
    for number, (name, values) in enumerate(heights.items()):
        offset = (number - (len(heights) - 1) / 2) * width
        shown = [(x + offset, value) for x, value in enumerate(values) if value is not None]
        heights_from_one = [value - 1.0 for _, value in shown]
        # The ninth series has the colour of the first, and another hatch.
        hatch = HATCHES[number // len(COLOURS) % len(HATCHES)]
        axes.bar(
            [x for x, _ in shown],
            heights_from_one,
            width,
            bottom=1.0,
            label=name,
            color=colour(number),
            hatch=hatch,
            edgecolor="white",
            linewidth=0.3,
        )
    axes.axhline(1.0, color=INK, linewidth=0.8)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(_power)
    axes.set_ylabel("speed-up (times as fast)")
    axes.set_xticks(range(len(groups)), groups, rotation=60, ha="right", fontsize=SMALL)
    axes.set_title(title)
    axes.grid(True, axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(fontsize=SMALL, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def draw_path(
    axes: Any, steps: Sequence[str], series: Mapping[str, Sequence[float | None]], title: str
) -> None:
    """Speed-ups after each step of a schedule, a line for each series; None leaves a gap."""
    for number, (name, values) in enumerate(series.items()):
        shown = [(step, value) for step, value in enumerate(values) if value]
        axes.plot(
            [step for step, _ in shown],
            [value for _, value in shown],
            LINES[number % len(LINES)],
            marker=MARKERS[number % len(MARKERS)],
            color=colour(number),
            label=name,
        )
    axes.axhline(1.0, color=INK, linewidth=0.8)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(_power)
    axes.set_xticks(range(len(steps)))
    _list_beside(axes, steps, start=0)
    axes.set_xlabel("step of the schedule")
    axes.set_ylabel("speed-up (times as fast)")
    axes.set_title(title)
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.legend(fontsize=SMALL)
