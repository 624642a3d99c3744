"""Syntax tree of C: what the front end reads of libclang's.

Conversions that C makes by itself are `Cast`s, so that every expression has its type. Pieces are
told apart by identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeAlias
from weakref import WeakKeyDictionary

from ...dialects.source_location import Location
from .c_source import CSource
from .c_types import LONG, CType


@dataclass(eq=False)
class Symbol:
    """A variable or parameter.

    `constant` is the value of one that is constant; `extents` has those of a VLA, outermost first;
    the address of one that `has_address` may be anywhere. A member of a structure is one as well,
    with its `spelling` in C, and so is an element that is a size; `through` are the pointers that
    lead to it, `holder` is the variable that has the member or leads to it; `members` are those
    that were read. One that `has_rows` is of pointers to rows in C, `T **`, and an array here: a
    call checks that they are those of one. `table` has the values of a constant array.
    """

    name: str
    type: CType
    place: Location
    offset: int
    is_parameter: bool = False
    is_global: bool = False
    is_const: bool = False
    is_volatile: bool = False
    addresses: int = 0
    constant: int | float | None = None
    extents: tuple[Expression, ...] = ()
    spelling: str = ""
    through: tuple[Symbol, ...] = ()
    holder: Symbol | None = None
    has_rows: bool = False
    members: dict[str, Symbol] = field(default_factory=dict[str, "Symbol"])
    table: Mapping[tuple[int, ...], int | float] | None = None

    @property
    def has_address(self) -> bool:
        """Whether its address is taken other than for a call that is inlined."""
        return self.addresses > 0 or (self.holder is not None and self.holder.has_address)

    def __post_init__(self) -> None:
        self.spelling = self.spelling or self.name


@dataclass(eq=False)
class Piece:
    """A piece of the program, and where it begins."""

    place: Location


@dataclass(eq=False)
class Typed(Piece):
    """An expression."""

    type: CType


@dataclass(eq=False)
class Literal(Typed):
    """A number."""

    value: int | float | complex


@dataclass(eq=False)
class Name(Typed):
    """A variable."""

    symbol: Symbol


@dataclass(eq=False)
class Subscript(Typed):
    """`base[index]`, or `*(base + index)`."""

    base: Expression
    index: Expression


@dataclass(eq=False)
class Unary(Typed):
    """`-x`, `+x`, `~x`, `!x`, `__real__ x`, `__imag__ x`."""

    operator: str
    operand: Expression


@dataclass(eq=False)
class Binary(Typed):
    """Arithmetic, comparisons, `&&` and `||`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(eq=False)
class Conditional(Typed):
    """`test ? one : other`."""

    test: Expression
    one: Expression
    other: Expression


@dataclass(eq=False)
class Call(Typed):
    """A call; `inlined` is what a function returns that is one expression, over `parameters`.

    The expression also uses local `variables`, which have values over those before them.
    `is_pure` says that it is declared with `__attribute__((const))`, `is_defined` that the file has
    its statements, `is_recursive` that it is inside of the function itself.
    """

    function: str
    arguments: tuple[Expression, ...]
    parameters: tuple[Symbol, ...] = ()
    variables: tuple[tuple[Symbol, Expression], ...] = ()
    inlined: Expression | None = None
    is_pure: bool = False
    is_defined: bool = False
    is_recursive: bool = False


@dataclass(eq=False)
class Cast(Typed):
    """A conversion to the type, written or made by C."""

    operand: Expression
    explicit: bool


@dataclass(eq=False)
class Assignment(Typed):
    """`target = value`, or with an operator `target += value`, `target++`.

    `computed` is the type in which C computes with the operator. The value of one that `is_postfix`
    is that of the target before.
    """

    operator: str
    target: Expression
    value: Expression
    computed: CType
    is_postfix: bool = False


@dataclass(eq=False)
class Unsupported(Typed):
    """An expression that cannot be part of an affine region, and why."""

    reason: str
    hint: str | None = None
    parts: tuple[Expression, ...] = ()


Expression: TypeAlias = (
    Literal
    | Name
    | Subscript
    | Unary
    | Binary
    | Conditional
    | Call
    | Cast
    | Assignment
    | Unsupported
)


@dataclass(eq=False)
class Evaluate(Piece):
    """An expression as a statement; `start` and `end` are offsets in the file, as below."""

    start: int
    end: int
    expression: Expression


@dataclass(eq=False)
class Declare(Piece):
    """The declaration of a variable."""

    start: int
    end: int
    symbol: Symbol
    value: Expression | None
    refused: str | None = None


@dataclass(eq=False)
class Block(Piece):
    """Statements in braces, or a branch that is a single statement.

    One that `is_inlined` takes the place of a call, whose text all of its statements have. One that
    `is_group` has no braces in the text: the condition that it is under is not there, either.
    """

    start: int
    end: int
    statements: list[Statement]
    is_inlined: bool = False
    is_group: bool = False


@dataclass(eq=False)
class For(Piece):
    """`for (first; test; step) body`."""

    start: int
    end: int
    first: Statement
    test: Expression
    step: Expression
    body: Block


@dataclass(eq=False)
class While(Piece):
    """`while (test) body`."""

    start: int
    end: int
    test: Expression
    body: Block


@dataclass(eq=False)
class If(Piece):
    """`if (test) one else other`."""

    start: int
    end: int
    test: Expression
    one: Block
    other: Block


@dataclass(eq=False)
class Refused(Piece):
    """A statement that cannot be part of an affine region, and why.

    What is in it is kept: it may hold regions, and use variables. One that `leaves` goes on
    elsewhere than behind it; `is_loop` says that it repeats its blocks; `label` is the one that
    it is, or goes to.
    """

    start: int
    end: int
    reason: str
    hint: str | None = None
    expressions: tuple[Expression, ...] = ()
    blocks: tuple[Block, ...] = ()
    leaves: bool = False
    is_loop: bool = False
    label: str = ""


Statement: TypeAlias = Evaluate | Declare | Block | For | While | If | Refused


@dataclass(eq=False)
class Function:
    """A function with a body.

    Where it `limits_complex_range`, products of complex numbers are the formula's alone: infinities
    are not recovered from NaN (`-fcx-limited-range`). `runs` has, for each pair of braces, where
    the statements begin, with their labels and behind them, and where they end. `jumps` are the
    offsets of jumps, each with the one that it goes to.
    """

    name: str
    place: Location
    parameters: tuple[Symbol, ...]
    body: Block
    start: int
    end: int
    source: CSource
    is_static: bool = False
    has_labels: bool = False
    limits_complex_range: bool = False
    runs: Sequence[Sequence[tuple[int, int, int]]] = ()
    jumps: Sequence[tuple[int, int]] = ()


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The operands of an expression."""
    if isinstance(expression, Subscript):
        return expression.base, expression.index
    if isinstance(expression, Unary | Cast):
        return (expression.operand,)
    if isinstance(expression, Binary):
        return expression.left, expression.right
    if isinstance(expression, Conditional):
        return expression.test, expression.one, expression.other
    if isinstance(expression, Call):
        return expression.arguments
    if isinstance(expression, Assignment):
        return expression.target, expression.value
    return expression.parts if isinstance(expression, Unsupported) else ()


def with_parts(expression: Expression, parts: Sequence[Expression]) -> Expression:
    """The expression with other operands, in the order of `parts_of`."""
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(parts))
    if isinstance(expression, Unsupported):
        return replace(expression, parts=tuple(parts))
    old = parts_of(expression)
    names = [name for name, each in vars(expression).items() if any(each is one for one in old)]
    return replace(expression, **dict(zip(names, parts, strict=True)))


def bare(node: Expression) -> Expression:
    """Without conversions that C makes by itself."""
    while isinstance(node, Cast) and not node.explicit:
        node = node.operand
    return node


def widened(index: Expression) -> Expression:
    """An integer as C adds it to a pointer: of type `long`."""
    return index if index.type == LONG else Cast(index.place, LONG, index, explicit=False)


def walk(expression: Expression) -> Iterator[Expression]:
    """An expression and all in it, in textual order."""
    yield expression
    for part in parts_of(expression):
        yield from walk(part)


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks inside of a statement."""
    if isinstance(statement, For | While):
        return (statement.body,)
    if isinstance(statement, If):
        return tuple(each for each in (statement.one, statement.other) if each.statements)
    if isinstance(statement, Refused):
        return statement.blocks
    return (statement,) if isinstance(statement, Block) else ()


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """The expressions of a statement itself, without those of its blocks."""
    if isinstance(statement, Evaluate):
        return (statement.expression,)
    if isinstance(statement, Declare):
        return (*statement.symbol.extents, *(() if statement.value is None else (statement.value,)))
    if isinstance(statement, For):
        return (*expressions_of(statement.first), statement.test, statement.step)
    if isinstance(statement, If | While):
        return (statement.test,)
    return statement.expressions if isinstance(statement, Refused) else ()


def all_expressions(statements: Iterable[Statement]) -> Iterator[Expression]:
    """All expressions in statements, with those inside of others."""
    return chain.from_iterable(map(_expressions_in, statements))


def _expressions_in(statement: Statement) -> tuple[Expression, ...]:
    """All expressions in a statement, which never change: that is asked for again and again."""
    found = _EXPRESSIONS.get(statement)
    if found is None:
        own = (each for expression in expressions_of(statement) for each in walk(expression))
        inner = (
            each for block in blocks_of(statement) for each in all_expressions(block.statements)
        )
        found = _EXPRESSIONS[statement] = (*own, *inner)
    return found


_EXPRESSIONS: WeakKeyDictionary[Statement, tuple[Expression, ...]] = WeakKeyDictionary()


def all_statements(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Statements, and those in their blocks."""
    for statement in statements:
        yield statement
        for block in blocks_of(statement):
            yield from all_statements(block.statements)
