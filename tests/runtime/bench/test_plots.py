"""Pictures: what is drawn, on axes that only take notes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support.machines import make_machine

from loopwright.errors import MissingExtra
from loopwright.runtime.bench.plots import (
    COLOURS,
    Point,
    check_plot,
    draw_bars,
    draw_path,
    draw_roofline,
)


class Notes:
    """Axes that remember the calls of their methods."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    @property
    def xaxis(self) -> Notes:
        return self

    @property
    def yaxis(self) -> Notes:
        return self

    @property
    def transAxes(self) -> object:  # noqa: N802 - as matplotlib has it
        return object()

    def __getattr__(self, name: str) -> Any:
        return lambda *values, **options: self.calls.append((name, values, options))

    def of(self, name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [(values, options) for called, values, options in self.calls if called == name]


def test_bars_start_at_one_and_leave_gaps() -> None:
    axes = Notes()
    draw_bars(axes, ["gemm", "atax"], {"a": [2.0, 0.5], "b": [None, 4.0]}, "title")
    (first, options), (second, _) = axes.of("bar")
    assert first[1] == [1.0, -0.5] and options["bottom"] == 1.0
    assert second[1] == [3.0]
    assert first[0][1] < second[0][0], "series lie beside each other"
    assert axes.of("set_title") == [(("title",), {})]


def test_the_roofline_has_every_level_and_the_points() -> None:
    axes = Notes()
    draw_roofline(axes, make_machine(), "f64", 1, [Point("gemm", 8.0, 42e9)])
    plots = axes.of("plot")
    assert [options["label"] for _, options in plots[:4]] == [
        *("L1: 400 GB/s", "L2: 200 GB/s", "L3: 100 GB/s", "DRAM: 50 GB/s")
    ]
    assert max(plots[0][0][1]) == pytest.approx(100.0)
    assert plots[4][0][:2] == ([8.0], [42.0])
    assert max(plots[0][0][0]) >= 8.0
    assert axes.of("text")[0][0][2] == "1  gemm"
    colours = [options["color"] for _, options in plots[:4]]
    assert len(set(colours)) == 4 and set(colours) <= set(COLOURS)


def test_series_of_one_colour_have_another_hatch() -> None:
    axes = Notes()
    draw_bars(axes, ["gemm"], {f"variant {n}": [2.0] for n in range(2 * len(COLOURS))}, "")
    styles = [(options["color"], options["hatch"]) for _, options in axes.of("bar")]
    assert len(set(styles)) == 2 * len(COLOURS)


def test_a_path_has_a_line_for_each_series() -> None:
    axes = Notes()
    steps = ["as written", "tile{loops=i}", f"unroll{{loops=i{' factor=2' * 6}}}"]
    draw_path(axes, steps, {"predicted": [1.0, 2.0, 4.0], "measured": [1.0, None, 3.0]}, "gemm")
    first, second = axes.of("plot")
    assert first[0][:2] == ([0, 1, 2], [1.0, 2.0, 4.0])
    assert second[0][:2] == ([0, 2], [1.0, 3.0])
    names = axes.of("text")[0][0][2].splitlines()
    assert names[:2] == ["0  as written", "1  tile{loops=i}"]
    assert " ".join("".join(names[2:]).split()) == f"2 {steps[2]}" and len(names) == 4
    assert first[1]["marker"] != second[1]["marker"] and first[0][2] != second[0][2]


def test_without_matplotlib_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r'pip install "loopwright\[plot\]"'):
        check_plot(Path("picture.png"))
