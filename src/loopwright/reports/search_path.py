"""Section: the steps of the tuned schedule, as predicted and as measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..passes.search.result import PathStep
from ..support.markup import Markup, element, join, table
from .drawing import legend, line, picture, stroke, text
from .section import Section, missing
from .subject import Subject

TITLE = "Search path"

_LEFT, _TOP, _STEP, _HEIGHT = 60.0, 18.0, 46.0, 220.0


def section(subject: Subject) -> Section:
    """Speed-ups after each step of what tuning has found."""
    lead = (
        "Speed-ups over the program as written after each step of the schedule in the tuning "
        "database, by the cost model and as measured."
    )
    if subject.context is None:
        return Section("search", TITLE, lead, missing(subject.needs_sizes))
    if subject.tuned is None:
        words = (
            "The tuning database has no schedule for these sizes and threads: "
            "'loopwright tune' finds one."
        )
        return Section("search", TITLE, lead, missing(words))
    if not subject.path:
        words = f"The tuned schedule is {subject.tuned or 'the program as written'}."
        return Section("search", TITLE, lead, element("p", words))
    rows = [["", "step", "predicted", "measured"]]
    for number, step in enumerate(subject.path):
        cells = (f"{s:.2f}x" if s is not None else "-" for s in (step.predicted, step.measured))
        rows.append([str(number), step.step, *cells])
    body = join((_drawing(subject.path), element("div", table(rows), class_="scroll")))
    return Section("search", TITLE, lead, body)


def _drawing(path: Sequence[PathStep]) -> Markup:
    lines = {
        "predicted": [step.predicted for step in path],
        "measured": [step.measured for step in path],
    }
    known = [value for values in lines.values() for value in values if value]
    if not known:
        return missing("Nothing is known of the steps.")
    low, high = math.log2(min(known)) - 0.3, math.log2(max(known)) + 0.3
    width = _LEFT + _STEP * len(path)

    def place(number: int, value: float) -> tuple[float, float]:
        y = _TOP + _HEIGHT * (high - math.log2(value)) / (high - low)
        return _LEFT + _STEP * (number + 0.5), y

    parts: list[Markup] = []
    for exponent in range(math.ceil(low), math.floor(high) + 1):
        _, y = place(0, 2.0**exponent)
        parts.append(line(_LEFT, y, width, y, "grid"))
        parts.append(text(_LEFT - 6, y + 4, f"{2.0**exponent:g}x", "tick", text_anchor="end"))
    for number in range(len(path)):
        x, _ = place(number, 1.0)
        parts.append(text(x, _TOP + _HEIGHT + 16, number, "tick", text_anchor="middle"))
    for style, values in lines.items():
        points = [place(n, value) for n, value in enumerate(values) if value]
        joined = " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
        parts.append(element("polyline", points=joined, class_=f"series {style}"))
        for x, y in points:
            parts.append(element("circle", cx=x, cy=y, r=4, class_=f"series {style}"))
    parts.append(text(2, _TOP - 6, "speed-up", "axis"))
    parts.append(text(width / 2, _TOP + _HEIGHT + 34, "step", "axis", text_anchor="middle"))
    drawing = picture(
        max(width, 260.0) + 10, _TOP + _HEIGHT + 40, *parts, label="Predicted and measured"
    )
    names = [name for name, values in lines.items() if any(values)]
    return join((drawing, legend((stroke(f"series {name}"), name) for name in names)))
