"""Positions in source files, as messages show them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Location:
    """A position in a source file: `line` and `column` count from 1, in characters.

    `text` is the whole line without its end, or None when the source is not at hand.
    """

    file: str
    line: int
    column: int
    text: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def of_use(self, name: str) -> Location:
        """Where this name is used from here on in the same line; this location if it is not."""
        start = self.column - 1
        use = re.compile(rf"{re.escape(name)}(?![\w$.-])").search(self.text or "", start)
        return replace(self, column=use.start() + 1) if use else self
