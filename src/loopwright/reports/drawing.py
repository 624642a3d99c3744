"""SVG drawing: lines of paths, arrows, labels, legends."""

from __future__ import annotations

from collections.abc import Iterable

from ..support.markup import Markup, element, join


def picture(
    width: float, height: float, *parts: object, label: str, **attributes: object
) -> Markup:
    """A drawing of so many pixels, which shrinks with the page; `label` says what it shows."""
    return element(
        "svg",
        element("title", label),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        width=round(width),
        height=round(height),
        role="img",
        **attributes,
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str, **attributes: object) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_, **attributes)


def text(x: float, y: float, words: object, class_: str = "label", **attributes: object) -> Markup:
    """A label."""
    return element("text", words, x=x, y=y, class_=class_, **attributes)


def room_for(labels: Iterable[str]) -> float:
    """Pixels that hold the longest of some labels in any of the usual fonts."""
    return 7.4 * max(map(len, labels), default=0)


def arrow_heads(names: Iterable[str]) -> Markup:
    """Definitions of the heads of arrows, one for each class of lines: `url(#head-NAME)`."""
    heads = (
        element(
            "marker",
            element("path", d="M0 0L8 4L0 8z", class_=f"head {name}"),
            id=f"head-{name}",
            viewBox="0 0 8 8",
            refX=7,
            refY=4,
            markerWidth=9,
            markerHeight=9,
            markerUnits="userSpaceOnUse",
            orient="auto-start-reverse",
        )
        for name in names
    )
    return element("defs", join(heads))


def legend(entries: Iterable[tuple[object, object]]) -> Markup:
    """Small drawings with what each means."""
    items = (element("li", drawing, " ", words) for drawing, words in entries)
    return element("ul", join(items), class_="legend")


def swatch(colour: str) -> Markup:
    """A square of a colour, for legends."""
    return element(
        "svg",
        element("rect", width=12, height=12, fill=colour, class_="swatch"),
        width=12,
        height=12,
        viewBox="0 0 12 12",
        aria_hidden="true",
    )


def stroke(class_: str, **attributes: object) -> Markup:
    """A piece of a line of a class, for legends."""
    return element(
        "svg",
        line(0, 6, 26, 6, class_, **attributes),
        width=26,
        height=12,
        viewBox="0 0 26 12",
        aria_hidden="true",
    )


def mark(shape: str, class_: str) -> Markup:
    """A circle or a square (`rect`) of a class, for legends."""
    drawing = (
        element("circle", cx=7, cy=7, r=5, class_=class_)
        if shape == "circle"
        else element("rect", x=2, y=2, width=10, height=10, class_=class_)
    )
    return element("svg", drawing, width=14, height=14, viewBox="0 0 14 14", aria_hidden="true")
