"""C files as programs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...dialects.errors import SourceError
from ...runtime.program import Program
from ...support.bounded_files import read_bounded
from .c_source import CSource
from .clang_library import parse
from .finding import Check, find_regions
from .parsing import parsed
from .reader import Reader
from .regions import pragma_regions
from .translate import Translation, translate


def read_source(path: str | Path) -> CSource:
    """The text of a file; raises SourceError, OSError."""
    data = read_bounded(path)
    try:
        return CSource(str(path), data.decode())
    except UnicodeDecodeError:
        return CSource(str(path), data.decode("latin-1"))


@dataclass(frozen=True)
class Regions:
    """The regions of a file as text, and the error for each loop that is in none."""

    translations: list[Translation]
    left_out: list[SourceError]


def read_regions(source: CSource, flags: Sequence[str] = (), check: Check | None = None) -> Regions:
    """The marked regions of a file, or those that are found and `check` raises no SourceError for.

    Raises SourceError.
    """
    try:
        functions = Reader(source, flags, joins_rows=check is not None).functions(
            parse(source, flags)
        )
        regions = pragma_regions(functions, source)
        if regions:
            return Regions([translate(region) for region in regions], [])
        found = find_regions(functions, check)
    except RecursionError:
        raise SourceError(f"{source.file}: the program is nested too deeply") from None
    if not found.translations:
        if found.left_out and check is None:
            raise found.left_out[0]
        if not found.left_out:
            raise SourceError(f"{source.file}: there is no loop over the elements of arrays")
    return Regions(found.translations, found.left_out)


def load_c(path: str | Path, flags: Sequence[str] = ()) -> Program:
    """The program in a C file, of a function for each region; raises SourceError, OSError.

    Where nothing is marked, it warns of loops that are in no region.
    """
    source = read_source(path)
    found = read_regions(source, flags)
    for error in found.left_out:
        warnings.warn(f"{error.location}: left out: {error.message}", stacklevel=3)
    text = "".join(each.text for each in found.translations)
    return parsed(text, [place for each in found.translations for place in each.places], source)
