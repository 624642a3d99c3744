"""C files as programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...dialects.errors import SourceError
from ...dialects.locations import Location
from ...dialects.parse import parse_module
from ...runtime.program import Program
from ..text.relocation import relocate
from .clang_library import CSource, parse
from .reader import Reader
from .regions import pragma_regions
from .translate import Translation, translate


def read_source(path: str | Path) -> CSource:
    """The text of a file; raises SourceError, OSError."""
    data = Path(path).read_bytes()
    try:
        return CSource(str(path), data.decode())
    except UnicodeDecodeError:
        return CSource(str(path), data.decode("latin-1"))


def translations(source: CSource, flags: Sequence[str] = ()) -> list[Translation]:
    """The regions of a file as text; raises SourceError."""
    functions = Reader(source).functions(parse(source, flags))
    regions = pragma_regions(functions, source)
    if not regions:
        raise SourceError(
            f"{source.file}: there is no region",
            hint="put #pragma scop before the loops, and #pragma endscop behind them",
        )
    return [translate(region) for region in regions]


def load_c(path: str | Path, flags: Sequence[str] = ()) -> Program:
    """The program in a C file, of a function for each region; raises SourceError, OSError."""
    source = read_source(path)
    found = translations(source, flags)
    text = "".join(each.text for each in found)
    module = parse_module(text, source.file)
    places = [_place(each, node.place, source) for each in found for node in each.nodes]
    relocate(module, places, source.text, source.file)
    return Program(module)


def _place(translation: Translation, place: Location, source: CSource) -> Location:
    """A position in the file itself: what is inlined from a header is where the region is."""
    return place if place.file == source.file else translation.region.place
