"""Section: iteration spaces, as the schedule walks through them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..passes.polyhedral.scop import Statement
from ..passes.schedules.schedule import Schedule
from ..runtime.program import Function
from ..support.markup import Markup, element, join
from .drawing import picture, text
from .planes import Plane, planes
from .section import Section, missing, tabs
from .space_picture import Frame, conditions, draw_plane, draw_view
from .subject import Subject
from .views import views

MOST_STATEMENTS = 4
MOST_PLANES = 3


def section(subject: Subject) -> Section:
    """Pictures of the statements with most loops around them."""
    lead = (
        "Each cell is an instance of a statement: one iteration of the loops around it. Point at "
        "one, or walk with the arrow keys, to see when it runs and what it accesses."
    )
    schedule, original = subject.schedule, subject.original
    dependences = list(schedule.dependences)
    panels = {
        plane.title: draw_plane(schedule, original, plane, dependences)
        for plane in _planes(schedule, original, subject.sizes)
    }
    if not panels:
        body = missing("No statement is in a loop that runs, so there is nothing to draw.")
        return Section("spaces", "Iteration spaces", lead, body)
    left_out = [statement.name for statement in _rated(schedule, original)[MOST_STATEMENTS:]]
    note = element("p", f"Not drawn: {', '.join(left_out)}.", class_="note") if left_out else ""
    return Section("spaces", "Iteration spaces", lead, join((tabs(panels, "loops"), note)))


def spaces_drawing(function: Function, schedule: Schedule, sizes: Mapping[str, int]) -> Markup:
    """The most telling view of each plane, below each other, as one drawing."""
    original = Schedule.original(function.scop, schedule.target)
    parts: list[Markup] = []
    width, height = 640.0, 0.0
    for plane in _planes(schedule, original, sizes):
        frame = Frame(plane)
        view = next(views(schedule, original, plane))
        parts.append(text(8, height + 20, f"{plane.title}: {view.name}", "axis"))
        parts.append(
            text(8, height + 38, f"{view.explanation.rstrip('.')}; {conditions(plane)}.", "tick")
        )
        parts.append(draw_view(frame, view, x=0, y=height + 44))
        for number, (colour, words) in enumerate(view.legend):
            y = height + 50 + frame.height
            parts.append(
                element("rect", x=60 + 120 * number, y=y, width=12, height=12, fill=colour)
            )
            parts.append(text(78 + 120 * number, y + 10, words, "tick"))
        height += frame.height + (80 if view.legend else 60)
        width = max(width, frame.width)
    if not parts:
        parts, height = [text(8, 20, "No statement is in a loop that runs.")], 30.0
    return picture(width, height, *parts, label=f"Iteration spaces of {function.name}")


def _rated(schedule: Schedule, original: Schedule) -> list[Statement]:
    """The statements, those in most loops first; those that steps have added come last."""
    written = {statement.name for statement in original.scop.statements}
    return sorted(schedule.scop.statements, key=lambda s: (s.name not in written, -len(s.loops)))


def _planes(schedule: Schedule, original: Schedule, sizes: Mapping[str, int]) -> Iterator[Plane]:
    """The planes of the first statements."""
    written = {statement.name for statement in original.scop.statements}
    for statement in _rated(schedule, original)[:MOST_STATEMENTS]:
        most = MOST_PLANES if statement.name in written else 1
        yield from planes(schedule.scop, statement, schedule.tree, sizes, most)
