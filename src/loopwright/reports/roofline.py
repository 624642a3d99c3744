"""Section: the roofline, with every variant below it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import Float32Type, Float64Type

from ..passes.estimate.estimate import estimate
from ..passes.estimate.roofline import Ceilings
from ..passes.estimate.scheduling_context import SchedulingContext
from ..passes.machine.target import Target
from ..passes.polyhedral.isl_context import ISL_LOCK
from ..runtime.choosing.schedule_names import DEFAULT
from ..support.markup import Markup, element, join
from .colours import category
from .drawing import legend, line, mark, picture, room_for, stroke, text
from .measurements import AS_WRITTEN, GIVEN, threads_of, work
from .section import Section, missing
from .subject import Measured, Subject

TITLE = "Roofline"

_LEFT, _TOP, _WIDTH, _LABEL = 64.0, 16.0, 460.0, 16.0

_DASHES = ("none", "7 3", "7 3 2 3", "2 3")


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
    if operations is None or traffic is None:
        words = "What the program computes is not affine: its operations cannot be counted."
        return Section("roofline", TITLE, lead, missing(words))
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
    for number, (level, bandwidth) in enumerate(ceilings.bandwidths.items()):
        words = f"{level}: {bandwidth * 1e-9:.3g} GB/s"
        entries.append((stroke("roof", **_roof_style(number)), words))
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
        yield Point(each.label, operations / each.median, True, each.is_ours)
    with ISL_LOCK:
        plain = estimate(subject.original, SchedulingContext(context.sizes, 1))
        yield Point(AS_WRITTEN, operations / plain, False)
        if subject.schedule.transformations:
            name = DEFAULT if subject.chosen == DEFAULT else GIVEN
            label = Measured(name, threads_of(subject.schedule, subject)).label
            yield Point(label, operations / estimate(subject.schedule, context), False)


@dataclass(frozen=True)
class _Plot:
    """The plane of a roofline: exponents of two at its edges, and its height in pixels."""

    first: float
    last: float
    bottom: float
    top: float
    height: float

    @property
    def foot(self) -> float:
        """Where the plane ends below."""
        return _TOP + self.height

    def x(self, intensity: float) -> float:
        """The pixel of an intensity."""
        return _LEFT + _WIDTH * (math.log2(intensity) - self.first) / (self.last - self.first)

    def y(self, rate: float) -> float:
        """The pixel of a rate."""
        return _TOP + self.height * (self.top - math.log2(rate)) / (self.top - self.bottom)


def _drawing(ceilings: Ceilings, intensity: float, points: list[Point]) -> Markup:
    assert ceilings.peak is not None, "asked before"
    first = min(-4.0, math.floor(math.log2(intensity)) - 1)
    last = max(6.0, math.ceil(math.log2(intensity)) + 1)
    lowest = min([point.rate for point in points] + [ceilings.attainable("DRAM", 2**first)])
    bottom, top = math.log2(lowest) - 0.5, math.log2(ceilings.peak) + 0.8
    plot = _Plot(first, last, bottom, top, max(320.0, _LABEL * (len(points) + 1)))
    at = plot.x(intensity)
    parts = [*_grid(plot), *_roofs(ceilings, plot), line(at, _TOP, at, plot.foot, "whisker thin")]
    places = _apart([plot.y(point.rate) for point in points], _TOP + 8, plot.foot)
    labels = [f"{point.name}: {point.rate * 1e-9:.3g}" for point in points]
    edge = _LEFT + _WIDTH + 8
    for point, place, label in zip(points, places, labels, strict=True):
        y = plot.y(point.rate)
        style = "point" if point.is_measured else "point expected"
        parts.append(line(at, y, edge, place, "leader"))
        parts.append(
            element("circle", cx=at, cy=y, r=5, class_=style)
            if point.is_ours
            else element("rect", x=at - 5, y=y - 5, width=10, height=10, class_="peer")
        )
        parts.append(text(edge + 4, place + 4, label))
    middle, words = _LEFT + _WIDTH / 2, "operations per byte"
    parts.append(text(middle, plot.foot + 36, words, "axis", text_anchor="middle"))
    parts.append(text(2, _TOP - 4, "GFLOP/s", "axis"))
    width = edge + 4 + room_for(labels)
    return picture(width, plot.foot + 44, *parts, label=TITLE, class_="roofline")


def _grid(plot: _Plot) -> Iterator[Markup]:
    for exponent in range(math.ceil(plot.first), math.floor(plot.last) + 1):
        at = plot.x(2.0**exponent)
        yield line(at, _TOP, at, plot.foot, "grid")
        if exponent % 2 == 0:
            label = str(2**exponent) if exponent >= 0 else f"1/{2**-exponent}"
            yield text(at, plot.foot + 16, label, "tick", text_anchor="middle")
    low, high = (math.log10(2.0**edge * 1e-9) for edge in (plot.bottom, plot.top))
    for exponent in range(math.floor(low), math.ceil(high) + 1):
        for factor in (1, 2, 5):
            value = factor * 10.0**exponent
            if low <= math.log10(value) <= high:
                at = plot.y(value * 1e9)
                yield line(_LEFT, at, _LEFT + _WIDTH, at, "grid")
                yield text(_LEFT - 6, at + 4, f"{value:g}", "tick", text_anchor="end")


def _roofs(ceilings: Ceilings, plot: _Plot) -> Iterator[Markup]:
    """The roof of each level of memory: its bandwidth up to the peak."""
    assert ceilings.peak is not None, "asked before"
    first, last = 2**plot.first, 2**plot.last
    for number, (level, bandwidth) in enumerate(ceilings.bandwidths.items()):
        corners = (first, min(last, max(first, ceilings.peak / bandwidth)), last)
        points = " ".join(
            f"{plot.x(each):.4g},{plot.y(ceilings.attainable(level, each)):.4g}" for each in corners
        )
        yield element("polyline", points=points, class_="roof", **_roof_style(number))
    words = f"peak {ceilings.peak * 1e-9:.3g}"
    place = plot.x(last) - 4, plot.y(ceilings.peak) - 6
    yield text(*place, words, "tick", text_anchor="end")


def _roof_style(number: int) -> dict[str, str]:
    """Colour and dashes of the roof of a level."""
    return {"stroke": category(number), "stroke_dasharray": _DASHES[number % len(_DASHES)]}


def _apart(places: list[float], top: float, bottom: float) -> list[float]:
    """Heights of labels: as close to their places as they can be without overlap."""
    result = list(places)
    order = sorted(range(len(places)), key=lambda n: places[n])
    height = top - _LABEL
    for rank, number in enumerate(order):
        lowest = bottom - _LABEL * (len(order) - 1 - rank)
        height = max(height + _LABEL, min(places[number], lowest))
        result[number] = height
    return result
