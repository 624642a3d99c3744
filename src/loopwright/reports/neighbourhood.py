"""The neighbourhood of an instance: what depends on it, in a plane of its iteration space."""

from __future__ import annotations

import islpy as isl

from ..passes.polyhedral.counting import fix_parameters
from ..passes.polyhedral.dependences import Dependence
from ..passes.polyhedral.scop import Scop
from ..support.markup import Markup, element
from .drawing import arrow_heads, legend, picture, stroke, text
from .planes import Plane

CELL = 74.0

MOST_ARROWS = 16

REACH = 2
"""Iterations to each side; what is further away is left out."""

_MARGIN = 34.0
_LETTER = 6.6
"""Pixels of a letter of a label, at most."""

_BENDS = {"flow": 0.0, "anti": 10.0, "output": -10.0}
"""How far arrows of a kind are bent aside, so that those of two kinds can be told apart."""


def draw_neighbourhood(scop: Scop, plane: Plane, dependences: list[Dependence]) -> Markup:
    """Arrows from an instance in the middle of the plane to those that must stay behind it."""
    source = central(plane)
    near = [
        (each, row, column)
        for each in dependences
        if each.source == plane.statement.name
        for row, column in _targets(plane, scop, each, source)
    ][:MOST_ARROWS]
    at = ", ".join(map(str, plane.point(*source)))
    instance = f"{plane.statement.name}[{at}]"
    if not near:
        words = (
            f"No dependence leads from {instance} to another instance close to it in this plane."
        )
        return element("p", words, class_="note")
    names = dict.fromkeys([plane.statement.name, *(each.target for each, _, _ in near)])
    shifts = {name: 22.0 * (n - (len(names) - 1) / 2) for n, name in enumerate(names)}
    height = 0 if plane.rows is None else max(abs(row) for _, row, _ in near)
    width = max(1, *(abs(column) for _, _, column in near))

    rows = _row_labels(plane, source, height)
    left = max(_MARGIN, 8 + _LETTER * max(map(len, rows), default=0))

    def middle(row: int, column: int, name: str) -> tuple[float, float]:
        x = left + CELL * (column + width + 0.5) + shifts[name]
        return x, _MARGIN + CELL * (row + height + 0.5) + shifts[name] * 0.7

    size = left + _MARGIN + CELL * (2 * width + 1), _MARGIN + CELL * (2 * height + 1) + 8
    parts = [arrow_heads(_BENDS), *_grid(plane, source, height, width, left)]
    for number, label in enumerate(rows):
        y = _MARGIN + CELL * (number + 0.5) + 4
        parts.append(text(left - 4, y, label, "tick", text_anchor="end"))
    for each, row, column in near:
        x, y = middle(row, column, each.target)
        parts.append(element("circle", cx=x, cy=y, r=3.5, class_="dot"))
    for each, row, column in near:
        kind = each.kind.value
        title = f"{kind} dependence on {each.array}, {each.source} to {each.target}"
        path = bent(*middle(0, 0, each.source), *middle(row, column, each.target), _BENDS[kind])
        parts.append(
            element(
                "path",
                element("title", title),
                d=path,
                class_=f"arrow {kind}",
                marker_end=f"url(#head-{kind})",
            )
        )
    for name in names:
        x, y = middle(0, 0, name)
        own = name == plane.statement.name
        style = "source" if own else "dot"
        parts.append(element("circle", cx=x, cy=y, r=5.5 if own else 3.5, class_=style))
    for name in names if len(names) > 1 else ():
        row, column = next(((r, c) for e, r, c in near if e.target == name), (0, 0))
        x, y = middle(row, column, name)
        parts.append(text(x + 6, y + 14, name, "tick"))
    kinds = dict.fromkeys(each.kind.value for each, _, _ in near)
    return element(
        "div",
        element("h4", f"What must stay behind {instance}"),
        picture(*size, *parts, label=f"Dependences of {instance}", class_="near"),
        legend((stroke(f"arrow {kind}"), f"{kind} dependence") for kind in kinds),
    )


def bent(x1: float, y1: float, x2: float, y2: float, bend: float) -> str:
    """The path of an arrow between two marks that is bent aside, and ends before the second."""
    length = max(1.0, ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    mx, my = (x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend
    start, end = (x1 + 7 * ux, y1 + 7 * uy), (x2 - 7 * ux, y2 - 7 * uy)
    return f"M{start[0]:.4g} {start[1]:.4g}Q{mx:.4g} {my:.4g} {end[0]:.4g} {end[1]:.4g}"


def central(plane: Plane) -> tuple[int, int]:
    """The instance next to the middle of the plane, as row and column."""
    rows, columns = plane.present.shape
    cells = zip(*(each.tolist() for each in plane.present.nonzero()), strict=True)
    return min(cells, key=lambda c: (2 * c[0] - rows + 1) ** 2 + (2 * c[1] - columns + 1) ** 2)


def _row_labels(plane: Plane, source: tuple[int, int], height: int) -> list[str]:
    """The values of the loop of the rows, the first with its name."""
    if plane.rows is None:
        return []
    down = plane.rows.values[source[0]]
    values = [str(down + row) for row in range(-height, height + 1)]
    return [f"{plane.rows.name}={values[0]}", *values[1:]]


def _grid(
    plane: Plane, source: tuple[int, int], height: int, width: int, left: float
) -> list[Markup]:
    """Cells around the instance, with the values of the loop of the columns."""
    parts: list[Markup] = []
    domain = fix_parameters(plane.statement.domain, plane.sizes)
    across = plane.columns.values[source[1]]
    for column in range(-width, width + 1):
        x = left + CELL * (column + width)
        label = f"{plane.columns.name}={across + column}" if column == -width else across + column
        parts.append(text(x + CELL / 2, _MARGIN - 8, label, "tick", text_anchor="middle"))
        for row in range(-height, height + 1):
            y = _MARGIN + CELL * (row + height)
            style = "cell" if _is_instance(plane, domain, source, row, column) else "cell empty"
            parts.append(element("rect", x=x, y=y, width=CELL, height=CELL, class_=style))
    return parts


def _is_instance(
    plane: Plane, domain: isl.Set, source: tuple[int, int], row: int, column: int
) -> bool:
    """Whether there is an instance so many iterations away from one."""
    for position, value in enumerate(plane.point(*source)):
        value += column if position == plane.columns.position else 0
        value += row if plane.rows is not None and position == plane.rows.position else 0
        domain = domain.fix_val(isl.dim_type.set, position, isl.Val(value))
    return not domain.is_empty()


def _targets(
    plane: Plane, scop: Scop, dependence: Dependence, source: tuple[int, int]
) -> list[tuple[int, int]]:
    """How far away what depends on an instance is, in iterations of both loops, where that is near.

    Targets in other statements are where their loops of the same names say.
    """
    relation = fix_parameters(dependence.relation, plane.sizes)
    for position, value in enumerate(plane.point(*source)):
        relation = relation.fix_val(isl.dim_type.in_, position, isl.Val(value))
    targets = relation.range()
    names = scop.statement(dependence.target).loops
    axes = [
        (axis.name, axis.values[number])
        for axis, number in ((plane.rows, source[0]), (plane.columns, source[1]))
        if axis is not None
    ]
    if not all(name in names for name, _ in axes):
        return []
    for position, name in enumerate(names):
        if name in plane.held:
            targets = targets.fix_val(isl.dim_type.set, position, isl.Val(plane.held[name]))
    for name, value in axes:
        position = names.index(name)
        low, high = isl.Val(value - REACH), isl.Val(value + REACH)
        targets = targets.lower_bound_val(isl.dim_type.set, position, low)
        targets = targets.upper_bound_val(isl.dim_type.set, position, high)
    found: list[tuple[int, int]] = []
    while len(found) < MOST_ARROWS and not targets.is_empty():
        point = targets.lexmin().sample_point()
        away = [
            point.get_coordinate_val(isl.dim_type.set, names.index(name)).to_python() - value
            for name, value in axes
        ]
        found.append((away[0] if plane.rows is not None else 0, away[-1]))
        targets = targets.subtract(isl.Set.from_point(point))
    return list(dict.fromkeys(found))
