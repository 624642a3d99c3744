"""The one folder whose files a served session reads and writes."""

from __future__ import annotations

import difflib
import os
import stat
from pathlib import Path

from ..dialects.parse import parse_module
from ..kernels.catalogue import catalogue
from ..runtime.program import Program
from ..runtime.program import load as load_text
from ..session.files import AnyFiles
from ..session.problems import CallError
from ..support.output_files import write_output

LARGEST = 1 << 20
"""Bytes of a program."""

_LONGEST = 1000
"""Characters of a name: answers show them."""

_NOT_SERVED = {
    ".c": "C files are not served, as they include others",
    ".py": "Python files are not served, as they are run",
}
"""Files of other languages, and why they stay outside."""


class RootFolder(AnyFiles):
    """Names are relative to the folder; what they lead to, links resolved, must be inside."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve(strict=True)
        self._written: set[Path] = set()

    def read(self, source: str) -> Program:
        """The program in a text or in a file of the folder."""
        if "\n" in source or "{" in source:
            return load_text(source)
        path = self._inside(source)
        if (reason := _NOT_SERVED.get(path.suffix)) is not None:
            raise CallError(
                "path",
                f"{source}: {reason}",
                "translate it with 'loopwright convert --to mlir' first",
            )
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            close = difflib.get_close_matches(source, catalogue(), 1)
            remedy = f"did you mean {close[0]}?" if close else None
            raise CallError("path", f"no file or shipped kernel '{source}'", remedy) from None
        except OSError as error:
            raise CallError("path", f"{source}: {error.strerror}") from None
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CallError("path", f"{source}: no ordinary file")
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise CallError("too_large", f"{source}: more than {LARGEST} bytes")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise CallError("path", f"{source}: no UTF-8 text") from None
        return Program(parse_module(text, source))

    def write(self, path: str, text: str) -> None:
        """Writes a file of the folder; replaces none but what it wrote itself."""
        target = self._inside(path)
        try:
            if target.exists() and not target.is_file():
                raise CallError("path", f"{path}: no ordinary file")
            if not target.parent.is_dir():
                raise CallError("path", f"{path}: there is no such folder")
            if target.exists() and target not in self._written:
                raise CallError("path", f"{path}: is there already", "choose another name")
            write_output(target, text)
            self._written.add(target)
        except OSError as error:
            raise CallError("path", f"{path}: {error.strerror}") from None

    def model(self, name: str) -> str:
        """The name of a cost model; no file."""
        if Path(name).name != name or Path(name).suffix:
            raise CallError("path", f"'{name}' is no name of a cost model")
        return name

    def _inside(self, name: str) -> Path:
        if not name or len(name) > _LONGEST or any(ord(char) < 32 for char in name):
            shown = name if len(name) <= _LONGEST else f"{name[:60]}..."
            raise CallError("path", f"{shown!r} is no name of a file")
        try:
            path = (self._root / name).resolve()
        except (OSError, RuntimeError):  # links in a circle
            raise CallError("path", f"{name}: cannot be resolved") from None
        if not path.is_relative_to(self._root) or path == self._root:
            raise CallError(
                "path",
                f"{name}: outside of the folder that is served",
                "name a file inside of it, relative to it",
            )
        return path
