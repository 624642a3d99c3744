"""Positions of operations: those of the Python source that they are from."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp
from xdsl.ir import Attribute

from ...dialects.locations import Source as SourceText
from .source import PythonSource
from .translate import Translation


def relocate(module: ModuleOp, translation: Translation, source: PythonSource) -> None:
    """Gives all operations the positions of the Python source that they are from."""
    texts: dict[PythonSource, SourceText] = {}

    def moved(location: Attribute | None) -> FileLineColLoc | None:
        if not isinstance(location, FileLineColLoc):
            return None
        node = translation.nodes[location.line.data - 1]
        place, origin = source.location(node), source.of_node(node)
        if origin not in texts:
            lines = [""] * (origin.first_line - 1) + list(origin.lines)
            texts[origin] = SourceText("\n".join(lines), origin.file)
        text = texts[origin]
        return FileLineColLoc(text.name, IntAttr(place.line), IntAttr(place.column))

    for operation in module.walk():
        operation.location = moved(operation.location) or operation.location
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.location = moved(argument.location) or argument.location
