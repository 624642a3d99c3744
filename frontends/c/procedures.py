"""Calls of functions without a result, as the statements of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clang import cindex

from .aliases import element_of
from .c_types import ArrayType, CType, FloatType, IntegerType, PointerType
from .continues import without_jumps
from .read_expressions import ExpressionReader
from .tree import (
    Block,
    Declare,
    Expression,
    Refused,
    Statement,
    Symbol,
    Unsupported,
    all_expressions,
    all_statements,
    blocks_of,
)

RETURN = "'return' is not supported inside of a region"

_DEEPEST, _MOST = 8, 200
"""Calls inside of each other, and calls in a file, that are replaced."""

ReadBlock = Callable[[cindex.Cursor], Block]


class Procedures:
    """Replaces calls by a block of declarations, one for each parameter, and the statements.

        scale(m, A[i], 2.0);   ->   { int n = m; double *x = A[i]; double a = 2.0;
                                      for (int k = 0; k < n; k++) x[k] *= a; }

    A call whose statements no region can have stays as it is.
    """

    def __init__(self, expressions: ExpressionReader, read: ReadBlock) -> None:
        self._expressions = expressions
        self._read = read
        self._around: list[str] = []
        self._count = 0

    def block(self, call: cindex.Cursor) -> Block | None:
        """The statements in place of a call."""
        meant = call.referenced
        if meant is None or meant.kind.name != "FUNCTION_DECL":
            return None
        definition = meant.get_definition()
        if definition is None or definition.result_type.kind.name != "VOID":
            return None
        name = definition.get_usr()
        is_free = name not in self._around and len(self._around) < _DEEPEST and self._count < _MOST
        if not is_free:
            return None
        self._count += 1
        arguments = [self._expressions.read(each) for each in call.get_arguments()]
        self._around.append(name)
        try:
            with self._expressions.scope():
                parameters, body = self._definition(definition)
                members = self._expressions.has_members
        finally:
            self._around.pop()
        if members or len(arguments) != len(parameters):
            return None
        pairs = list(zip(parameters, arguments, strict=True))
        statements = without_jumps(body, RETURN).statements
        if not all(_may_pass(*pair) for pair in pairs) or not all(map(_is_plain, statements)):
            return None
        place = self._expressions.place(call)
        start, end = call.extent.start.offset, call.extent.end.offset
        declared = [Declare(place, start, end, *pair) for pair in pairs]
        block = Block(place, start, end, [*declared, *statements], is_inlined=True)
        for each in _blocks(block):
            each.start, each.end = start, end  # the text of the call is what a region replaces
            for statement in each.statements:
                statement.start, statement.end = start, end
        return block

    def _definition(self, definition: cindex.Cursor) -> tuple[list[Symbol], Block]:
        children = list(definition.get_children())
        parameters = [
            self._expressions.symbol(each) for each in children if each.kind.name == "PARM_DECL"
        ]
        for symbol in parameters:
            symbol.is_parameter = False
            if isinstance(symbol.type, ArrayType):
                symbol.type = PointerType(symbol.type.element, restrict=False)
        return parameters, self._read(children[-1])


def _may_pass(parameter: Symbol, argument: Expression) -> bool:
    """Whether a parameter is a variable of the region, or another name of elements of an array."""
    if parameter.is_volatile or isinstance(argument, Unsupported):
        return False
    if isinstance(parameter.type, PointerType):
        element = element_of(argument)
        return element is not None and _agree(parameter.type.target, element.type)
    return isinstance(parameter.type, IntegerType | FloatType)


def _agree(one: CType, other: CType) -> bool:
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        known = one.extent is not None and other.extent is not None
        return _agree(one.element, other.element) and (not known or one.extent == other.extent)
    return one == other and isinstance(one, IntegerType | FloatType)


def _is_plain(statement: Statement) -> bool:
    """Whether nothing in a statement is refused whatever is around it."""
    pieces = all_statements([statement])
    refused = any(
        isinstance(each, Refused) or (isinstance(each, Declare) and each.refused is not None)
        for each in pieces
    )
    return not refused and not any(
        isinstance(each, Unsupported) for each in all_expressions([statement])
    )


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for statement in block.statements:
        for inner in blocks_of(statement):
            yield from _blocks(inner)
