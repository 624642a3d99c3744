"""Inlining of functions with statements: their loops stand before the statement with the call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from clang import cindex

from ...dialects.locations import Location
from .aliases import element_of
from .c_types import INT, ArrayType, CType, NumberType, OtherType, PointerType
from .counted_loops import mapped_statement
from .hoisting import keeps_order, spread
from .jumps import BREAK, CONTINUE, assigned, holds, number, without_jumps
from .read_expressions import ExpressionReader
from .read_types import read_type
from .structure_values import StructureValues, is_structure
from .tree import (
    Assignment,
    Block,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Literal,
    Name,
    Refused,
    Statement,
    Subscript,
    Symbol,
    Unary,
    Unsupported,
    While,
    all_expressions,
    all_statements,
    bare,
)

RETURN = "'return' is not supported inside of a region"

_DEEPEST, _MOST = 8, 200
"""Calls inside of each other, and calls in a file, that are replaced."""

ReadBlock = Callable[[cindex.Cursor], Block]


class Procedures:
    """Replaces calls by a block of declarations, one for each parameter, and the statements.

        scale(m, A[i], 2.0);   ->   { int n = m; double *x = A[i]; double a = 2.0;
                                      for (int k = 0; k < n; k++) x[k] *= a; }
        y[i] = sum(A[i], m);   ->   double sum; { ...; sum = s; } y[i] = sum;

    A call whose statements no region can have stays as it is.
    """

    def __init__(
        self, expressions: ExpressionReader, structures: StructureValues, read: ReadBlock
    ) -> None:
        self._expressions = expressions
        self._structures = structures
        self._read = read
        self._around: list[str] = []
        self._count = 0

    def block(self, call: cindex.Cursor) -> Block | None:
        """The statements in place of a call whose result, if it has one, is not used."""
        with self._expressions.hoisting() as before:
            arguments = [self._expressions.read(each) for each in call.get_arguments()]
        place = self._expressions.place(call)
        found = self._body(call, arguments, place) if keeps_order(before, None) else None
        if found is None:
            return None
        start, end = call.extent.start.offset, call.extent.end.offset
        body, result = found
        unused = [] if result is None else [Declare(place, 0, 0, result, None)]
        statements = [*before, *unused, *body.statements]
        block = Block(place, start, end, statements, is_inlined=True)
        spread([block], start, end)  # the text of the call is what a region replaces
        return block

    def value(
        self, call: cindex.Cursor, arguments: Sequence[Expression]
    ) -> tuple[list[Statement], Name] | None:
        """The statements before one that uses the result of a call, and what stands for it."""
        place = self._expressions.place(call)
        found = self._body(call, arguments, place)
        body, result = found or (None, None)
        if body is None or result is None:
            return None
        before: list[Statement] = [Declare(place, 0, 0, result, None), body]
        return before, Name(place, result.type, result)

    def _body(
        self, call: cindex.Cursor, arguments: Sequence[Expression], place: Location
    ) -> tuple[Block, Symbol | None] | None:
        """What a call runs, and the variable that has its result."""
        meant = call.referenced
        if meant is None or meant.kind.name != "FUNCTION_DECL":
            return None
        definition = meant.get_definition()
        if definition is None:
            return None
        kind = read_type(definition.result_type)
        is_number, is_whole = isinstance(kind, NumberType), is_structure(definition.result_type)
        if not is_number and not is_whole and definition.result_type.kind.name != "VOID":
            return None
        result = Symbol(meant.spelling, kind, place, 0) if is_number or is_whole else None
        name = definition.get_usr()
        is_free = name not in self._around and len(self._around) < _DEEPEST and self._count < _MOST
        if not is_free:
            return None
        self._count += 1
        self._around.append(name)
        try:
            whole = result if is_whole else None
            with self._expressions.scope(), self._structures.returning(whole):
                parameters, body = self._definition(definition)
                members = self._expressions.has_shared_members
        finally:
            self._around.pop()
        if members or len(arguments) != len(parameters):
            return None
        structures = self._passed_whole(call, parameters)
        if structures is None:
            return None
        given = [
            pair
            for pair in zip(parameters, arguments, strict=True)
            if not isinstance(pair[0].type, OtherType)
        ]
        body, pairs = _with_targets(body, given)
        if result is not None and is_number:
            body = _with_result(body, result)
        statements = without_jumps(_leaving_loops(body), RETURN).statements
        if not all(_may_pass(*pair) for pair in pairs) or not all(map(_is_plain, statements)):
            return None
        for _, argument in (pair for pair in given if pair not in pairs):
            target = _pointed_at(argument)
            assert target is not None
            target.symbol.addresses -= 1  # nobody has it behind the call
        declared = [Declare(place, 0, 0, *pair) for pair in pairs]
        return Block(place, 0, 0, [*structures, *declared, *statements], is_inlined=True), result

    def _passed_whole(
        self, call: cindex.Cursor, parameters: Sequence[Symbol]
    ) -> list[Statement] | None:
        """What gives parameters that are structures their values; None where that is not known."""
        statements: list[Statement] = []
        for symbol, argument in zip(parameters, call.get_arguments(), strict=True):
            if isinstance(symbol.type, OtherType):
                values = self._structures.initial(symbol, argument)
                if values is None or symbol.is_volatile:
                    return None
                statements += [Declare(symbol.place, 0, 0, symbol, None), *values]
        return statements

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


def _with_targets(
    body: Block, pairs: list[tuple[Symbol, Expression]]
) -> tuple[Block, list[tuple[Symbol, Expression]]]:
    """Variables in place of what parameters point at: `*p = x` -> `k = x` where `&k` is passed."""
    left: list[tuple[Symbol, Expression]] = []
    for parameter, argument in pairs:
        target = _pointed_at(argument)
        uses = [each for each in all_expressions([body]) if _is_use(each, parameter)]
        through = [each for each in all_expressions([body]) if _reads_through(each, parameter)]
        if (
            target is None
            or not isinstance(parameter.type, PointerType)
            or parameter.type.target != target.type
            or len(uses) != len(through)
        ):
            left.append((parameter, argument))
            continue
        found = mapped_statement(body, partial(_as_target, parameter, target))
        assert isinstance(found, Block)
        body = found
    return body, left


def _pointed_at(argument: Expression) -> Name | None:
    """The local variable, a number, whose address an argument is."""
    argument = bare(argument)
    name = argument.operand if isinstance(argument, Unary) and argument.operator == "&" else None
    if not isinstance(name, Name) or not isinstance(name.type, NumberType):
        return None
    symbol = name.symbol
    is_local = not (symbol.is_global or symbol.is_volatile or symbol.holder)
    return name if is_local else None


def _is_use(node: Expression, parameter: Symbol) -> bool:
    return isinstance(node, Name) and node.symbol is parameter


def _reads_through(node: Expression, parameter: Symbol) -> bool:
    """Whether an expression is `*p`, which is `p[0]`."""
    return (
        isinstance(node, Subscript)
        and _is_use(node.base, parameter)
        and isinstance(node.index, Literal)
        and node.index.value == 0
    )


def _as_target(parameter: Symbol, target: Name, node: Expression) -> Expression:
    if not _reads_through(node, parameter):
        return node
    return Name(node.place, target.type, target.symbol)


def _may_pass(parameter: Symbol, argument: Expression) -> bool:
    """Whether a parameter is a variable of the region, or another name of elements of an array."""
    if parameter.is_volatile or isinstance(argument, Unsupported):
        return False
    if isinstance(parameter.type, PointerType):
        element = element_of(argument)
        return element is not None and _agree(parameter.type.target, element.type)
    return isinstance(parameter.type, NumberType)


def _agree(one: CType, other: CType) -> bool:
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        known = one.extent is not None and other.extent is not None
        return _agree(one.element, other.element) and (not known or one.extent == other.extent)
    return one == other and isinstance(one, NumberType)


def _is_plain(statement: Statement) -> bool:
    """Whether nothing in a statement is refused whatever is around it."""
    refused = any(
        (isinstance(each, Refused) and each.reason not in (BREAK, CONTINUE))
        or (isinstance(each, Declare) and each.refused is not None)
        for each in all_statements([statement])
    )
    return not refused and not any(
        isinstance(each, Unsupported) for each in all_expressions([statement])
    )


def _with_result(body: Block, result: Symbol) -> Block:
    """Statements that assign what they return: `return x;` -> `result = x; return;`."""
    statements: list[Statement] = []
    for each in body.statements:
        if isinstance(each, Refused) and each.reason == RETURN and each.expressions:
            (value,) = each.expressions
            target = Name(each.place, result.type, result)
            given = Assignment(each.place, result.type, "", target, value, result.type)
            statements += [
                Evaluate(each.place, each.start, each.end, given),
                replace(each, expressions=()),
            ]
        elif isinstance(each, If):
            one, other = (_with_result(inner, result) for inner in (each.one, each.other))
            statements.append(replace(each, one=one, other=other))
        elif isinstance(each, For | While):
            statements.append(replace(each, body=_with_result(each.body, result)))
        elif isinstance(each, Block):
            statements.append(_with_result(each, result))
        else:
            statements.append(each)
    return replace(body, statements=statements)


def _leaving_loops(body: Block) -> Block:
    """Statements whose loops end with `break` instead of `return`.

    for (...) if (t) return;   ->   returned = 0; for (...) if (t) { returned = 1; break; }
                                    if (returned != 0) return;
    """
    loops = (each for each in all_statements(body.statements) if isinstance(each, For | While))
    if not any(map(_returns, loops)):
        return body
    returned = Symbol("returned", INT, body.place, 0)
    first = Declare(body.place, body.start, body.start, returned, number(body, 0))
    return replace(body, statements=[first, *_left(body.statements, returned, in_loop=False)])


def _left(statements: Sequence[Statement], returned: Symbol, *, in_loop: bool) -> list[Statement]:
    found: list[Statement] = []

    def block(each: Block) -> Block:
        return replace(each, statements=_left(each.statements, returned, in_loop=in_loop))

    for each in statements:
        if isinstance(each, For | While) and _returns(each):
            inner = _left(each.body.statements, returned, in_loop=True)
            found.append(replace(each, body=replace(each.body, statements=inner)))
            end = Block(each.place, each.end, each.end, [_leave(each, in_loop)])
            rest = replace(end, statements=[])
            found.append(If(each.place, each.end, each.end, holds(each, returned), end, rest))
        elif isinstance(each, Refused) and each.reason == RETURN and in_loop:
            found += [assigned(each, returned, 1), _leave(each, in_loop)]
        elif isinstance(each, If):
            found.append(replace(each, one=block(each.one), other=block(each.other)))
        elif isinstance(each, Block):
            found.append(block(each))
        else:
            found.append(each)
    return found


def _returns(loop: For | While) -> bool:
    pieces = all_statements(loop.body.statements)
    return any(isinstance(each, Refused) and each.reason == RETURN for each in pieces)


def _leave(place: Statement, in_loop: bool) -> Refused:
    reason = BREAK if in_loop else RETURN
    return Refused(place.place, place.start, place.end, reason, leaves=True)
