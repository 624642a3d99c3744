"""Line breaking of C."""

from __future__ import annotations

import re
from collections.abc import Iterator

LINE_LENGTH = 100
CONTINUATION = " " * 8

_BREAK = re.compile(r"(?<=,) | (?=[-+*/?:] |&& |\|\| )")
_LAST_RESORT = re.compile(r"(?<= =) |(?<=\()")


def wrap(text: str, indent: str) -> list[str]:
    """The lines of one statement: broken after commas and before operators, outer ones first."""
    lines: list[str] = []
    start = indent
    while len(start) + len(text) > LINE_LENGTH:
        position = _best_break(text, LINE_LENGTH - len(start))
        if position is None:
            break
        lines.append(start + text[:position].rstrip())
        text, start = text[position:].lstrip(), indent + CONTINUATION
    return [*lines, start + text]


def _best_break(text: str, room: int) -> int | None:
    """The last of the outermost places that fit; a first third of the room is left unbroken."""
    breaks = [(order, -at) for at, order in _breaks(_BREAK, text) if at <= room]
    if not breaks:
        breaks = [(order, -at) for at, order in _breaks(_LAST_RESORT, text) if at <= room]
    late = [each for each in breaks if -each[1] > room // 3]
    return -min(late or breaks)[1] if breaks else None


def _breaks(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, tuple[int, bool]]]:
    """Places at which a line may end: outer before inner, sums before products."""
    for match in pattern.finditer(text):
        before = text[: match.start()]
        opened = sum(before.count(bracket) for bracket in "([")
        closed = sum(before.count(bracket) for bracket in ")]")
        yield match.start(), (opened - closed, text.startswith(("*", "/"), match.end()))
