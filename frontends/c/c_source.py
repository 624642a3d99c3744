"""The text of a C file."""

from __future__ import annotations

from collections.abc import Sequence

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


LIMITED_RANGE = "-fcx-limited-range"
"""The flag that makes products of complex numbers those of the formula alone."""

_LIMITING = {LIMITED_RANGE, "-fcx-fortran-rules", "-ffast-math"}


def limits_complex_range(flags: Sequence[str]) -> bool:
    """Whether flags, of which later ones undo earlier ones, say that infinities do not matter."""
    found: dict[str, bool] = {}
    for flag in flags:
        if flag.startswith("-O"):
            found["-O"] = flag == "-Ofast"
        elif flag in _LIMITING:
            found[flag] = True
        elif flag.startswith("-fno-"):
            found[f"-f{flag.removeprefix('-fno-')}"] = False
    return any(found.values())
