"""The page: sections behind each other, with their list, styles and script."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import resources

from ..errors import USER_ERRORS
from ..passes.polyhedral.isl_context import TooComplexError
from ..support.markup import Markup, element, join
from ..support.version import __version__
from . import code, illegal, proof, roofline, search_path, source, spaces, steps, times, tree
from .section import Section, missing
from .subject import Subject

Maker = Callable[[Subject], Section | None]

SECTIONS: tuple[tuple[str, str, Maker], ...] = (
    ("illegal", "Illegal step", illegal.section),
    ("source", "Source and dependences", source.section),
    ("spaces", "Iteration spaces", spaces.section),
    ("tree", "Schedule tree", tree.section),
    ("steps", "Steps", steps.section),
    ("code", code.TITLE, code.section),
    ("times", times.TITLE, times.section),
    ("roofline", roofline.TITLE, roofline.section),
    ("search", search_path.TITLE, search_path.section),
    ("certificate", proof.TITLE, proof.section),
)
"""Anchor, title and maker of each section, in their order."""


def render(
    subject: Subject, summary: Iterable[tuple[str, str]], report: Callable[[str], None]
) -> str:
    """The report as a page; `summary` are facts at its top, `report` hears of each section."""
    sections: list[Section] = []
    for key, title, make in SECTIONS:
        report(title.lower())
        found = _made(key, title, make, subject)
        if found is not None:
            sections.append(found)
    return _document(subject.title, summary, sections)


def _made(key: str, title: str, make: Maker, subject: Subject) -> Section | None:
    """A section, or why it cannot be made: one part that fails does not take the others along."""
    try:
        return make(subject)
    except (TooComplexError, MemoryError, *USER_ERRORS) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        return Section(key, title, "", missing(f"Not available: {reason}"))


def _document(title: str, summary: Iterable[tuple[str, str]], sections: list[Section]) -> str:
    links = (element("li", element("a", each.title, href=f"#{each.key}")) for each in sections)
    facts = (element("div", element("dt", name), element("dd", value)) for name, value in summary)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=f"loopwright {__version__}"),
        element("title", f"{title} - loopwright report"),
        element("style", Markup(_resource("report.css"))),
    )
    body = element(
        "body",
        element("a", "Skip to the contents", href="#contents", class_="skip"),
        element(
            "header",
            element("h1", title),
            element("dl", join(facts), class_="summary"),
            element("button", "Light or dark", type="button", class_="theme", hidden=True),
        ),
        element("nav", element("ol", join(links)), aria_label="Sections"),
        element("main", *map(_section, sections), id="contents"),
        element("footer", f"Written by loopwright {__version__}."),
        element("script", Markup(_resource("report.js"))),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _section(section: Section) -> Markup:
    lead = element("p", section.lead, class_="lead") if section.lead else ""
    return element(
        "section",
        element("h2", section.title),
        lead,
        section.body,
        id=section.key,
        tabindex=-1,
    )


def _resource(name: str) -> str:
    return (resources.files(__name__.rpartition(".")[0]) / name).read_text(encoding="utf-8")
