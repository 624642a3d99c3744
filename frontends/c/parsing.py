"""Text of regions to programs."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.parse import parse_module
from ...dialects.source_location import Location
from ...runtime.program import Program
from ..text.relocation import relocate
from .c_source import CSource
from .store_forwarding import forward_local_scalars


def parsed(text: str, places: Sequence[Location], source: CSource) -> Program:
    """The program in a text whose lines are of these places in the C file; raises SourceError."""
    module = parse_module(text, source.file)
    relocate(module, places, {source.file: source.text})
    for function in module.ops:
        forward_local_scalars(function)
    return Program(module)
