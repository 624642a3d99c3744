"""Positions of operations in the user's program, in place of those in the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp
from xdsl.ir import Attribute

from ...dialects.locations import Source
from ...dialects.source_location import Location


def relocate(module: ModuleOp, places: Sequence[Location], texts: Mapping[str, str]) -> None:
    """Gives all operations the positions that their lines are from: `places` has one per line.

    `texts` are those of the user's files.
    """
    sources = {file: Source(text, file) for file, text in texts.items()}

    def moved(location: Attribute | None) -> FileLineColLoc | None:
        if not isinstance(location, FileLineColLoc):
            return None
        place = places[location.line.data - 1]
        return FileLineColLoc(sources[place.file].name, IntAttr(place.line), IntAttr(place.column))

    for operation in module.walk():
        operation.location = moved(operation.location) or operation.location
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.location = moved(argument.location) or argument.location
