"""libclang's functions and statements as ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from clang import cindex

from .c_source import CSource
from .c_types import INT
from .clang_library import evaluate
from .flags import limits_complex_range
from .forward_jumps import jump_to, without_forward_jumps
from .hoisting import keeps_order, spread
from .initial_values import initial_elements
from .jump_targets import jump_targets
from .jumps import BREAK, CONTINUE, has_jump, is_jump, labels, whole, without_jumps
from .lagging_loops import without_lagging
from .library_loops import library_loop
from .loop_tests import ended_unless
from .meeting_loops import without_meeting
from .procedures import RETURN, Procedures
from .read_expressions import ExpressionReader
from .side_effects import apart, tested
from .structure_values import StructureValues
from .switches import chain
from .tree import (
    Assignment,
    Block,
    Declare,
    Evaluate,
    Expression,
    For,
    Function,
    If,
    Literal,
    Name,
    Refused,
    Statement,
    Symbol,
    While,
    all_expressions,
    all_statements,
    walk,
)

_OPPOSITE = "write the opposite condition as an 'if'"
_WHOLE = "put the whole loop into the region"
_FORWARD = "jump forward only, to a label of a block around, or write 'break' or 'continue'"

_REASONS: dict[str, tuple[str, str | None]] = {
    "DO_STMT": ("a 'do' loop around other loops is not supported", "write a 'for' or 'while' loop"),
    "BREAK_STMT": (BREAK, _WHOLE),
    "CONTINUE_STMT": (CONTINUE, _WHOLE),
    "RETURN_STMT": (RETURN, "end the region before it"),
    "SWITCH_STMT": (
        "a 'switch' that is no list of cases with values is not supported",
        "give cases single values, and braces around declarations, or write 'if'",
    ),
    "CASE_STMT": ("'case' is not supported", "write 'if' and 'else'"),
    "ASM_STMT": ("assembly is not supported", "leave it out of the region"),
}

_SEVERAL = "a loop with several variables is not supported"

LEAVING = ("BREAK_STMT", "CONTINUE_STMT", "RETURN_STMT")


class Reader:
    """Reads the functions of a file."""

    def __init__(
        self, source: CSource, flags: Sequence[str] = (), *, joins_rows: bool = False
    ) -> None:
        self.source = source
        self._limits_complex_range = limits_complex_range(flags)
        self.expressions = ExpressionReader(source, joins_rows=joins_rows)
        self.structures = StructureValues(self.expressions)
        self.procedures = Procedures(self.expressions, self.structures, self._block)
        self.structures.inliner = self.procedures.value
        self.expressions.inliner = self.procedures.value
        self._runs: list[list[tuple[int, int, int]]] = []

    def functions(self, unit: cindex.TranslationUnit) -> list[Function]:
        """The functions that are defined in the file itself."""
        found: list[Function] = []
        for cursor in unit.cursor.get_children():
            file = cursor.location.file
            if cursor.kind.name != "FUNCTION_DECL" or not cursor.is_definition():
                continue
            if file is not None and file.name == self.source.file:
                found.append(self._function(cursor))
        return found

    def _function(self, cursor: cindex.Cursor) -> Function:
        children = list(cursor.get_children())
        parameters = tuple(
            self.expressions.symbol(each) for each in children if each.kind.name == "PARM_DECL"
        )
        self._runs = []
        body = self._block(children[-1])
        return Function(
            cursor.spelling,
            self.expressions.place(cursor),
            parameters,
            body,
            cursor.extent.start.offset,
            cursor.extent.end.offset,
            self.source,
            cursor.storage_class.name == "STATIC",
            bool(labels([body])),
            self._limits_complex_range,
            self._runs,
            jump_targets(cursor),
        )

    def _block(self, cursor: cindex.Cursor | None, beside: cindex.Cursor | None = None) -> Block:
        """A statement as a block; without a cursor, an empty one."""
        if cursor is None:
            assert beside is not None
            end = beside.extent.end.offset
            return Block(self.expressions.place(beside), end, end, [])
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        inner = self._run(cursor)
        statements = [each for child in inner for each in self.statements(child)]
        return Block(self.expressions.place(cursor), start, end, without_forward_jumps(statements))

    def _run(self, cursor: cindex.Cursor) -> list[cindex.Cursor]:
        """The statements in braces, or the only one, whose places are kept."""
        inner = list(cursor.get_children()) if cursor.kind.name == "COMPOUND_STMT" else [cursor]
        if cursor.location.file is not None and cursor.location.file.name == self.source.file:
            self._runs.append([text for each in inner if (text := _text(each)) is not None])
        return inner

    def statements(self, cursor: cindex.Cursor) -> list[Statement]:
        """The statements of a cursor; a declaration may have several variables."""
        name = cursor.kind.name
        place = self.expressions.place(cursor)
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        inner = list(cursor.get_children())
        if name == "NULL_STMT":
            return []
        if name == "COMPOUND_STMT":
            return [self._block(cursor)]
        if name == "PAREN_EXPR" and len(inner) == 1:
            return self.statements(inner[0])
        if name == "DECL_STMT":
            declared = (each for one in inner for each in self._declaration(one, start, end))
            return [part for each in declared for part in apart(each)]
        if name == "FOR_STMT":
            return [self._loop(cursor, inner)]
        if name == "WHILE_STMT" and len(inner) == 2:
            body = without_jumps(self._block(inner[1]), CONTINUE)
            return [While(place, start, end, self.expressions.read(inner[0]), body)]
        if name == "DO_STMT" and len(inner) == 2 and (done := self._do(cursor, inner)):
            return done
        if name == "IF_STMT" and len(inner) in (2, 3):
            before, test = self._hoisted(inner[0], start)
            one, other = self._block(inner[1]), self._block((*inner, None)[2], cursor)
            steps, test = tested(test)
            choice = If(place, start, end, test, one, other)
            if steps:
                before += [Evaluate(place, start, end, each) for each in steps]
                whole = Block(place, start, end, [*before, choice], is_inlined=True)
                spread([whole], start, end)  # its text moves the variables, too
                return [whole]
            return [Block(place, start, end, [*before, choice])] if before else [choice]
        if name == "SWITCH_STMT" and len(inner) == 2:
            test = self.expressions.read(inner[0])
            self._run(inner[1])
            choice = chain(cursor, test, place, self.statements)
            if choice is not None:
                return [choice]
        if name == "BINARY_OPERATOR" and cursor.binary_operator.name == "Comma":
            return [each for child in inner for each in self.statements(child)]
        if name == "CALL_EXPR" and (block := self.procedures.block(cursor)) is not None:
            return [block]
        if name == "CALL_EXPR" and (block := library_loop(cursor, self.expressions)) is not None:
            return [block]
        if (parts := self._whole(partial(self.structures.assignment, cursor))) is not None:
            whole = Block(place, start, end, parts, is_inlined=True)
            spread([whole], start, end)
            return [whole]
        if cursor.kind.is_expression():
            before, expression = self._hoisted(cursor, start)
            found = [*before, *apart(Evaluate(place, start, end, expression))]
            return found if len(found) == 1 else [Block(place, start, end, found)]
        reason, hint = _REASONS.get(name, ("this statement is not supported", None))
        if name == "RETURN_STMT" and inner:
            parts = self._whole(partial(self.structures.returned, inner[0]))
            if parts is not None:
                return [*parts, Refused(place, start, end, reason, hint, (), leaves=True)]
            before, value = self._hoisted(inner[0], start)
            return [*before, Refused(place, start, end, reason, hint, (value,), leaves=True)]
        if name in ("GOTO_STMT", "LABEL_STMT"):
            blocks = (self._block(inner[0]),) if name == "LABEL_STMT" else ()
            label = cursor.spelling if blocks else inner[0].spelling
            reason = f"label '{label}' is not supported here" if blocks else jump_to(label)
            parts = ((), blocks)
            return [Refused(place, start, end, reason, _FORWARD, *parts, leaves=True, label=label)]
        return [self._refused(cursor, reason, hint)]

    def _whole(self, read: Callable[[], list[Statement] | None]) -> list[Statement] | None:
        """The statements that set a structure, behind those of calls in the values of members."""
        with self.expressions.hoisting() as before:
            parts = read()
        if parts is None or not before:
            return parts
        return [*before, *parts] if keeps_order(before, None) else read()

    def _hoisted(self, cursor: cindex.Cursor, start: int) -> tuple[list[Statement], Expression]:
        """An expression that is always evaluated, and the calls that are made before it."""
        with self.expressions.hoisting() as before:
            expression = self.expressions.read(cursor)
        if not keeps_order(before, expression):
            return [], self.expressions.read(cursor)
        spread(before, start, start)  # the text is that of the statement itself
        return before, expression

    def _do(self, cursor: cindex.Cursor, inner: list[cindex.Cursor]) -> list[Statement]:
        """`do A while (t);` -> `A while (t) A`; none where that would repeat a loop.

        With `break` in A, it is `while (1) { A if (t) ; else break; }`.
        """
        first, again = (whole(self._block(inner[0]), CONTINUE) for _ in range(2))
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        if evaluate(inner[1]) == 0:
            first.start, first.end = start, end
            return [whole(first, BREAK)]
        kept = [each for each in all_statements(first.statements) if not is_jump(each, BREAK)]
        if any(isinstance(each, For | While | Refused) for each in kept):
            return []
        test, place = self.expressions.read(inner[1]), self.expressions.place(cursor)
        if has_jump(first.statements, BREAK):
            steps, test = tested(test)
            moves = [Evaluate(place, first.end, first.end, each) for each in steps]
            first.statements += [*moves, ended_unless(test, first.end)]
            return [While(place, start, end, Literal(place, INT, 1), first)]
        first.start, first.end = start, end
        return [first, While(place, start, end, test, again)]

    def _refused(self, cursor: cindex.Cursor, reason: str, hint: str | None) -> Refused:
        expressions: list[Expression] = []
        blocks: list[Block] = []
        for each in cursor.get_children():
            if each.kind.is_expression():
                expressions.append(self.expressions.read(each))
            else:
                blocks.append(self._block(each))
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        place = self.expressions.place(cursor)
        leaves = cursor.kind.name in LEAVING
        is_loop = cursor.kind.name in ("FOR_STMT", "DO_STMT")
        parts = tuple(expressions), tuple(blocks)
        return Refused(place, start, end, reason, hint, *parts, leaves, is_loop)

    def _declaration(self, cursor: cindex.Cursor, start: int, end: int) -> list[Statement]:
        place = self.expressions.place(cursor)
        if cursor.kind.name != "VAR_DECL":
            return [Block(place, start, end, [])]  # a type
        symbol = self.expressions.symbol(cursor)
        refused = None
        if symbol.table is not None:
            symbol.is_global = False  # it is the same in each call
        elif cursor.storage_class.name in ("STATIC", "EXTERN"):
            refused = f"'{symbol.name}' keeps its value between calls"
        inner = [each for each in cursor.get_children() if each.kind.is_expression()]
        inner.sort(key=lambda each: each.extent.start.offset)
        values = inner[len(symbol.extents) :]
        if values:
            is_list = values[-1].kind.name in ("INIT_LIST_EXPR", "STRING_LITERAL")
            elements = initial_elements(symbol, values[-1], self.expressions) if is_list else None
            first = partial(self.structures.initial, symbol, values[-1])
            elements = elements or self._whole(first)
            if elements is not None:
                filled = Block(place, start, end, elements, is_inlined=True)
                spread([filled], start, end)
                return [Declare(place, start, end, symbol, None, refused), filled]
        before, value = self._hoisted(values[-1], start) if values else ([], None)
        return [*before, Declare(place, start, end, symbol, value, refused)]

    def _loop(self, cursor: cindex.Cursor, inner: list[cindex.Cursor]) -> Statement:
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        place = self.expressions.place(cursor)
        if len(inner) < 4:
            return self._incomplete(cursor, inner)
        first = _flat(self.statements(inner[0]))
        test = self.expressions.read(inner[1])
        steps = _flat(self.statements(inner[2]))
        body = without_jumps(self._block(inner[3]), CONTINUE)
        first, test, steps, body = without_meeting(first, test, steps, body)
        first, steps, body = without_lagging(first, steps, body)
        if len(first) == len(steps) == 1:
            only = steps[0]
            own = only.expression if isinstance(only, Evaluate) else None
            step = own or self.expressions.read(inner[2])
            return For(place, start, end, first[0], test, step, body)
        counter = _counter(first, test, steps)
        begins = [each for each in first if _sets(each) is counter]
        moves = [each for each in steps if _sets(each) is counter]
        before = [each for each in first if each not in begins]
        last = [each for each in steps if each not in moves]
        is_one = counter is not None and len(begins) == len(moves) == 1
        if not is_one or not isinstance(moves[0], Evaluate):
            return self._refused(cursor, _SEVERAL, "set the others before it")
        # The others come before the counter's first value, and before its step.
        if any(_meet(begins[0], each) for each in first[first.index(begins[0]) + 1 :]) or any(
            _meet(moves[0], each) for each in steps[steps.index(moves[0]) + 1 :]
        ):
            return self._refused(cursor, _SEVERAL, "set the others before it")
        if last and has_jump(body.statements, CONTINUE):
            return self._refused(cursor, CONTINUE, _OPPOSITE)
        body.statements += last
        loop = For(place, start, end, begins[0], test, moves[0].expression, body)
        return Block(place, start, end, [*before, loop]) if before else loop

    def _incomplete(self, cursor: cindex.Cursor, inner: list[cindex.Cursor]) -> Statement:
        """A loop without all parts of its head: `for (a; t;) A` -> `a; while (t) A`."""
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        parts = self._parts(start, inner)
        if parts is None:
            missing = "this loop lacks a first value, a condition or a step"
            return self._refused(cursor, missing, "write `for (i = 0; i < n; i++)`")
        place = self.expressions.place(cursor)
        body = without_jumps(self._block(inner[-1]), CONTINUE)
        jumps = any(has_jump(body.statements, each) for each in (BREAK, RETURN))
        if 1 not in parts and not jumps and not labels([body]):
            hint = "write `for (i = 0; i < n; i++)`"
            return self._refused(cursor, "this loop lacks a condition", hint)
        if 2 in parts and has_jump(body.statements, CONTINUE):
            return self._refused(cursor, CONTINUE, _OPPOSITE)
        test = self.expressions.read(parts[1]) if 1 in parts else Literal(place, INT, 1)
        body.statements += self.statements(parts[2]) if 2 in parts else []
        loop = While(place, start, end, test, body)
        first = self.statements(parts[0]) if 0 in parts else []
        return Block(place, start, end, [*first, loop]) if first else loop

    def _parts(self, start: int, inner: list[cindex.Cursor]) -> dict[int, cindex.Cursor] | None:
        """The parts of a loop's head by their number: libclang does not tell which are missing."""
        head = self.source.data[start : inner[-1].extent.start.offset]
        ends = [start + each.start() for each in re.finditer(b";", head)]
        if len(ends) != 2 or re.search(rb"[\"'/{]", head):
            return None
        return {sum(each.extent.start.offset > end for end in ends): each for each in inner[:-1]}


def _text(cursor: cindex.Cursor) -> tuple[int, int, int] | None:
    """Where a statement begins, with its labels and behind them, and ends; None if it is empty."""
    first, end = cursor.extent.start.offset, cursor.extent.end.offset
    while cursor.kind.name in ("LABEL_STMT", "CASE_STMT", "DEFAULT_STMT"):
        *_, cursor = cursor.get_children()
    return None if cursor.kind.name == "NULL_STMT" else (first, cursor.extent.start.offset, end)


def _flat(statements: list[Statement]) -> list[Statement]:
    """Statements without blocks around some of them, but for those of calls."""
    inner = (
        _flat(each.statements) if isinstance(each, Block) and not each.is_inlined else [each]
        for each in statements
    )
    return [each for part in inner for each in part]


def _meet(one: Statement, other: Statement) -> bool:
    """Whether two statements set and use a variable in common."""
    pairs = ((one, other), (other, one))
    return any(_sets(a) is None or _sets(a) in _used(b) for a, b in pairs)


def _used(statement: Statement) -> set[Symbol]:
    pieces = all_expressions([statement])
    return {each.symbol for each in pieces if isinstance(each, Name)}


def _counter(first: list[Statement], test: Expression, steps: list[Statement]) -> Symbol | None:
    """The variable of a loop: the only one that it sets, tests and moves."""
    tested = {each.symbol for each in walk(test) if isinstance(each, Name)}
    moved = {_sets(each) for each in steps}
    found = [symbol for each in first if (symbol := _sets(each)) in tested & moved and symbol]
    return found[0] if len(found) == 1 else None


def _sets(statement: Statement) -> Symbol | None:
    """The variable that a statement declares with a value, or assigns."""
    if isinstance(statement, Declare):
        return statement.symbol
    expression = statement.expression if isinstance(statement, Evaluate) else None
    target = expression.target if isinstance(expression, Assignment) else None
    return target.symbol if isinstance(target, Name) else None
