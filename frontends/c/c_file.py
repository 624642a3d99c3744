"""C files as programs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...dialects.errors import SourceError
from ...dialects.parse import parse_module
from ...dialects.source_location import Location
from ...runtime.program import Program
from ...support.bounded_files import read_bounded
from ..text.relocation import relocate
from .clang_library import CSource, parse
from .finding import Check, find_regions
from .reader import Reader
from .regions import pragma_regions
from .store_forwarding import forward_local_scalars
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
        functions = Reader(source).functions(parse(source, flags))
        regions = pragma_regions(functions, source)
        if regions:
            return Regions([translate(region) for region in regions], [])
        found = find_regions(functions, check)
    except RecursionError:
        raise SourceError(f"{source.file}: the program is nested too deeply") from None
    if not found.regions:
        if found.left_out:
            raise found.left_out[0]
        raise SourceError(f"{source.file}: there is no loop over the elements of arrays")
    return Regions([translate(region) for region in found.regions], found.left_out)


def load_c(path: str | Path, flags: Sequence[str] = ()) -> Program:
    """The program in a C file, of a function for each region; raises SourceError, OSError.

    Where nothing is marked, it warns of loops that are in no region.
    """
    source = read_source(path)
    found = read_regions(source, flags)
    for error in found.left_out:
        warnings.warn(f"{error.location}: left out: {error.message}", stacklevel=3)
    return program_of(found.translations, source)


def program_of(translations: Sequence[Translation], source: CSource) -> Program:
    """The program of regions; positions are those in the C file."""
    module = parse_module("".join(each.text for each in translations), source.file)
    nodes = [(each, node) for each in translations for node in each.nodes]
    places = [place_of(each, node.place, source) for each, node in nodes]
    relocate(module, places, {source.file: source.text})
    for function in module.ops:
        forward_local_scalars(function)
    return Program(module)


def place_of(translation: Translation, place: Location, source: CSource) -> Location:
    """A position in the file itself: what is inlined from a header is where the region is."""
    return place if place.file == source.file else translation.region.place
