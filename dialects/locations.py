"""Source locations of operations and values.

The parser stores a `FileLineColLoc` on every operation and block argument, which copies keep. The
text itself lies in a side table for as long as one of these locations is alive, so that an error
found by a much later pass can still show the line.
"""

from __future__ import annotations

import re
import weakref
from bisect import bisect_right

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from .source_location import Location


class _Text:
    """A source text and where its lines start."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0] + [index + 1 for index, char in enumerate(text) if char == "\n"]

    def line(self, number: int) -> str | None:
        if not 1 <= number <= len(self.starts):
            return None
        start = self.starts[number - 1]
        end = self.starts[number] - 1 if number < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


# Names that xDSL does not keep, such as %0.
_names: weakref.WeakKeyDictionary[SSAValue, str] = weakref.WeakKeyDictionary()

# By the identity of the attribute with the file's name, since two texts may have one name.
_texts: dict[int, _Text] = {}


class Source:
    """A source text from which locations are made."""

    def __init__(self, text: str, file_name: str) -> None:
        self.name = StringAttr(file_name)
        self.text = _Text(text)
        _texts[id(self.name)] = self.text
        weakref.finalize(self.name, _texts.pop, id(self.name), None)

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Line and column (from 1) of a position (characters from the start of the text)."""
        line = bisect_right(self.text.starts, position)
        return line, position - self.text.starts[line - 1] + 1

    def location(self, position: int) -> Location:
        """The location of a position, for an error."""
        line, column = self.line_and_column(position)
        return Location(self.name.data, line, column, self.text.line(line))

    def attribute(self, position: int) -> FileLineColLoc:
        """The location of a position, for an operation or block argument."""
        line, column = self.line_and_column(position)
        return FileLineColLoc(self.name, IntAttr(line), IntAttr(column))


def keep_name(value: SSAValue, name: str) -> None:
    """Remembers the name (without %) that a value has in the source."""
    if value.name_hint is None:
        _names[value] = name


def name_of(value: SSAValue) -> str:
    """The name of a value in the source, such as `%0`; "a value" for one that a pass has made."""
    name = value.name_hint or _names.get(value)
    return "a value" if name is None else f"%{name}"


def written_name(operation: Operation) -> str:
    """The name of the operation that was written where this one is, which may be made of it."""
    place = locate(operation)
    rest = place.text[place.column - 1 :] if place is not None and place.text else ""
    written = re.match(r'"?(\w+\.\w+)', rest)
    return written[1] if written else operation.name


def locate(subject: Operation | SSAValue) -> Location | None:
    """Where an operation or value was parsed.

    Something that a pass has made has no location of its own: the nearest operation around it
    answers instead, and None means that there is none.
    """
    node: Operation | Block | None
    if isinstance(subject, BlockArgument):
        attribute, node = subject.location, subject.owner
    else:
        node = subject if isinstance(subject, Operation) else subject.owner
        attribute = None
    while not isinstance(attribute, FileLineColLoc):
        if node is None:
            return None
        if isinstance(node, Operation):
            attribute = node.location
        node = node.parent_op()
    line = attribute.line.data
    text = _texts.get(id(attribute.filename))
    return Location(
        attribute.filename.data, line, attribute.column.data, text.line(line) if text else None
    )
