"""xDSL's parser, which also notes where operations and block arguments were written."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.utils.lexer import Span

from .locations import Source


class SourceParser(Parser):
    """Parses one text; every operation and block argument gets a location in it."""

    def __init__(self, context: Context, text: str, file_name: str) -> None:
        super().__init__(context, text, file_name)
        self.source = Source(text, file_name)
        self._name_positions: list[int] = []

    def parse_operation(self) -> Operation:
        depth = len(self._name_positions)
        operation = super().parse_operation()
        operation.location = self.source.attribute(self._name_positions[depth])
        del self._name_positions[depth:]
        return operation

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._name_positions.append(self.pos)
        return results

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        for value in values:
            if isinstance(value, BlockArgument) and isinstance(value.location, UnknownLoc):
                value.location = self.source.attribute(span.start)
