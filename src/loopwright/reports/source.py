"""Section: the source, with the dependences drawn between its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

import islpy as isl

from ..dialects.locations import locate
from ..passes.polyhedral.dependences import Dependence, DependenceKind
from ..passes.polyhedral.descriptions import describe_access
from ..passes.polyhedral.distance import distances
from ..passes.polyhedral.gathers import describe_gathers
from ..passes.polyhedral.scop import Access, Scop, Statement
from ..runtime.program import Function
from ..support.markup import Markup, element, join, table
from .drawing import arrow_heads, legend, line, picture, stroke, text
from .section import Section, missing
from .subject import Subject

LINE = 20.0
"""Pixels of a line of the source."""

MOST_ARCS = 60
MOST_LINES = 400
MOST_ROWS = 15

_CLOSING = re.compile(r"\s*(\}[\s}]*|return\b.*)")
"""A line behind the last operation that still belongs to the function."""

_WIDTH = 150.0

_SHIFTS = {"flow": -3.0, "anti": 3.0, "output": 0.0}
"""How far beside the middle of a line arrows of a kind begin and end."""


@dataclass(frozen=True)
class Arc:
    """A dependence between the lines of two accesses."""

    number: int
    kind: DependenceKind
    first: int
    last: int
    is_reduction: bool


def section(subject: Subject) -> Section:
    """The source, its statements and its dependences."""
    scop = subject.function.scop
    items = list(subject.function.dependences)
    arcs = list(_arcs(scop, items))
    lead = (
        "Arrows lead from an access to those that must stay behind it; a row of the table and its "
        "arrows are shown together."
    )
    body = join((_listing(subject, arcs), _statements(scop), _dependences(scop, items)))
    return Section("source", "Source and dependences", lead, body)


def source_drawing(function: Function, source: str) -> Markup:
    """The lines and arrows as one drawing."""
    scop = function.scop
    lines = source.splitlines()
    first, last = _extent(function, lines)
    arcs = _shown(list(_arcs(scop, list(function.dependences))), first, last)
    parts: list[Markup] = []
    left = 0.0
    if arcs:
        left = _width(arcs)
        parts.append(_drawing(arcs, first, last))
    left += 40.0
    for number in range(first, last + 1):
        y = (number - first + 0.5) * LINE + 4
        parts.append(text(left - 8, y, number, "tick", text_anchor="end"))
        parts.append(text(left, y, lines[number - 1], "label mono", xml__space="preserve"))
    height = (last - first + 1) * LINE
    meanings = _meanings(arcs)
    for number, (style, words) in enumerate(meanings):
        x = 10 + 190 * number
        parts.append(line(x, height + 16, x + 30, height + 16, style))
        parts.append(text(x + 38, height + 20, words))
    width = left + 7.4 * max(map(len, lines[first - 1 : last]), default=0) + 10
    label = f"Dependences of {scop.name}"
    return picture(max(width, 190.0 * len(meanings)), height + 30, *parts, label=label)


def _shown(arcs: list[Arc], first: int, last: int) -> list[Arc]:
    """The arcs between lines that are shown, as far as there is room."""
    inside = [arc for arc in arcs if first <= min(arc.first, arc.last)]
    return [arc for arc in inside if max(arc.first, arc.last) <= last][:MOST_ARCS]


def _width(arcs: list[Arc]) -> float:
    return _lane(arcs) * len(arcs) + 30


def _lane(arcs: list[Arc]) -> float:
    return min(14.0, (_WIDTH - 30) / len(arcs))


def _arcs(scop: Scop, items: list[Dependence]) -> Iterator[Arc]:
    for number, item in enumerate(items):
        seen: set[tuple[int, int]] = set()
        for first, last in _pairs(scop, item):
            lines = _line(first), _line(last)
            if None in lines or lines in seen:
                continue
            seen.add((lines[0] or 0, lines[1] or 0))
            yield Arc(number, item.kind, lines[0] or 0, lines[1] or 0, item.reduction)


def _pairs(scop: Scop, item: Dependence) -> Iterator[tuple[Access, Access]]:
    """The accesses that a dependence is between."""
    source, target = scop.statement(item.source), scop.statement(item.target)
    kinds = {
        DependenceKind.FLOW: (source.writes, target.reads),
        DependenceKind.ANTI: (source.reads, target.writes),
        DependenceKind.OUTPUT: (source.writes, target.writes),
        DependenceKind.INPUT: (source.reads, target.reads),
    }
    for first in kinds[item.kind][0]:
        for last in kinds[item.kind][1]:
            if first.array.name == item.array == last.array.name and _meet(item, first, last):
                yield first, last


def _meet(item: Dependence, first: Access, last: Access) -> bool:
    """Whether two accesses touch one element in some pair of the dependence."""
    same: isl.Map = first.relation.apply_range(last.relation.reverse())
    return not item.relation.intersect(same).is_empty()


def _line(access: Access) -> int | None:
    place = locate(access.op)
    return None if place is None else place.line


def _listing(subject: Subject, arcs: list[Arc]) -> Markup:
    """The lines of the function, numbered, with arcs beside them."""
    lines = subject.text.splitlines()
    first, last = _extent(subject.function, lines)
    shown = _shown(arcs, first, last)
    numbered = [
        element("li", content or " ", value=number)
        for number, content in enumerate(lines[first - 1 : last], start=first)
    ]
    parts = [_drawing(shown, first, last)] if shown else []
    parts.append(element("ol", join(numbered), class_="code"))
    notes = [missing("No lines of the source are known.")] if not lines else []
    if len(arcs) > len(shown):
        notes.append(
            element("p", f"{len(arcs) - len(shown)} more arrows are left out.", class_="note")
        )
    entries = legend((stroke(style), words) for style, words in _meanings(shown))
    return join((element("div", *parts, class_="listing"), entries, *notes))


def _meanings(arcs: list[Arc]) -> list[tuple[str, str]]:
    """The styles of arcs, and what each means."""
    kinds = dict.fromkeys(arc.kind.value for arc in arcs)
    found = [(f"arc {kind}", f"{kind} dependence") for kind in kinds]
    if any(arc.is_reduction for arc in arcs):
        found.append(("arc flow reduction", "steps of a reduction"))
    return found


def _extent(function: Function, lines: list[str]) -> tuple[int, int]:
    """The first and the last line of the function, as far as it is shown."""
    places = [locate(op) for op in function.function.walk()]
    numbers = [place.line for place in places if place is not None and place.line <= len(lines)]
    first, last = min(numbers, default=1), max(numbers, default=len(lines))
    last += sum(1 for _ in takewhile(_CLOSING.fullmatch, lines[last:]))
    return first, max(first, min(last, first + MOST_LINES - 1))


def _drawing(arcs: list[Arc], first: int, last: int) -> Markup:
    """Arcs to the left of the lines: those between near lines are inside of the others."""
    ordered = sorted(arcs, key=lambda arc: (abs(arc.last - arc.first), min(arc.first, arc.last)))
    lane, width = _lane(arcs), _width(arcs)
    paths: list[Markup] = []
    for number, arc in enumerate(ordered):
        kind = arc.kind.value
        # Ends of different kinds lie beside each other.
        y1, y2 = ((n - first + 0.5) * LINE + _SHIFTS[kind] for n in (arc.first, arc.last))
        # The control points of a curve are a third further out than the curve.
        out = lane * (number + 1) + 14
        x = width - 2 - 1.3 * out
        if arc.first == arc.last:
            y1, y2 = y1 - 6, y2 + 2
            x = width - 34
        title = element("title", f"{kind} dependence, line {arc.first} to line {arc.last}")
        paths.append(
            element(
                "path",
                title,
                d=f"M{width - 2:g} {y1:g}C{x:.4g} {y1:g} {x:.4g} {y2:g} {width - 3:g} {y2:g}",
                class_=f"arc {kind}{' reduction' if arc.is_reduction else ''}",
                data_dependence=arc.number,
                marker_end=f"url(#head-{kind})",
            )
        )
    return picture(
        width,
        (last - first + 1) * LINE,
        arrow_heads(dict.fromkeys(arc.kind.value for arc in ordered)),
        *paths,
        label="Dependences between lines",
        class_="arcs",
    )


def _statements(scop: Scop) -> Markup:
    rows = [["statement", "writes", "reads", "line"]]
    for statement in scop.statements:
        place = next((n for w in statement.writes if (n := _line(w)) is not None), None)
        rows.append(
            [
                f"{statement.name}({', '.join(statement.loops)})",
                ", ".join(_accesses(scop, statement, statement.writes)),
                ", ".join(
                    [
                        *_accesses(scop, statement, statement.reads),
                        *describe_gathers(scop, statement),
                    ]
                ),
                "" if place is None else str(place),
            ]
        )
    return element("div", table(rows), class_="scroll tall", tabindex=_focus(rows))


def _accesses(scop: Scop, statement: Statement, accesses: tuple[Access, ...]) -> dict[str, None]:
    return dict.fromkeys(describe_access(scop, statement, each) for each in accesses)


def _dependences(scop: Scop, items: list[Dependence]) -> Markup:
    if not items:
        return element("p", "There are no dependences: every order is legal.")
    head = [
        element("th", each, scope="col") for each in ("kind", "from", "to", "array", "distance")
    ]
    rows: list[Markup] = []
    for number, item in enumerate(items):
        loops = scop.statement(item.source).loops
        steps = distances(scop, item.source, item.target, item.relation)
        distance = ", ".join(f"{name}: {step}" for name, step in zip(loops, steps, strict=False))
        kind = " ".join((item.kind.value, *(f"({flag})" for flag in item.flags)))
        cells = (kind, item.source, item.target, item.array, distance or "(no common loop)")
        rows.append(
            element(
                "tr",
                *(element("td", cell) for cell in cells),
                tabindex=0,
                data_dependence=number,
            )
        )
    listed = element(
        "table",
        element("thead", element("tr", *head)),
        element("tbody", *rows),
        class_="dependences",
    )
    words = "Distances: numbers are constant; + - 0+ 0- are signs, * is any."
    return join((element("div", listed, class_="scroll tall"), element("p", words, class_="note")))


def _focus(rows: Sequence[object]) -> int | None:
    """A table that does not fit is reached by the keyboard, which moves it."""
    return 0 if len(rows) > MOST_ROWS else None
