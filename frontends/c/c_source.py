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

_EXPLICIT = {LIMITED_RANGE: True, "-fcx-fortran-rules": True, "-fno-cx-limited-range": False}


def limits_complex_range(flags: Sequence[str]) -> bool:
    """Whether flags say that infinities do not matter: explicitly, or else by fast math.

    Later flags undo earlier ones.
    """
    explicit = None
    fast, level = False, ""
    for flag in flags:
        explicit = _EXPLICIT.get(flag, explicit)
        if flag in ("-ffast-math", "-fno-fast-math"):
            fast = flag == "-ffast-math"
        elif flag.startswith("-O"):
            level = flag
    return explicit if explicit is not None else fast or level == "-Ofast"
