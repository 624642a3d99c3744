"""Pictures of planes of iteration spaces."""

from __future__ import annotations

import json
from collections.abc import Iterator

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from ..passes.polyhedral.dependences import Dependence
from ..passes.polyhedral.schedule_tree import loops_around
from ..passes.schedules.schedule import Schedule
from ..support.markup import Markup, element, escape, join
from .drawing import legend, picture, swatch, text
from .neighbourhood import central, draw_neighbourhood
from .planes import Axis, Grid, Plane, loop_function, order
from .planes import loop_values as values_of_loops
from .section import tabs
from .views import View, trace, views

SIDE = 484.0
"""Pixels of the longer side of a plane."""

LARGEST_CELL = 26.0

_LEFT, _TOP, _RIGHT = 52.0, 44.0, 10.0

_TITLE, _LETTER = 16.0, 8.0
"""Where names of loops stand above the numbers, and the width of a letter of theirs."""


class Frame:
    """Where the cells of a plane are in its picture."""

    def __init__(self, plane: Plane) -> None:
        self.plane = plane
        rows, columns = plane.present.shape
        self.cell = min(LARGEST_CELL, max(6.0, SIDE / max(rows, columns)))
        names = [plane.columns.name] + ([] if plane.rows is None else [plane.rows.name])
        titles = _LETTER * sum(len(name) + 4 for name in names)
        self.width = max(_LEFT + columns * self.cell, titles) + _RIGHT
        self.height = _TOP + rows * self.cell + _RIGHT

    def corner(self, row: float, column: float) -> tuple[float, float]:
        """The upper left corner of a cell."""
        return _LEFT + column * self.cell, _TOP + row * self.cell

    def middle(self, row: float, column: float) -> tuple[float, float]:
        """The middle of a cell."""
        return self.corner(row + 0.5, column + 0.5)


def draw_plane(
    schedule: Schedule, original: Schedule, plane: Plane, dependences: list[Dependence]
) -> Markup:
    """A plane with its views, the dependences of one instance, and data for the script."""
    frame = Frame(plane)
    panels = {view.name: _view(frame, view) for view in views(schedule, original, plane)}
    data = json.dumps(_data(schedule, frame), separators=(",", ":"))
    return element(
        "figure",
        element(
            "div",
            element("div", tabs(panels, "view")),
            draw_neighbourhood(schedule.scop, plane, dependences),
            class_="beside",
        ),
        element("p", "", class_="readout", aria_live="polite"),
        element("figcaption", f"{plane.title} {conditions(plane)}."),
        # A script element ends at its end tag, whatever the text is.
        element("script", Markup(data.replace("<", "\\u003c")), type="application/json"),
        class_="plane",
    )


def conditions(plane: Plane) -> str:
    """What a plane is cut at, with which sizes, and how far cells are apart."""
    held = ", ".join(f"{name} = {value}" for name, value in plane.held.items())
    sizes = ", ".join(f"{name} = {value}" for name, value in plane.sizes.items())
    apart = [
        f"{axis.step} apart in {axis.name}"
        for axis in (plane.rows, plane.columns)
        if axis is not None and axis.step > 1
    ]
    notes = [
        f"at {held}" if held else "",
        f"with {sizes}" if sizes else "",
        f"cells are {' and '.join(apart)}" if apart else "",
    ]
    return "; ".join(filter(None, notes))


def _view(frame: Frame, view: View) -> Markup:
    x, y = frame.middle(*central(frame.plane))
    marks = (
        element("circle", cx=x, cy=y, r=frame.cell / 4, class_="source"),
        element("rect", class_="cursor", width=frame.cell, height=frame.cell, visibility="hidden"),
    )
    drawing = draw_view(frame, view, *marks, class_="space", tabindex=0)
    colours = legend((swatch(colour), words) for colour, words in view.legend)
    return join((drawing, element("p", view.explanation, class_="note"), colours))


def draw_view(frame: Frame, view: View, *marks: Markup, **attributes: object) -> Markup:
    """The cells in the colours of a view, with their axes, and marks above them."""
    parts = [*_cells(frame, view.groups, view)]
    if view.borders:
        parts.append(element("path", d=_borders(frame, view.groups), class_="border"))
    if view.trace is not None:
        points = (frame.middle(*cell) for cell in trace(view.trace))
        parts.append(
            element(
                "polyline", points=" ".join(f"{x:.4g},{y:.4g}" for x, y in points), class_="trace"
            )
        )
    return picture(
        frame.width,
        frame.height,
        *parts,
        *_axes(frame),
        *marks,
        label=f"{frame.plane.title}: {view.name}",
        **attributes,
    )


def _cells(frame: Frame, numbers: Grid, view: View) -> Iterator[Markup]:
    """A path for each colour, of runs of cells in a row."""
    paths: dict[str, list[str]] = {}
    rows, columns = numbers.shape
    gap = 1.0 if frame.cell >= 9 else 0.0
    for row in range(rows):
        start = 0
        while start < columns:
            colour = _colour(view, int(numbers[row, start]))
            end = start + 1
            while not gap and end < columns and _colour(view, int(numbers[row, end])) == colour:
                end += 1
            if colour is not None:
                x, y = frame.corner(row, start)
                width, height = (end - start) * frame.cell - gap, frame.cell - gap
                paths.setdefault(colour, []).append(
                    f"M{x:.4g} {y:.4g}h{width:.3g}v{height:.3g}h-{width:.3g}z"
                )
            start = end
    for colour, parts in paths.items():
        yield element("path", d="".join(parts), fill=colour)


def _colour(view: View, number: int) -> str | None:
    return None if number < 0 else view.colour(number)


def _borders(frame: Frame, numbers: Grid) -> str:
    """Lines between neighbouring cells of different groups."""
    parts: list[str] = []
    rows, columns = numbers.shape
    for row in range(rows):
        for column in range(columns):
            own = numbers[row, column]
            x, y = frame.corner(row, column)
            if column and numbers[row, column - 1] != own:
                parts.append(f"M{x - 0.5:.4g} {y:.4g}v{frame.cell:.3g}")
            if row and numbers[row - 1, column] != own:
                parts.append(f"M{x:.4g} {y - 0.5:.4g}h{frame.cell:.3g}")
    return "".join(parts)


def _axes(frame: Frame) -> Iterator[Markup]:
    plane = frame.plane
    for number, value in _ticks(plane.columns, frame.cell):
        x, y = frame.middle(-1, number)
        yield text(x, _TOP - 6, value, "tick", text_anchor="middle")
    x, _ = frame.corner(0, len(plane.columns.values) / 2)
    title = f"{plane.columns.name} →"
    if plane.rows is None:
        yield text(x, _TITLE, title, "axis", text_anchor="middle")
        return
    for number, value in _ticks(plane.rows, frame.cell):
        _, y = frame.middle(number, 0)
        yield text(_LEFT - 6, y + 4, value, "tick", text_anchor="end")
    beside = f"{plane.rows.name} ↓"
    end = 2 + _LETTER * len(beside)
    # A long name would meet the first number beside it: it stands a line above.
    is_long = end > _LEFT
    if is_long:
        x = max(x, end + _LETTER + _LETTER * len(title) / 2)
    yield text(x, _TITLE, title, "axis", text_anchor="middle")
    yield text(2, _TITLE if is_long else _TOP - 6, beside, "axis")


def _ticks(axis: Axis, cell: float) -> Iterator[tuple[int, int]]:
    """Numbers of cells that have their value beside them."""
    widest = max(len(str(value)) for value in (axis.values[0], axis.values[-1]))
    every = next(n for n in (1, 2, 4, 5, 8, 10, 20, 40) if n * cell >= 10 + 7 * widest)
    return ((n, axis.values[n]) for n in range(0, len(axis.values), every))


def _data(schedule: Schedule, frame: Frame) -> dict[str, object]:
    """What the script says of the instance under the pointer."""
    plane = frame.plane
    scop, statement = schedule.scop, plane.statement
    symbols = {parameter.name: number for number, parameter in enumerate(scop.parameters)}
    names = list(statement.loops), list(symbols)
    scheduled = order(values_of_loops(scop, schedule.tree, plane), plane.present)
    loops = [
        [loop.name, _formula(loop_function(loop, statement.name, symbols), *names)]
        for loop in loops_around(schedule.tree, statement.name)
        if loop.name not in statement.loops
    ]
    accesses = [
        [access.kind.value, access.array.name, [_formula(r, *names) for r in access.map.results]]
        for access in statement.accesses
    ]
    return {
        "statement": statement.name,
        "loops": list(statement.loops),
        "cell": frame.cell,
        "left": _LEFT,
        "top": _TOP,
        "column": plane.columns.name,
        "columns": plane.columns.values,
        "row": None if plane.rows is None else plane.rows.name,
        "rows": (0,) if plane.rows is None else plane.rows.values,
        "held": {**plane.sizes, **plane.held},
        "scheduled": scheduled.tolist(),
        "functions": loops,
        "accesses": accesses,
    }


def _formula(expression: AffineExpr, dims: list[str], symbols: list[str]) -> object:
    """An affine expression as nested lists, `["+", "i", 1]`."""
    match expression:
        case AffineConstantExpr(value):
            return value
        case AffineDimExpr(position):
            return dims[position]
        case AffineSymExpr(position):
            return symbols[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            return [kind.get_token(), _formula(lhs, dims, symbols), _formula(rhs, dims, symbols)]
        case _:
            return str(escape(expression))
