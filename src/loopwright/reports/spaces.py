"""Section: iteration spaces, as the schedule walks through them."""

from __future__ import annotations

from ..support.markup import Markup, element, join
from .planes import planes
from .section import Section, missing, tabs
from .space_picture import draw_plane
from .subject import Subject

MOST_STATEMENTS = 4
MOST_PLANES = 3


def section(subject: Subject) -> Section:
    """Pictures of the statements with most loops around them."""
    scop = subject.schedule.scop
    lead = (
        "Each cell is an instance of a statement: one iteration of the loops around it. Point at "
        "one, or walk with the arrow keys, to see when it runs and what it accesses."
    )
    written = {statement.name for statement in subject.original.scop.statements}
    # Copies and the like, which steps have added, come last.
    rated = sorted(scop.statements, key=lambda s: (s.name not in written, -len(s.loops)))
    dependences = list(subject.schedule.dependences)
    panels: dict[str, Markup] = {}
    for statement in rated[:MOST_STATEMENTS]:
        most = MOST_PLANES if statement.name in written else 1
        for plane in planes(scop, statement, subject.schedule.tree, subject.sizes, most):
            panels[plane.title] = draw_plane(subject.schedule, subject.original, plane, dependences)
    if not panels:
        body = missing("No statement is in a loop that runs, so there is nothing to draw.")
        return Section("spaces", "Iteration spaces", lead, body)
    left_out = [statement.name for statement in rated[MOST_STATEMENTS:]]
    note = element("p", f"Not drawn: {', '.join(left_out)}.", class_="note") if left_out else ""
    return Section("spaces", "Iteration spaces", lead, join((tabs(panels, "loops"), note)))
