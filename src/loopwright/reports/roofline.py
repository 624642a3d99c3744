"""Section: the roofline, with every variant below it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import Float32Type, Float64Type

from ..passes.estimate.estimate import estimate
from ..passes.estimate.roofline import Ceilings
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.machine.target import Target
from ..passes.polyhedral.isl_context import ISL_LOCK
from ..support.markup import Markup, element, join
from .colours import category
from .drawing import legend, line, mark, picture, text
from .measurements import AS_WRITTEN, work
from .section import Section, missing
from .subject import Subject

TITLE = "Roofline"

_LEFT, _TOP, _WIDTH, _HEIGHT, _LABELS = 64.0, 16.0, 460.0, 320.0, 190.0


_Scale = Callable[[float], float]


@dataclass(frozen=True)
class Point:
    """A variant: its FLOP/s, and whether it was measured or is expected."""

    name: str
    rate: float
    is_measured: bool
    is_ours: bool = True


def section(subject: Subject) -> Section:
    """Rates of all variants under the limits of the machine."""
    lead = (
        "Floating-point operations per second against operations per byte that the program moves "
        "at least. No code can be above the roof of the memory that holds its data."
    )
    if subject.context is None:
        return Section("roofline", TITLE, lead, missing(subject.needs_sizes))
    operations, traffic = work(subject)
    if not operations or not traffic:
        words = "The program has no floating-point operations to count."
        return Section("roofline", TITLE, lead, missing(words))
    ceilings, origin = _ceilings(subject)
    if ceilings.peak is None:
        words = "The peak is known of floating-point elements only."
        return Section("roofline", TITLE, lead, missing(words))
    points = list(_points(subject, operations, subject.context))
    drawing = _drawing(ceilings, operations / traffic, points)
    entries = [
        (mark("circle", "point"), "measured"),
        (mark("circle", "point expected"), "expected by the model"),
    ]
    if any(not point.is_ours for point in points):
        entries.append((mark("rect", "peer"), "peers, measured"))
    marks = legend(entries)
    facts = (
        f"{operations:,} operations, {traffic:,} bytes at least: "
        f"{operations / traffic:.3g} operations per byte. {origin}"
    )
    return Section(
        "roofline", TITLE, lead, join((drawing, marks, element("p", facts, class_="note")))
    )


def _ceilings(subject: Subject) -> tuple[Ceilings, str]:
    """The limits of the machine, and where they are from."""
    kind = _element_type(subject)
    machine = subject.machine
    if machine is not None:
        limits = machine.ceilings(kind, subject.threads)
        return limits, f"Limits of {subject.threads} thread(s) as measured by loopwright machine."
    limits = model_ceilings(subject.schedule.target, kind, subject.threads)
    return limits, (
        "Limits are those of the performance model; 'loopwright machine' measures this machine."
    )


def model_ceilings(target: Target, kind: str, threads: int) -> Ceilings:
    """The limits that the performance model of a target implies."""
    lanes = target.vector_bits // (32 if kind == "f32" else 64)
    threads = min(threads, target.cores)
    peak = 2 * lanes * target.multiply_adds_per_cycle * target.hertz * threads
    levels = list(target.bandwidths)
    bandwidths: dict[str, float] = {}
    for level in levels:
        name = "DRAM" if level == levels[-1] else f"L{level + 1}"
        speed = target.bandwidths[level] * threads
        bandwidths[name] = min(speed, target.memory_bandwidth) if name == "DRAM" else speed
    return Ceilings(peak if kind in ("f32", "f64") else None, bandwidths)


def _element_type(subject: Subject) -> str:
    """The type of most bytes: that of the widest floating-point array."""
    if subject.entry is not None:
        return subject.entry.element_type
    kinds = {type(array.element_type) for array in subject.function.scop.arrays}
    return "f64" if Float64Type in kinds else "f32" if Float32Type in kinds else "i32"


def _points(subject: Subject, operations: int, context: SchedulingContext) -> Iterator[Point]:
    measured = [each for each in subject.measured if each.seconds]
    for each in measured:
        yield Point(each.name, operations / each.median, True, each.is_ours)
    with ISL_LOCK:
        plain = estimate(subject.original, SchedulingContext(context.sizes, 1))
        yield Point(AS_WRITTEN, operations / plain, False)
        if subject.schedule.transformations:
            yield Point(subject.chosen, operations / estimate(subject.schedule, context), False)


def _drawing(ceilings: Ceilings, intensity: float, points: list[Point]) -> Markup:
    assert ceilings.peak is not None, "asked before"
    first = min(-4.0, math.floor(math.log2(intensity)) - 1)
    last = max(6.0, math.ceil(math.log2(intensity)) + 1)
    lowest = min([point.rate for point in points] + [ceilings.attainable("DRAM", 2**first)])
    bottom, top = math.log2(lowest) - 0.5, math.log2(ceilings.peak) + 0.8

    def x(value: float) -> float:
        return _LEFT + _WIDTH * (math.log2(value) - first) / (last - first)

    def y(rate: float) -> float:
        return _TOP + _HEIGHT * (top - math.log2(rate)) / (top - bottom)

    parts = list(_grid(first, last, bottom, top, x, y))
    parts += _roofs(ceilings, 2**first, 2**last, x, y)
    parts.append(line(x(intensity), _TOP, x(intensity), _TOP + _HEIGHT, "whisker thin"))
    places = _apart([y(point.rate) for point in points], _TOP + 8, _TOP + _HEIGHT)
    for point, place in zip(points, places, strict=True):
        at = x(intensity), y(point.rate)
        edge = _LEFT + _WIDTH + 8
        style = "point" if point.is_measured else "point expected"
        parts.append(line(at[0], at[1], edge, place, "leader"))
        parts.append(
            element("circle", cx=at[0], cy=at[1], r=5, class_=style)
            if point.is_ours
            else element("rect", x=at[0] - 5, y=at[1] - 5, width=10, height=10, class_="peer")
        )
        parts.append(text(edge + 4, place + 4, f"{point.name[:18]} {point.rate * 1e-9:.3g}"))
    parts.append(
        text(
            _LEFT + _WIDTH / 2,
            _TOP + _HEIGHT + 36,
            "operations per byte",
            "axis",
            text_anchor="middle",
        )
    )
    parts.append(text(2, _TOP - 4, "GFLOP/s", "axis"))
    return picture(
        _LEFT + _WIDTH + _LABELS, _TOP + _HEIGHT + 44, *parts, label="Roofline", class_="roofline"
    )


def _grid(
    first: float, last: float, bottom: float, top: float, x: _Scale, y: _Scale
) -> Iterator[Markup]:
    for exponent in range(math.ceil(first), math.floor(last) + 1):
        at = x(2.0**exponent)
        yield line(at, _TOP, at, _TOP + _HEIGHT, "grid")
        if exponent % 2 == 0:
            label = str(2**exponent) if exponent >= 0 else f"1/{2**-exponent}"
            yield text(at, _TOP + _HEIGHT + 16, label, "tick", text_anchor="middle")
    low, high = math.log10(2.0**bottom * 1e-9), math.log10(2.0**top * 1e-9)
    for exponent in range(math.floor(low), math.ceil(high) + 1):
        for factor in (1, 2, 5):
            value = factor * 10.0**exponent
            if low <= math.log10(value) <= high:
                at = y(value * 1e9)
                yield line(_LEFT, at, _LEFT + _WIDTH, at, "grid")
                yield text(_LEFT - 6, at + 4, f"{value:g}", "tick", text_anchor="end")


def _roofs(ceilings: Ceilings, first: float, last: float, x: _Scale, y: _Scale) -> Iterator[Markup]:
    """The roof of each level of memory, named where it leaves the left edge or meets the peak."""
    assert ceilings.peak is not None, "asked before"
    for number, (level, bandwidth) in enumerate(ceilings.bandwidths.items()):
        ridge = min(last, max(first, ceilings.peak / bandwidth))
        start = ceilings.attainable(level, first)
        ridge_rate = ceilings.attainable(level, ridge)
        points = [(first, start), (ridge, ridge_rate), (last, ceilings.attainable(level, last))]
        inside = " ".join(f"{x(i):.4g},{y(rate):.4g}" for i, rate in points)
        yield element("polyline", points=inside, class_="roof", stroke=category(number))
        # The name stands on the slope, whose angle is that of the plot.
        at = first * 1.15
        place = x(at), y(ceilings.attainable(level, at)) - 5
        angle = math.degrees(math.atan2(y(start) - y(2 * start), x(2 * first) - x(first)))
        yield text(
            *place,
            f"{level} {bandwidth * 1e-9:.3g} GB/s",
            "tick",
            transform=f"rotate({-angle:.4g} {place[0]:.4g} {place[1]:.4g})",
        )
    yield text(
        x(last) - 4,
        y(ceilings.peak) - 6,
        f"peak {ceilings.peak * 1e-9:.3g}",
        "tick",
        text_anchor="end",
    )


def _apart(places: list[float], top: float, bottom: float) -> list[float]:
    """Heights of labels: as close to their places as they can be without overlap."""
    result = list(places)
    height = top - 16.0
    for number in sorted(range(len(places)), key=lambda n: places[n]):
        height = max(height + 16.0, min(places[number], bottom))
        result[number] = height
    return result
