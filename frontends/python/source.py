"""The Python source of a function: syntax tree, and positions for errors."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects.errors import SourceError
from ...dialects.source_location import Location


@dataclass(frozen=True)
class PythonSource:
    """The lines of a function's definition: `first_line` counts from 1 in the file."""

    file: str
    first_line: int
    lines: tuple[str, ...]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> PythonSource:
        """The source of a function; raises SourceError where Python does not have it."""
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError, SyntaxError) as error:
            raise SourceError(
                f"the source of '{function.__name__}' is not at hand",
                hint="define it in a file or a notebook cell, not through exec or a plain prompt",
            ) from error
        name = function.__code__.co_filename
        return cls(name, max(first, 1), tuple(line.rstrip("\r\n") for line in lines))

    def parse(self) -> ast.FunctionDef:
        """The definition; positions count lines of the file."""
        text = "\n".join(self.lines) + "\n"
        indented = text[:1].isspace()
        try:
            module = ast.parse(f"if True:\n{text}" if indented else text)
        except SyntaxError as error:
            raise SourceError(
                "the source of the function was not found",
                Location(self.file, self.first_line, 1),
                "write the function as a `def` statement",
            ) from error
        ast.increment_lineno(module, self.first_line - (2 if indented else 1))
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list = []  # Their names mean nothing in the function.
                return node
        raise SourceError(
            "a kernel must be a function written with `def`",
            Location(self.file, self.first_line, 1, self.lines[0]),
        )

    def location(self, node: ast.AST) -> Location:
        """Where a piece of the syntax tree begins; one of another function has its `origin`."""
        origin = self.of_node(node)
        if origin != self:
            return origin.location(node)
        line, offset = getattr(node, "lineno", self.first_line), getattr(node, "col_offset", 0)
        position = line - self.first_line
        text = self.lines[position] if 0 <= position < len(self.lines) else None
        column = len((text or "").encode()[:offset].decode(errors="replace")) + 1
        return Location(self.file, line, column, text)

    def of_node(self, node: ast.AST) -> PythonSource:
        """The source that a piece of the syntax tree is from."""
        return getattr(node, "origin", self)

    def texts(self, nodes: Sequence[ast.AST]) -> dict[str, str]:
        """The files that pieces of the syntax tree are from, as far as their lines are known."""
        found: dict[str, list[str]] = {}
        for origin in dict.fromkeys(self.of_node(node) for node in nodes):
            lines = found.setdefault(origin.file, [])
            first = origin.first_line - 1
            lines += [""] * (first + len(origin.lines) - len(lines))
            lines[first : first + len(origin.lines)] = origin.lines
        return {file: "\n".join(lines) for file, lines in found.items()}

    def error(self, node: ast.AST, message: str, hint: str | None = None) -> SourceError:
        """The error that points at a piece of the syntax tree."""
        return SourceError(message, self.location(node), hint)
