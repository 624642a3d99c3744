"""Induction-variable substitution for pointers: what moves by the same distance in each iteration.

for (i = 0; i < n; i++, p += m)               for (i = 0; i < n; i++)
  for (j = 0; j < m; j++) s += p[j];    ->      for (j = 0; j < m; j++) s += p[i * m + j];
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from ...dialects.errors import SourceError
from .c_types import LONG, ArrayType, CType, IntegerType, NumberType, PointerType
from .choices import same
from .declared_pointers import assignments, declared_values, is_fixed, names_in
from .distances import (
    Distance,
    distance_of,
    total,
    uses,
)
from .loop_steps import first_of, is_name, step_by
from .sums_over_loops import sums
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
    Piece,
    Statement,
    Subscript,
    Symbol,
    Unary,
    While,
    all_expressions,
    all_statements,
    bare,
    parts_of,
    walk,
    with_parts,
)
from .variables import assigned_symbols, loop_symbol, loop_symbols

_HINT = "write the array with a subscript, such as A[i * m + j]"
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class Position:
    """An element: so many elements behind the one that `base` points at."""

    base: Expression
    distance: Distance = ()


@dataclass(frozen=True)
class Lost:
    """Why the position of a pointer is not known."""

    reason: str


Positions = dict[Symbol, Position | Lost]


def without_moves(block: Block, function: Block, live: Set[Symbol]) -> Block:
    """Statements with subscripts in place of pointers that move; raises SourceError.

    `function` has the block; `live` are the variables that may be read behind it.
    """
    moved = moved_pointers(block.statements)
    if not moved:
        return block
    for symbol, place in moved.items():
        if symbol in live or symbol.is_volatile:
            raise SourceError(
                f"the pointer '{symbol.name}' moves, and may be used behind the region",
                place.place,
                "move a pointer of the region's own: T *p = A;",
            )
    for each in all_expressions(block.statements):
        if isinstance(each, Name) and (held := _pointers_to(each.symbol) & moved.keys()):
            raise SourceError(
                f"the pointer '{held.pop().name}' moves, and leads to a structure",
                each.place,
                "write the element of an array of structures: a[i].x",
            )
    changed = set(assigned_symbols(function.statements, ())) | loop_symbols(function.statements)
    values = declared_values(function, changed)
    fixed = {each: value for each, value in values.items() if each not in changed}
    starts = {
        each: value
        for each, value in values.items()
        if assignments(function.statements, each) == assignments(block.statements, each)
    }
    whole = {
        each
        for each in moved
        if assignments(function.statements, each) == assignments(block.statements, each)
    }
    inside = {each.symbol for each in all_statements(block.statements) if isinstance(each, Declare)}
    ends = {
        each: value
        for each, value in declared_values(function, changed - whole).items()
        if names_in((value,)) & whole and each not in {*changed, *inside}
    }
    return _Moves(block, set(moved), fixed, starts, ends).block(block)


def moved_pointers(statements: Sequence[Statement]) -> dict[Symbol, Piece]:
    """The pointers that statements assign."""
    found: dict[Symbol, Piece] = dict(assigned_symbols(statements, ()))
    for each in all_statements(statements):
        if isinstance(each, For) and (symbol := loop_symbol(each)) is not None:
            found.setdefault(symbol, each)
    return {each: place for each, place in found.items() if isinstance(each.type, PointerType)}


def _pointers_to(member: Symbol) -> set[Symbol]:
    """The pointers that lead to a member of a structure."""
    return {each for each in (member.holder, *member.through) if each is not None}


def _set_by_name(statements: Sequence[Statement]) -> set[Symbol]:
    """The variables that get a value other than that of their declaration."""
    assignments = (each for each in all_expressions(statements) if isinstance(each, Assignment))
    targets = {each.target.symbol for each in assignments if isinstance(each.target, Name)}
    return targets - loop_symbols(statements)


@dataclass
class _Moves:
    """Follows the pointers of a region from statement to statement.

    `fixed` are pointers that stay what they are, `starts` what moved ones are before the region,
    `ends` those that follow from moved ones there; `held` are those that are never assigned.
    """

    region: Block
    moved: Set[Symbol]
    fixed: dict[Symbol, Expression]
    starts: dict[Symbol, Expression]
    ends: dict[Symbol, Expression]
    held: Positions = field(default_factory=Positions)
    now: Positions = field(default_factory=Positions)
    around: list[Symbol] = field(default_factory=list[Symbol])

    def __post_init__(self) -> None:
        statements = self.region.statements
        pieces = list(all_statements(statements))
        heads = [each.first for each in pieces if isinstance(each, For)]
        declared = {each.symbol for each in (*pieces, *heads) if isinstance(each, Declare)}
        self._loops = loop_symbols(statements)
        self._assigned = _set_by_name(statements)
        for symbol in self.moved:
            self.now[symbol] = Lost("has no value here")
            if symbol not in declared:
                start = self.starts.get(symbol)
                whole = Position(Name(symbol.place, symbol.type, symbol))
                self.now[symbol] = whole if start is None else self._position(start)
        for symbol, value in self.ends.items():
            if not names_in((value,)) & self.moved & declared:
                self.held[symbol] = self._kept(self._position(value))

    # Statements

    def block(self, block: Block) -> Block:
        """The statements of a block, one after the other."""
        statements = [new for each in block.statements for new in self._statement(each)]
        return Block(block.place, block.start, block.end, statements, block.is_inlined)

    def _statement(self, node: Statement) -> list[Statement]:
        if isinstance(node, Block):
            return [self.block(node)]
        if isinstance(node, For):
            return [self._loop(node)]
        if isinstance(node, If):
            return [self._branch(node)]
        if isinstance(node, While):
            return [self._while(node)]
        if isinstance(node, Declare):
            return self._declare(node)
        if isinstance(node, Evaluate):
            return self._evaluate(node)
        return [node]

    def _declare(self, node: Declare) -> list[Statement]:
        if node.value is None:
            return [] if node.symbol in self.moved else [node]
        if node.symbol in self.moved:
            self.now[node.symbol] = self._kept(self._position(node.value))
            return []
        value = self._read(node.value)
        moves = any(isinstance(each, Assignment) for each in walk(node.value))
        if isinstance(node.symbol.type, PointerType) and self._mentions(node.value) and not moves:
            self.held[node.symbol] = self._kept(self._position(node.value))
        return [Declare(node.place, node.start, node.end, node.symbol, value, node.refused)]

    def _evaluate(self, node: Evaluate) -> list[Statement]:
        expression = node.expression
        if isinstance(expression, Assignment) and self._is_moved(expression.target):
            self._position(expression)
            return []
        return [Evaluate(node.place, node.start, node.end, self._read(expression))]

    def _branch(self, node: If) -> If:
        test = self._read(node.test)
        before = dict(self.now)
        one = self.block(node.one)
        first, self.now = self.now, before
        other = self.block(node.other)
        for symbol in self.moved:
            if not _agree(first[symbol], self.now[symbol]):
                self.now[symbol] = Lost("moves under a condition only")
        return If(node.place, node.start, node.end, test, one, other)

    # Loops

    def _while(self, node: While) -> While:
        moved = moved_pointers([Evaluate(node.place, 0, 0, node.test), *node.body.statements])
        lost = dict.fromkeys(moved, Lost("moves in a 'while' loop"))
        self.now |= lost
        test, body = self._read(node.test), self.block(node.body)
        self.now |= lost
        return While(node.place, node.start, node.end, test, body)

    def _loop(self, node: For) -> For:
        pointer = loop_symbol(node)
        if pointer is not None and pointer in self.moved:
            node = self._counted(node, pointer)
        symbol = loop_symbol(node)
        first = self._statement(node.first)
        node = For(node.place, node.start, node.end, first[0], node.test, node.step, node.body)
        before = dict(self.now)
        if symbol is not None:
            self.around.append(symbol)
        moved = moved_pointers([*node.body.statements, Evaluate(node.place, 0, 0, node.step)])
        markers = {each: Name(node.place, each.type, _marker(each)) for each in moved}
        self.now |= {each: Position(marker) for each, marker in markers.items()}
        self.block(node.body)
        self._read(node.step)
        inside: Positions = {}
        behind: Positions = {}
        for each, marker in markers.items():
            inside[each], behind[each] = self._over(node, before[each], self.now[each], marker)
        self.now = before | inside
        test, body = self._read(node.test), self.block(node.body)
        self.now = before | behind
        if symbol is not None:
            self.around.pop()
        if pointer is not None and pointer in self.moved:
            self.now[pointer] = Lost("is read behind its loop")
        return For(node.place, node.start, node.end, node.first, test, node.step, body)

    def _over(
        self, node: For, start: Position | Lost, end: Position | Lost, marker: Name
    ) -> tuple[Position | Lost, Position | Lost]:
        """Where a pointer is at the beginning of an iteration, and behind the loop.

        `start` is where it is before the loop, `end` behind an iteration that begins at a marker.
        """
        if isinstance(end, Lost):
            return end, end
        if end.base is not marker:
            elsewhere = Lost("points elsewhere after each iteration")
            return elsewhere, elsewhere
        if isinstance(start, Lost) or not end.distance:
            return start, start
        moved = sums(node, end.distance, self._read)
        if isinstance(moved, str):
            return Lost(moved), Lost(moved)
        inside = Position(start.base, start.distance + moved.before)
        if moved.behind is None:
            return inside, Lost("moves in a loop whose number of iterations is not known")
        return inside, Position(start.base, start.distance + moved.behind)

    def _counted(self, node: For, symbol: Symbol) -> For:
        """`for (p = a; p < a + n; p++)` -> `for (k = 0; k < n; k++)`; raises SourceError."""
        value, test, step = first_of(node), bare(node.test), step_by(node.step, symbol)
        again = symbol in moved_pointers(node.body.statements)
        if value is None or not isinstance(test, Binary) or not step or again:
            raise self._error(symbol, node.first, "does not count the iterations of its loop")
        start, end = self._position(value), self._position(test.right)
        changed = assigned_symbols(node.body.statements, ()).keys()
        if names_in((test.right,)) & changed or not all(map(is_fixed, end.distance)):
            raise self._error(symbol, test, "is compared with an end that may change")
        if not is_name(test.left, symbol) or not same(end.base, start.base):
            raise SourceError(
                f"the loop compares the pointer '{symbol.name}' with one into another array",
                test.place,
                f"write the end with the array that it begins in: {symbol.name} < A + n",
            )
        counter = Symbol(symbol.name, LONG, symbol.place, symbol.offset)
        name = Name(node.place, LONG, counter)
        before, beyond = start.distance, end.distance
        count = len(before)
        if count <= len(beyond) and all(map(same, before, beyond)):  # the distance from the start
            before, beyond = (), beyond[count:]
            self.now[symbol] = Position(start.base, (*start.distance, name))
        else:
            self.now[symbol] = Position(start.base, (name,))
        first = Declare(node.place, node.start, node.start, counter, total(before, name))
        bound = Binary(test.place, test.type, test.operator, name, total(beyond, name))
        amount = Literal(node.step.place, LONG, step)
        advance = Assignment(node.step.place, LONG, "+", name, amount, LONG)
        return For(node.place, node.start, node.end, first, bound, advance, node.body)

    # Expressions

    def _is_moved(self, node: Expression) -> bool:
        return isinstance(node, Name) and node.symbol in self.moved

    def _position(self, node: Expression) -> Position:
        """What a pointer points at; moves the pointers that the expression moves."""
        if isinstance(node, Name) and node.symbol in self.moved:
            return self._known(node)
        held = self.held.get(node.symbol) if isinstance(node, Name) else None
        if isinstance(held, Position):
            return held
        if isinstance(node, Name) and node.symbol in self.fixed:
            return self._position(self.fixed[node.symbol])
        if isinstance(node, Cast) and node.type == node.operand.type:
            return self._position(node.operand)
        if isinstance(node, Assignment) and isinstance(node.target, Name):
            return self._assigned_position(node, node.target)
        if isinstance(node, Binary) and node.operator in ("+", "-"):
            left, right = node.left, node.right
            if isinstance(left.type, IntegerType) and node.operator == "+":
                left, right = right, left
            inner = self._position(left)
            return Position(
                inner.base, inner.distance + distance_of(self._read(right), node.operator)
            )
        if isinstance(node, Unary) and node.operator == "&" and isinstance(node.operand, Subscript):
            inner = self._position(node.operand.base)
            return Position(
                inner.base, inner.distance + distance_of(self._read(node.operand.index))
            )
        return Position(self._with_parts(node))

    def _assigned_position(self, node: Assignment, target: Name) -> Position:
        if not node.operator:
            found = self._kept(self._position(node.value))
            self.now[target.symbol] = found
            return self._known(target)
        before = self._known(target)
        distance = distance_of(self._read(node.value), node.operator)
        self.now[target.symbol] = self._kept(Position(before.base, before.distance + distance))
        return before if node.is_postfix else self._known(target)

    def _known(self, node: Name) -> Position:
        found = self.now[node.symbol]
        if isinstance(found, Lost):
            raise self._error(node.symbol, node, found.reason)
        return found

    def _error(self, symbol: Symbol, node: Piece, reason: str) -> SourceError:
        return SourceError(f"the pointer '{symbol.name}' {reason}", node.place, _HINT)

    def _kept(self, position: Position) -> Position | Lost:
        """A position that stays what it is, whatever is assigned later."""
        parts = [*walk(position.base), *uses(position.distance)]
        own = {each.symbol for each in parts if isinstance(each, Name)} - self.moved
        if not all(is_fixed(each) for each in (position.base, *position.distance)):
            return Lost("moves by a distance that is read from memory")
        if own & self._assigned or own & self._loops - set(self.around):
            return Lost("moves by a distance that the region assigns")
        return position

    def _read(self, node: Expression) -> Expression:
        """The expression with subscripts in place of pointers that move."""
        if isinstance(node, Subscript):
            if isinstance(node.base.type, PointerType) and self._mentions(node.base):
                found = self._position(node.base)
                if not _has_elements(found.base.type, node.type):
                    raise SourceError(
                        "a pointer of another type leads to these elements", node.place, _HINT
                    )
                index = total(found.distance + distance_of(self._read(node.index)), node)
                return Subscript(node.place, node.type, found.base, index)
        elif isinstance(node.type, PointerType) and self._mentions(node):
            found = self._position(node)
            return _pointer(found, node) if found.distance else found.base
        if isinstance(node, Binary) and (self._mentions(node) or _are_pointers(node)):
            if node.operator in (*_COMPARISONS, "-") and _are_pointers(node):
                left, right = self._position(node.left), self._position(node.right)
                if same(left.base, right.base):
                    one, other = (total(each.distance, node) for each in (left, right))
                    return Binary(node.place, node.type, node.operator, one, other)
            if node.operator in ("&&", "||"):
                self._check_unmoved(node.right)
        if isinstance(node, Conditional):
            self._check_unmoved(node.one)
            self._check_unmoved(node.other)
        return self._with_parts(node)

    def _with_parts(self, node: Expression) -> Expression:
        parts = parts_of(node)
        new = tuple(map(self._read, parts))
        return node if all(map(_is, parts, new)) else with_parts(node, new)

    def _mentions(self, node: Expression) -> bool:
        return any(map(self._is_moved, walk(node)))

    def _check_unmoved(self, node: Expression) -> None:
        for each in walk(node):
            if isinstance(each, Assignment) and self._is_moved(each.target):
                assert isinstance(each.target, Name)
                raise self._error(each.target.symbol, each, "moves under a condition only")


def _has_elements(base: CType, kind: CType) -> bool:
    """Whether elements in memory are numbers of this width and kind, or not numbers."""
    own = base
    if isinstance(base, PointerType):
        own = base.target
    elif isinstance(base, ArrayType):
        own = base.element
    if isinstance(kind, NumberType) and isinstance(own, NumberType):
        return own.mlir == kind.mlir
    return True


def _marker(symbol: Symbol) -> Symbol:
    """A place that nothing else has."""
    return Symbol(symbol.name, symbol.type, symbol.place, symbol.offset)


def _pointer(position: Position, node: Expression) -> Binary:
    return Binary(node.place, node.type, "+", position.base, total(position.distance, node))


def _is(one: object, other: object) -> bool:
    return one is other


def _are_pointers(node: Binary) -> bool:
    return all(isinstance(each.type, PointerType) for each in (node.left, node.right))


def _agree(one: Position | Lost, other: Position | Lost) -> bool:
    if isinstance(one, Lost) or isinstance(other, Lost):
        return isinstance(one, Lost) and isinstance(other, Lost)
    return same(one.base, other.base) and same(one.distance, other.distance)
