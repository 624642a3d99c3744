"""The text of a C file."""

from __future__ import annotations

from ...dialects.source_location import Location


class CSource:
    """The text of a C file, for positions of errors."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.data = text.encode()  # offsets count bytes
        self.lines = text.split("\n")

    def location(self, line: int, column: int) -> Location:
        """A position; columns of libclang count bytes."""
        text = self.lines[line - 1].rstrip("\r") if 1 <= line <= len(self.lines) else None
        before = (text or "").encode()[: column - 1].decode(errors="replace")
        return Location(self.file, line, len(before) + 1, text)
