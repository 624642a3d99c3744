"""Where the jumps of a function begin and end, in its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from clang import cindex

NOWHERE = -1
"""The target of what leaves the function, or may go anywhere."""

_LOOPS = ("FOR_STMT", "WHILE_STMT", "DO_STMT")


@dataclass(frozen=True)
class _Around:
    """Where `break` and `continue` go to."""

    broken: int = NOWHERE
    continued: int = NOWHERE


def jump_targets(function: cindex.Cursor) -> list[tuple[int, int]]:
    """The offset of each jump, and the one that it goes to."""
    labels = {each.spelling: _start(each) for each in _all(function, "LABEL_STMT")}
    return [
        (_start(jump), labels.get(target, NOWHERE) if isinstance(target, str) else target)
        for jump, target in _jumps(function, _Around())
    ]


def _all(cursor: cindex.Cursor, kind: str) -> Iterator[cindex.Cursor]:
    for each in cursor.get_children():
        if each.kind.is_statement():
            if each.kind.name == kind:
                yield each
            yield from _all(each, kind)


def _jumps(cursor: cindex.Cursor, around: _Around) -> Iterator[tuple[cindex.Cursor, int | str]]:
    """The jumps in a statement, and the offset or label that each goes to."""
    for each in cursor.get_children():
        name = each.kind.name
        if not each.kind.is_statement():
            continue
        if name == "GOTO_STMT":
            yield each, next(each.get_children()).spelling
        elif name == "BREAK_STMT":
            yield each, around.broken
        elif name == "CONTINUE_STMT":
            yield each, around.continued
        elif name in ("RETURN_STMT", "INDIRECT_GOTO_STMT"):
            yield each, NOWHERE
        elif name in _LOOPS:
            yield from _jumps(each, _Around(each.extent.end.offset, _end_of_body(each)))
        elif name == "SWITCH_STMT":
            yield from _jumps(each, replace(around, broken=each.extent.end.offset))
        else:
            yield from _jumps(each, around)


def _start(cursor: cindex.Cursor) -> int:
    offset: int = cursor.extent.start.offset
    return offset


def _end_of_body(loop: cindex.Cursor) -> int:
    """The offset of the closing brace, or that behind the only statement."""
    inner = list(loop.get_children())
    body = inner[0] if loop.kind.name == "DO_STMT" else inner[-1]
    end: int = body.extent.end.offset
    return end - 1 if body.kind.name == "COMPOUND_STMT" else end
