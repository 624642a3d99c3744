"""Rotated buffers: a loop whose iterations swap pointers, with arrays chosen by the iteration.

for (t = 0; t < T; t++) {               for (t = 0; t < T; t++)
  f(a, b);                                if (t % 2 == 0) f(a, b);
  tmp = a; a = b; b = tmp;       ->       else f(b, a);
}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..rotation_period import rotation_period
from .c_types import INT, LONG, IntegerType, PointerType
from .counted_loops import mapped_statement
from .distances import iterations, trips
from .loop_steps import first_value, is_name, step_of
from .tree import (
    Assignment,
    Binary,
    Block,
    Cast,
    Conditional,
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
    all_expressions,
    all_statements,
    bare,
    walk,
)
from .variables import assigned_symbols, loop_symbol, loop_symbols, reads_before

Binding = Mapping[Symbol, Symbol]


@dataclass(frozen=True)
class Rotation:
    """A loop that rotates pointers: `copies` are the statements that set them.

    `bindings` are the arrays of the pointers in each iteration of a period. Behind a loop that
    `is_last`, no statement of its block uses the pointers.
    """

    loop: For
    copies: tuple[Statement, ...]
    pointers: tuple[Symbol, ...]
    bindings: tuple[Binding, ...]
    iteration: Expression
    trips: Conditional
    is_last: bool = True

    @property
    def targets(self) -> set[Symbol]:
        """All pointers that the loop sets."""
        return {pair[0] for each in self.copies if (pair := _copied(each)) is not None}


def without_rotations(block: Block) -> tuple[Block, list[Rotation]]:
    """A block with arrays that iterations choose, and the rotations of its outermost loops."""
    found: list[Rotation] = []
    statements = _rest(_flat(block.statements), found)
    if not found:
        return block, found
    used = {each.symbol for each in all_expressions(statements) if isinstance(each, Name)}
    left = {target for each in found for target in each.targets} - used
    kept = [each for each in statements if getattr(each, "symbol", None) not in left]
    return replace(block, statements=kept), found


def _rest(statements: Sequence[Statement], found: list[Rotation]) -> list[Statement]:
    for position, node in enumerate(statements):
        rotation = _rotation(node) if isinstance(node, For) else None
        if rotation is None:
            continue
        behind = statements[position + 1 :]
        temporaries = rotation.targets - set(rotation.pointers)
        if any(reads_before(each, behind, False)[0] for each in temporaries):
            continue
        used = {each.symbol for each in all_expressions(behind) if isinstance(each, Name)}
        is_last = not used & set(rotation.pointers)
        found.append(replace(rotation, is_last=is_last))
        rest = _rest(behind, found)
        chosen = rest if is_last else _behind(rotation, rest)
        return [*statements[:position], _chosen(rotation), *chosen]
    return list(statements)


def _flat(statements: Sequence[Statement]) -> list[Statement]:
    """Statements without braces around some of them, nor those of calls."""
    inner = (_flat(each.statements) if isinstance(each, Block) else [each] for each in statements)
    return [each for part in inner for each in part]


def _rotation(node: For) -> Rotation | None:
    """What a loop rotates; None for other loops."""
    symbol, statements = loop_symbol(node), _flat(node.body.statements)
    if symbol is None or not isinstance(symbol.type, IntegerType):
        return None
    copies = [each for each in statements if _copied(each) is not None]
    targets = {pair[0] for each in copies if (pair := _copied(each)) is not None}
    others = [each for each in statements if each not in copies]
    own = assigned_symbols(others, ()).keys() | loop_symbols([node])
    if (
        not targets
        or targets & own
        or any(isinstance(each, Refused) for each in all_statements(statements))
        or any(each.holder or each.is_volatile or each.has_address for each in targets)
    ):
        return None
    bound: dict[Symbol, Symbol] = {}
    for each in copies:
        _follow(each, bound)
    pointers = tuple(each for each in bound if reads_before(each, statements, False)[0])
    sources = {bound[each] for each in pointers}
    if sources != set(pointers) or len({each.type for each in pointers}) != 1:
        return None
    first = first_value([node.first], symbol)
    step = step_of([Evaluate(node.place, 0, 0, node.step)], symbol)
    test = bare(node.test)
    if first is None or not step or not isinstance(test, Binary):
        return None
    count = trips(first, test.operator, test.right, step)
    read = [*walk(first), *walk(test.right)]
    if not isinstance(count, Conditional) or not is_name(bare(test.left), symbol):
        return None
    if any(isinstance(each, Subscript | Assignment) for each in read) or any(
        isinstance(each, Name) and each.symbol in own for each in read
    ):
        return None
    variable = Name(node.place, symbol.type, symbol)
    iteration = iterations(first, variable, step)
    bindings = rotation_period(pointers, bound)
    if len(bindings) < 2:
        return None
    return Rotation(node, tuple(copies), pointers, bindings, iteration, count)


def _copied(node: Statement) -> tuple[Symbol, Symbol] | None:
    """The pointers of `p = q;` and `T *p = q;`."""
    target = value = None
    if isinstance(node, Declare):
        target, value = node.symbol, node.value
    elif isinstance(node, Evaluate) and isinstance(node.expression, Assignment):
        assignment = node.expression
        if isinstance(assignment.target, Name) and not assignment.operator:
            target, value = assignment.target.symbol, assignment.value
    while isinstance(value, Cast):
        value = value.operand
    if target is None or not isinstance(value, Name):
        return None
    one, other = target.type, value.symbol.type
    if not isinstance(one, PointerType) or not isinstance(other, PointerType):
        return None
    return (target, value.symbol) if one.target == other.target else None


def _follow(node: Statement, bound: dict[Symbol, Symbol]) -> None:
    """Notes what a copy makes of a pointer, in terms of the pointers before the iteration."""
    pair = _copied(node)
    assert pair is not None
    bound[pair[0]] = bound.get(pair[1], pair[1])


def _chosen(rotation: Rotation) -> For:
    """The loop with a copy of its body for each iteration of a period."""
    loop = rotation.loop
    bindings = rotation.bindings
    bodies = [_bound_body(rotation, each) for each in bindings]
    rest: list[Statement] = bodies[-1]
    for phase in range(len(bodies) - 2, -1, -1):
        test = _phase(_fresh(rotation.iteration), len(bodies), phase)
        rest = [
            If(
                loop.place,
                loop.start,
                loop.end,
                test,
                _block(loop, bodies[phase]),
                _block(loop, rest),
            )
        ]
    return replace(loop, body=replace(loop.body, statements=rest))


def _bound_body(rotation: Rotation, binding: Binding) -> list[Statement]:
    now: dict[Symbol, Symbol] = {each: each for each in rotation.pointers}
    statements: list[Statement] = []
    for each in _flat(rotation.loop.body.statements):
        if each in rotation.copies:
            _follow(each, now)
            continue
        meant = {one: binding.get(other, other) for one, other in now.items()}
        statements.append(_renamed(each, meant))
    return statements


def _behind(rotation: Rotation, behind: list[Statement]) -> list[Statement]:
    """The statements behind the loop, with the arrays that its number of iterations leads to."""
    loop, bindings = rotation.loop, rotation.bindings
    rest: list[Statement] = behind
    for phase, binding in enumerate(bindings[1:], 1):
        count = rotation.trips
        last = _phase(_fresh(count.one), len(bindings), phase)
        test = Binary(loop.place, INT, "&&", _fresh(count.test), last)
        one = [_renamed(each, binding) for each in behind]
        rest = [If(loop.place, loop.end, loop.end, test, _block(loop, one), _block(loop, rest))]
    return rest


def _phase(count: Expression, period: int, phase: int) -> Expression:
    place = count.place
    rest = Binary(place, LONG, "%", count, Literal(place, LONG, period))
    return Binary(place, INT, "==", rest, Literal(place, LONG, phase))


def _block(loop: For, statements: list[Statement]) -> Block:
    return Block(loop.place, loop.start, loop.end, statements)


def _fresh(node: Expression) -> Expression:
    """A copy with names of its own, which are told apart by identity."""
    evaluated = mapped_statement(Evaluate(node.place, 0, 0, node), _renaming({}))
    assert isinstance(evaluated, Evaluate)
    return evaluated.expression


def _renamed(node: Statement, meant: Binding) -> Statement:
    return mapped_statement(node, _renaming(meant))


def _renaming(meant: Binding) -> Callable[[Expression], Expression]:
    def renamed(each: Expression) -> Expression:
        if not isinstance(each, Name):
            return each
        return Name(each.place, each.type, meant.get(each.symbol, each.symbol))

    return renamed
