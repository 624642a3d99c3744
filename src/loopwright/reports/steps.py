"""Section: the steps of the schedule, with the loops before and after each."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from ..passes.estimate.estimate import estimate
from ..passes.polyhedral.descriptions import describe_tree
from ..passes.polyhedral.isl_context import ISL_LOCK
from ..passes.schedules.schedule import Schedule
from ..runtime.measuring.timing import format_seconds
from ..support.markup import Markup, element, join
from .section import Section
from .subject import Subject

MOST_LINES = 120


def section(subject: Subject) -> Section:
    """One row for each step."""
    lead = "Open a step to see the loops before and after it; what it changes is marked."
    states = prefixes(subject.schedule)
    steps = subject.schedule.transformations
    if not steps:
        words = "The schedule has no steps: the loops run as written."
        return Section("steps", "Steps", lead, element("p", words))
    seconds = estimates(subject, states)
    rows = [
        _step(number, str(step), states[number], states[number + 1], seconds[number + 1])
        for number, step in enumerate(steps)
    ]
    return Section("steps", "Steps", lead, join(rows))


def prefixes(schedule: Schedule) -> list[Schedule]:
    """The program as written, and the schedules after each step."""
    current = Schedule.original(schedule.program, schedule.target, reassociate=schedule.reassociate)
    states = [current]
    for step in schedule.transformations:
        current = current.apply(step)
        states.append(current)
    return states


def estimates(subject: Subject, states: Sequence[Schedule]) -> list[float | None]:
    """The estimated seconds of schedules; None where sizes are unknown."""
    context = subject.context
    if context is None:
        return [None] * len(states)
    with ISL_LOCK:
        return [estimate(state, context) for state in states]


def _step(
    number: int, text: str, before: Schedule, after: Schedule, seconds: float | None
) -> Markup:
    old, new = (describe_tree(each.scop, each.tree).splitlines() for each in (before, after))
    is_old, is_new = _changed(old, new)
    title = [element("code", text)]
    if seconds is not None:
        title.append(element("span", f"estimated {format_seconds(seconds)}", class_="aside"))
    columns = element(
        "div",
        _column("before", old, is_old, "removed"),
        _column("after", new, is_new, "added"),
        class_="columns",
    )
    return element(
        "details",
        element("summary", element("span", f"{number + 1}", class_="count"), *title),
        columns,
        class_="step",
    )


def _column(title: str, lines: list[str], marked: set[int], style: str) -> Markup:
    shown = [
        element("span", f"{line}\n", class_=style if number in marked else None)
        for number, line in enumerate(lines[:MOST_LINES])
    ]
    if len(lines) > MOST_LINES:
        shown.append(element("span", f"... {len(lines) - MOST_LINES} more lines"))
    return element("div", element("h4", title), element("pre", join(shown)), class_=title)


def _changed(old: list[str], new: list[str]) -> tuple[set[int], set[int]]:
    """The numbers of lines that are in one text only."""
    removed: set[int] = set()
    added: set[int] = set()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind != "equal":
            removed |= set(range(first, last))
            added |= set(range(start, end))
    return removed, added
