"""Section: times of the program as written, its schedules and peers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..runtime.measuring.timing import format_seconds
from ..support.markup import Markup, element, join, table
from .drawing import legend, line, mark, picture, room_for, text
from .measurements import AS_WRITTEN
from .section import Section, missing
from .subject import Measured, Subject

TITLE = "Times"

_ROW, _PLOT, _TOP = 30.0, 420.0, 12.0


def section(subject: Subject) -> Section:
    """Medians with quartiles, and a table."""
    lead = (
        "Medians of repeated calls that start from the same contents; a line is from the lower to "
        "the upper quartile. The scale is logarithmic."
    )
    if subject.unmeasured is not None:
        return Section("times", TITLE, lead, missing(subject.unmeasured))
    found = [each for each in subject.measured if each.seconds]
    notes = [
        element("p", f"{each.name}: {each.note}", class_="bad" if each.seconds else "note")
        for each in subject.measured
        if each.note
    ]
    if not found:
        return Section("times", TITLE, lead, join((missing("Nothing could be run."), *notes)))
    marks = legend(
        (
            (mark("circle", "ours"), "loopwright"),
            *([(mark("rect", "peer"), "peers")] if any(not m.is_ours for m in found) else []),
        )
    )
    body = join((_drawing(found), marks, _table(found), *notes))
    return Section("times", TITLE, lead, body)


def _drawing(found: Sequence[Measured]) -> Markup:
    """A row for each variant, the fastest first."""
    rows = sorted(found, key=lambda each: each.median)
    low = min(each.quantile(0.25) for each in rows)
    high = max(each.quantile(0.75) for each in rows)
    first, last = math.log10(low) - 0.06, math.log10(high) + 0.06
    first, last = (first, last) if last - first > 0.3 else (first - 0.15, last + 0.15)
    height = _TOP + _ROW * len(rows)
    left = max(120.0, room_for(each.label for each in rows) + 12)

    def x(seconds: float) -> float:
        return left + _PLOT * (math.log10(seconds) - first) / (last - first)

    parts: list[Markup] = []
    for value in _decades(first, last):
        at = x(value)
        parts.append(line(at, _TOP, at, height, "grid"))
        parts.append(text(at, height + 16, format_seconds(value), "tick", text_anchor="middle"))
    for number, each in enumerate(rows):
        y = _TOP + _ROW * (number + 0.5)
        parts.append(text(left - 10, y + 4, each.label, text_anchor="end"))
        parts.append(line(x(each.quantile(0.25)), y, x(each.quantile(0.75)), y, "whisker"))
        at = x(each.median)
        parts.append(
            element("circle", cx=at, cy=y, r=6, class_="ours")
            if each.is_ours
            else element("rect", x=at - 5, y=y - 5, width=10, height=10, class_="peer")
        )
        parts.append(text(left + _PLOT + 12, y + 4, format_seconds(each.median)))
    return picture(
        left + _PLOT + 90, height + 24, *parts, label="Times of all variants", class_="times"
    )


def _decades(first: float, last: float) -> list[float]:
    """Round numbers between two powers of ten: 1, 2, 5, 10 ..., not more than a few."""
    exponents = range(math.floor(first), math.ceil(last) + 1)
    for factors in ((1, 2, 5), (1,)):
        values = [factor * 10.0**exponent for exponent in exponents for factor in factors]
        inside = [value for value in values if first <= math.log10(value) <= last]
        if len(inside) <= 7:
            return inside
    return inside[:: math.ceil(len(inside) / 7)]


def _table(found: Sequence[Measured]) -> Markup:
    base = next((each.median for each in found if each.name == AS_WRITTEN), None)
    rows = [["variant", "threads", "median", "quartiles", "spread", "runs", "speed-up"]]
    for each in found:
        quartiles = each.quantile(0.25), each.quantile(0.75)
        rows.append(
            [
                each.name,
                str(each.threads),
                format_seconds(each.median),
                " to ".join(map(format_seconds, quartiles)),
                # Of one run, nobody knows the spread.
                f"{each.spread:.1%}" if len(each.seconds) > 1 else "-",
                str(len(each.seconds)),
                "-" if base is None else f"{base / each.median:.2f}x",
            ]
        )
    note = "Speed-ups are over the program as written on one thread."
    return join(
        (
            element("div", table(rows, numbers=True), class_="scroll"),
            element("p", note, class_="note"),
        )
    )
