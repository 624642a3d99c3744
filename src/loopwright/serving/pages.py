"""Answers of bounded size: long lists in pages, long texts cut."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..session.problems import CallError

LARGEST = 16_000
"""Bytes of an answer, as JSON."""

MOST_PER_PAGE = 100

PER_PAGE = 50
"""Items of a page, when nothing is said."""

LONGEST_TEXT = 1000
"""Characters of a text inside of an item."""

KEPT_WHOLE = ("schedule", "steps")
"""Texts that a caller hands back, which are worth nothing when they are cut."""


@dataclass(frozen=True)
class Page:
    """Which part of a list is wanted, counted from 1."""

    number: int = 1
    limit: int = PER_PAGE


def paged(answer: Mapping[str, Any], field: str | None, page: Page) -> dict[str, Any]:
    """The answer with a page of the list in `field`; shorter pages where they would be too long.

    All pages of an answer have the same limit, so that they fit together.
    """
    cut = cast("dict[str, Any]", _cut(answer, LONGEST_TEXT))
    if field is None:
        return _bounded(cut)
    items = cast("list[Any]", cut[field])
    limit = page.limit
    while limit > 1 and any(
        _size({**cut, field: items[start : start + limit]}) > LARGEST - 200
        for start in range(0, len(items), limit)
    ):
        limit //= 2
    start = (page.number - 1) * limit
    part = {**cut, field: items[start : start + limit]}
    pages = max(1, -(-len(items) // limit))
    return _bounded({**part, "page": page.number, "pages": pages, "total": len(items)})


def _bounded(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer, whose texts are cut further where it is too long still."""
    longest = LONGEST_TEXT
    while _size(answer) > LARGEST and longest > 10:
        longest //= 2
        answer = cast("dict[str, Any]", _cut(answer, longest))
    if _size(answer) > LARGEST:
        raise CallError("too_large", f"the answer has more than {LARGEST} bytes")
    return answer


def _cut(value: Any, longest: int, name: str = "") -> Any:
    match value:
        case str() if len(value) > longest and name not in KEPT_WHOLE:
            return f"{value[:longest]} ... ({len(value) - longest} more characters)"
        case list():
            return [_cut(each, longest, name) for each in cast("list[Any]", value)]
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return {key: _cut(each, longest, key) for key, each in pairs}
        case _:
            return value


def _size(answer: Mapping[str, Any]) -> int:
    return len(json.dumps(answer, ensure_ascii=False).encode())
