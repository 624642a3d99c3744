"""Section: a heading and its contents."""

from __future__ import annotations

from dataclasses import dataclass

from ..support.markup import Markup, element


@dataclass(frozen=True)
class Section:
    """A part of a report; `key` is its anchor, `lead` one sentence that says what is seen."""

    key: str
    title: str
    lead: str
    body: Markup


def missing(text: object) -> Markup:
    """The line in place of what a report cannot show, with the reason."""
    return element("p", text, class_="missing")


def tabs(panels: dict[str, Markup], label: str) -> Markup:
    """Panels of which one is seen at a time; all of them where there is no script."""
    if len(panels) == 1:
        return next(iter(panels.values()))
    parts = [
        element("div", body, class_="panel", data_label=title) for title, body in panels.items()
    ]
    return element("div", *parts, class_="tabs", data_label=label)
