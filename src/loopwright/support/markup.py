"""HTML and SVG text: escaped elements, tables, blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MOST_ROWS = 40
MOST_COLUMNS = 120
"""What notebooks show of an object at most: lines or rows, and characters of each."""

VOID = frozenset(("br", "hr", "input", "link", "meta"))
"""Elements of HTML without an end."""


class Markup(str):
    """Text that is markup already; all other strings are escaped where they become markup."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """A text as markup: what is markup stays as it is."""
    return text if isinstance(text, Markup) else Markup(_escaped(str(text)))


def _escaped(text: str) -> str:
    import html  # with a table of all entities, for those who show something

    return html.escape(text)


def join(parts: Iterable[object], separator: str = "") -> Markup:
    """Parts behind each other, each escaped."""
    return Markup(str(escape(separator)).join(map(escape, parts)))


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """`element("p", "a < b", class_="x")` -> `<p class="x">a &lt; b</p>`.

    Underscores in names of attributes become dashes, two of them a colon, and one at the end is
    left out. An attribute of None or False is left out, one of True has no value.
    """
    written = "".join(
        f" {name}" if value is True else f' {name}="{_escaped(_text(value))}"'
        for name, value in ((_name(name), value) for name, value in attributes.items())
        if value is not None and value is not False
    )
    if tag in VOID:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{join(children)}</{tag}>")


def _name(name: str) -> str:
    return name.rstrip("_").replace("__", ":").replace("_", "-")


def _text(value: object) -> str:
    """The value of an attribute: coordinates need no more than a tenth of a pixel."""
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)


def table(
    rows: Sequence[Sequence[object]], *, numbers: bool = False, **attributes: object
) -> Markup:
    """A table with a header row; with `numbers`, all columns but the first are numbers."""
    head, *body = rows

    def cells(tag: str, row: Sequence[object], scope: str | None) -> Markup:
        return join(
            element(tag, cell, class_="number" if numbers and column else None, scope=scope)
            for column, cell in enumerate(row)
        )

    return element(
        "table",
        element("thead", element("tr", cells("th", head, "col"))),
        element("tbody", join(element("tr", cells("td", row, None)) for row in body)),
        **attributes,
    )


def block(text: str, lines: int = 200, columns: int = 400, **attributes: object) -> Markup:
    """A text as it is, cut to so many lines and columns; a line says how much is left out."""
    every = text.splitlines()
    shown = [line if len(line) <= columns else f"{line[:columns]} ..." for line in every[:lines]]
    if len(every) > lines:
        shown.append(f"... {len(every) - lines} more lines")
    return element("pre", "\n".join(shown), **attributes)


def notebook(title: str, body: Markup, count: int = 0) -> Markup:
    """An object in a notebook; of `count` rows, those beyond `MOST_ROWS` are only counted."""
    more = count - MOST_ROWS
    rest = element("p", f"... {more} more") if more > 0 else ""
    return element("div", element("p", element("strong", title)), body, rest)
