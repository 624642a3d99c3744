"""Section: the source, with the dependences drawn between its lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import islpy as isl

from ..dialects.locations import locate
from ..passes.polyhedral.dependences import Dependence, DependenceKind
from ..passes.polyhedral.descriptions import describe_access
from ..passes.polyhedral.distance import distances
from ..passes.polyhedral.scop import Access, Scop, Statement
from ..support.markup import Markup, element, join, table
from .drawing import arrow_heads, legend, picture, stroke
from .section import Section, missing
from .subject import Subject

LINE = 20.0
"""Pixels of a line of the source."""

MOST_ARCS = 60
MOST_LINES = 400

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
    first, last = _extent(subject, len(lines))
    shown = [arc for arc in arcs if first <= min(arc.first, arc.last)][:MOST_ARCS]
    shown = [arc for arc in shown if max(arc.first, arc.last) <= last]
    numbered = [
        element("li", line or " ", value=number)
        for number, line in enumerate(lines[first - 1 : last], start=first)
    ]
    parts = [_drawing(shown, first, last)] if shown else []
    parts.append(element("ol", join(numbered), class_="code"))
    notes = [missing("No lines of the source are known.")] if not lines else []
    if len(arcs) > len(shown):
        notes.append(
            element("p", f"{len(arcs) - len(shown)} more arrows are left out.", class_="note")
        )
    kinds = dict.fromkeys(arc.kind.value for arc in shown)
    entries = [(stroke(f"arc {kind}"), f"{kind} dependence") for kind in kinds]
    if any(arc.is_reduction for arc in shown):
        entries.append((stroke("arc flow reduction"), "steps of a reduction"))
    return join((element("div", *parts, class_="listing"), legend(entries), *notes))


def _extent(subject: Subject, count: int) -> tuple[int, int]:
    """The first and the last line of the function, as far as it is shown."""
    places = [locate(op) for op in subject.function.function.walk()]
    numbers = [place.line for place in places if place is not None and place.line <= count]
    first = min(numbers, default=1)
    last = min(count, max(numbers, default=count) + 4, first + MOST_LINES - 1)
    return first, max(first, last)


def _drawing(arcs: list[Arc], first: int, last: int) -> Markup:
    """Arcs to the left of the lines: those between near lines are inside of the others."""
    ordered = sorted(arcs, key=lambda arc: (abs(arc.last - arc.first), min(arc.first, arc.last)))
    lane = min(14.0, (_WIDTH - 30) / len(ordered))
    width = lane * len(ordered) + 30
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
        line = next((n for w in statement.writes if (n := _line(w)) is not None), None)
        rows.append(
            [
                f"{statement.name}({', '.join(statement.loops)})",
                _accesses(scop, statement, statement.writes),
                _accesses(scop, statement, statement.reads),
                "" if line is None else str(line),
            ]
        )
    return element("div", table(rows), class_="scroll")


def _accesses(scop: Scop, statement: Statement, accesses: tuple[Access, ...]) -> str:
    return ", ".join(dict.fromkeys(describe_access(scop, statement, each) for each in accesses))


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
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", *head)),
            element("tbody", *rows),
            class_="dependences",
        ),
        element(
            "p",
            "Distances: numbers are constant; + - 0+ 0- are signs, * is any.",
            class_="note",
        ),
        class_="scroll",
    )
