"""Plain data as HTML tables of bounded size: how records show themselves in notebooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from .markup import MOST_COLUMNS, MOST_ROWS, Markup, element, escape, join, table
from .summaries import shortened

MOST_LETTERS = 4 * MOST_COLUMNS
"""Of a field that stands alone: messages are shown whole."""

MOST_DEPTH = 3
"""Tables inside of tables; what is deeper is shown in one line."""


def words(name: str) -> str:
    """`LegalityAnswer` -> `Legality answer`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def record_table(record: object, depth: int = 0) -> Markup:
    """A row for each field of a dataclass that has a value."""
    items = [(name, value) for name, value in _items(record) if value not in (None, (), {}, "")]
    return table([["", ""], *([name, _cell(value, depth + 1)] for name, value in items)])


def _items(record: object) -> list[tuple[str, Any]]:
    if isinstance(record, Mapping):
        pairs = cast("Mapping[object, Any]", record)
        return [(str(name), value) for name, value in pairs.items()][:MOST_ROWS]
    names = [field.name for field in fields(cast(Any, record))]
    return [(name, getattr(record, name)) for name in names]


def _cell(value: object, depth: int) -> Markup:
    if depth < MOST_DEPTH:
        if _is_record(value):
            return record_table(value, depth)
        if isinstance(value, str):
            return escape(shortened(value, MOST_LETTERS))
        if value and isinstance(value, Sequence):
            return _rows(cast("Sequence[object]", value), depth)
    return escape(_text(value))


def _is_record(value: object) -> bool:
    return isinstance(value, Mapping) or is_dataclass(value)


def _rows(values: Sequence[object], depth: int) -> Markup:
    """A table of records of one kind, else a list or lines of text."""
    shown = values[:MOST_ROWS]
    more = [f"... {len(values) - MOST_ROWS} more"] if len(values) > MOST_ROWS else []
    if is_dataclass(shown[0]):
        names = [name for name, _ in _items(shown[0])]
        body = [[_cell(value, MOST_DEPTH) for _, value in _items(each)] for each in shown]
        return join((table([names, *body]), *(element("p", text) for text in more)))
    if all(isinstance(each, str) for each in shown):
        return element("pre", "\n".join([*(str(each)[:MOST_COLUMNS] for each in shown), *more]))
    return escape(", ".join([*map(_text, shown), *more]))


def _text(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4g}"
        case tuple() | list():
            return shortened(", ".join(map(_text, cast("Sequence[object]", value))), MOST_COLUMNS)
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            return shortened(", ".join(f"{k}={_text(v)}" for k, v in pairs), MOST_COLUMNS)
        case _ if is_dataclass(value):
            return shortened(", ".join(_text(v) for _, v in _items(value)), MOST_COLUMNS)
        case _:
            return shortened(str(value), MOST_COLUMNS)
