"""Texts of programs: from files, shipped kernels, or as given."""

from __future__ import annotations

from pathlib import Path

from ..dialects.source_text import read_source


def program_text(source: str | Path) -> tuple[str, str]:
    """The text of a file, or one that is given, and what messages call it; raises SourceError."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return source, "<string>"
    file = _shipped(source) or source
    return read_source(file), str(file)


def _shipped(source: str | Path) -> Path | None:
    """The file of a shipped kernel, if that is meant."""
    text = str(source)
    if "\n" in text or "{" in text or _exists(text):
        return None
    from ..kernels.catalogue import kernel_file  # most programs are no shipped kernels

    return kernel_file(text.removeprefix("kernels/").removesuffix(".mlir"))


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:  # too long, or in a folder that may not be searched
        return False
