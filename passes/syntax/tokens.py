"""Tokenizer of the text formats of schedules, with errors at positions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...dialects.errors import SourceError
from ...dialects.source_location import Location


@dataclass(frozen=True)
class Word:
    """A token and its position in the text, counted from 0."""

    text: str
    position: int


class TokenReader:
    """Reads a text token by token; `kind` is the group of the pattern that matched, or `end`.

    The pattern skips white space, matches the end of the text without a group, and has the groups
    `symbol` and `other`; in those of `quoted`, the token begins one character before the group.
    """

    def __init__(self, text: str, pattern: re.Pattern[str], quoted: tuple[str, ...]) -> None:
        self.text = text
        self._pattern = pattern
        self._quoted = quoted
        self._position = 0
        self.advance()

    def advance(self) -> None:
        """Goes on to the next token."""
        match = self._pattern.match(self.text, self._position)
        assert match is not None, "the pattern matches the end of the text, too"
        group = match.lastgroup
        self.kind = "end" if group is None else group
        self.token = "" if group is None else match[group]
        start = len(self.text) if group is None else match.start(group)
        self.start = start - (group in self._quoted)
        self._position = match.end()

    def expected(self, what: str) -> SourceError:
        """The error that something else is here."""
        found = "the end" if self.kind == "end" else repr(self.token)
        return error_at(self.text, self.start, f"expected {what}, not {found}")

    def accept(self, symbol: str) -> bool:
        """Whether this symbol is next; if so, goes on."""
        if self.kind == "symbol" and self.token == symbol:
            self.advance()
            return True
        return False

    def expect(self, symbol: str, what: str | None = None) -> None:
        """Goes on behind this symbol; raises SourceError."""
        if not self.accept(symbol):
            raise self.expected(what or repr(symbol))

    def word(self, what: str, *kinds: str) -> Word:
        """The next token, of one of these kinds; raises SourceError."""
        if self.kind not in kinds:
            raise self.expected(what)
        word = Word(self.token, self.start)
        self.advance()
        return word


def error_at(text: str, position: int, message: str, hint: str | None = None) -> SourceError:
    """The error that points at a position in the text of a schedule."""
    line = text.count("\n", 0, position)
    start = text.rfind("\n", 0, position) + 1
    place = Location("<pipeline>", line + 1, position - start + 1, text.split("\n")[line])
    return SourceError(message, place, hint)
