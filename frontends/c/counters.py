"""Induction-variable substitution for integers: what grows by the same amount in each iteration.

k = 0;                                      for (i = 0; i < n; i++)
for (i = 0; i < n; i++)                       for (j = 0; j < m; j++) p[i * m + j] = A[i][j];
  for (j = 0; j < m; j++) p[k++] = A[i][j];   ->
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from .c_types import LONG, CType, IntegerType
from .choices import same
from .declared_pointers import assignments, is_fixed, names_in
from .distances import Distance, distance_of, total, uses
from .loop_steps import added
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
    Name,
    Statement,
    Subscript,
    Symbol,
    While,
    all_expressions,
    all_statements,
    bare,
    parts_of,
    widened,
    with_parts,
)
from .variables import assigned_symbols, loop_symbol, loop_symbols

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_ARITHMETIC = ("+", "-", "*", "/", "%")


class _Unknown(Exception):
    """A variable whose value is not known where it is read."""

    def __init__(self, symbol: Symbol) -> None:
        super().__init__(symbol.name)
        self.symbol = symbol


def without_counters(
    block: Block,
    function: Block,
    is_lasting: Callable[[Symbol], bool],
    is_repeated: Callable[[Symbol], bool],
) -> Block:
    """Statements that compute the values of counters from those of loops.

    `function` has the block; `is_lasting` tells which values may be read behind it, `is_repeated`
    those that it may begin with another time. Variables that count under conditions, or by what is
    in memory, stay variables.
    """
    counted = _candidates(block)
    repeated = {each for each in counted if is_repeated(each)}
    lasting = {each for each in counted if each in repeated or is_lasting(each)}
    while counted:
        try:
            return _Counters(block, function, counted, lasting, repeated).region()
        except _Unknown as unknown:
            counted = counted - {unknown.symbol}
    return block


def _candidates(block: Block) -> set[Symbol]:
    """The variables whose values follow from values that they had, and from no memory."""
    loops = loop_symbols(block.statements)
    found: dict[Symbol, bool] = {}
    sources: dict[Symbol, set[Symbol]] = {}
    for each in all_expressions(block.statements):
        if isinstance(each, Assignment) and isinstance(each.target, Name):
            symbol = each.target.symbol
            amount = added(each, symbol)
            is_plain = is_fixed(each.value) and (amount is not None or not each.operator)
            found[symbol] = found.get(symbol, True) and is_plain
            sources.setdefault(symbol, set()).update(names_in((each.value,)))
            if amount is not None:
                sources[symbol].add(symbol)
    return {
        each
        for each, is_plain in found.items()
        if is_plain and each not in loops and _may_count(each) and _follows_itself(each, sources)
    }


def _follows_itself(symbol: Symbol, sources: Mapping[Symbol, Set[Symbol]]) -> bool:
    """Whether a variable is computed from what it was, by others or at once."""
    seen: set[Symbol] = set()
    pending = set(sources[symbol])
    while pending:
        each = pending.pop()
        if each not in seen:
            seen.add(each)
            pending |= sources.get(each, set())
    return symbol in seen


def _may_count(symbol: Symbol) -> bool:
    """Whether nobody else changes a variable, and 64 bits hold all that it may be."""
    kind = symbol.type
    is_whole = isinstance(kind, IntegerType) and (kind.signed or kind.width == 64)
    return is_whole and not (symbol.is_volatile or symbol.is_global or symbol.has_address)


@dataclass
class _Counters:
    """Follows `counted` variables from statement to statement.

    `now` is what each of them is, as a sum; None where that is not known.
    """

    block: Block
    function: Block
    counted: Set[Symbol]
    lasting: Set[Symbol]
    repeated: Set[Symbol]
    now: dict[Symbol, Distance | None] = field(default_factory=dict[Symbol, "Distance | None"])
    around: list[Symbol] = field(default_factory=list[Symbol])

    def __post_init__(self) -> None:
        statements = self.block.statements
        self._loops = loop_symbols(statements)
        self._assigned = assigned_symbols(statements, ()).keys() - self.counted
        self.now = {each: self._start(each) for each in self.counted}

    def _start(self, symbol: Symbol) -> Distance | None:
        """What a variable is before the region; where it is read behind it, no variable itself."""
        inside, whole = self.block.statements, self.function.statements
        declarations = (each for each in all_statements(whole) if isinstance(each, Declare))
        declared = [each for each in declarations if each.symbol is symbol]
        if any(each in declared for each in all_statements(inside)):
            return None
        is_here = assignments(inside, symbol) == assignments(whole, symbol)
        if is_here and symbol not in self.repeated:
            changed = {*assigned_symbols(whole, ()), *loop_symbols(whole)}
            for each in declared:
                if each.value is not None and _is_lasting(each.value, changed):
                    return distance_of(each.value)
        if symbol in self.lasting:
            return None
        return distance_of(Name(symbol.place, symbol.type, symbol))

    def region(self) -> Block:
        """The statements of the region; what is read behind it gets its last value there."""
        block = self._block(self.block)
        for symbol in self.counted & self.lasting:
            name = Name(self.block.place, symbol.type, symbol)
            value = _converted(self._value(name), symbol.type)
            last = Assignment(name.place, symbol.type, "", name, value, symbol.type)
            block.statements.append(Evaluate(name.place, block.end, block.end, last))
        return block

    # Statements

    def _block(self, block: Block) -> Block:
        statements = [new for each in block.statements for new in self._statement(each)]
        return Block(block.place, block.start, block.end, statements, block.is_inlined)

    def _statement(self, node: Statement) -> list[Statement]:
        if isinstance(node, Block):
            return [self._block(node)]
        if isinstance(node, For):
            return [self._loop(node)]
        if isinstance(node, If):
            return [self._branch(node)]
        if isinstance(node, Declare):
            return self._declare(node)
        if isinstance(node, Evaluate):
            if self._is_counted(node.expression):
                self._assign(node.expression)
                return []
            return [Evaluate(node.place, node.start, node.end, self._read(node.expression))]
        if isinstance(node, While):
            self._refuse_changes([Evaluate(node.place, 0, 0, node.test), *node.body.statements])
            test, body = self._read(node.test), self._block(node.body)
            return [While(node.place, node.start, node.end, test, body)]
        for each in all_expressions([node]):
            if isinstance(each, Name) and each.symbol in self.counted:
                raise _Unknown(each.symbol)
        return [node]

    def _declare(self, node: Declare) -> list[Statement]:
        if node.symbol in self.counted:
            value = None if node.value is None else _terms(self._read(node.value))
            self.now[node.symbol] = None if value is None else self._kept(value, node.symbol)
            return []
        value = None if node.value is None else self._read(node.value)
        return [Declare(node.place, node.start, node.end, node.symbol, value, node.refused)]

    def _branch(self, node: If) -> If:
        test = self._read(node.test)
        before = dict(self.now)
        one = self._block(node.one)
        first, self.now = self.now, before
        other = self._block(node.other)
        self.now = {
            each: found if same(found, self.now[each]) else None for each, found in first.items()
        }
        return If(node.place, node.start, node.end, test, one, other)

    def _refuse_changes(self, statements: Sequence[Statement]) -> None:
        """Variables that change where it may not come to that are none that count."""
        for symbol in assigned_symbols(statements, ()):
            if symbol in self.counted:
                raise _Unknown(symbol)

    # Loops

    def _loop(self, node: For) -> For:
        symbol = loop_symbol(node)
        (first,) = self._statement(node.first)
        node = For(node.place, node.start, node.end, first, node.test, node.step, node.body)
        before = dict(self.now)
        if symbol is not None:
            self.around.append(symbol)
        inner = [*node.body.statements, Evaluate(node.place, 0, 0, node.step)]
        changed = [each for each in assigned_symbols(inner, ()) if each in self.counted]
        markers = {each: Name(node.place, each.type, each) for each in changed}
        self.now |= {each: (marker,) for each, marker in markers.items()}
        self._block(node.body)
        self._read(node.step)
        inside: dict[Symbol, Distance | None] = {}
        behind: dict[Symbol, Distance | None] = {}
        for each, marker in markers.items():
            inside[each], behind[each] = self._over(node, before[each], self.now[each], marker)
        self.now = before | inside
        test, body, step = self._read(node.test), self._block(node.body), self._read(node.step)
        self.now = before | behind
        if symbol is not None:
            self.around.pop()
        return For(node.place, node.start, node.end, node.first, test, step, body)

    def _over(
        self, node: For, start: Distance | None, end: Distance | None, marker: Name
    ) -> tuple[Distance | None, Distance | None]:
        """What a variable is at the beginning of an iteration, and behind the loop.

        `start` is what it is before the loop, `end` behind an iteration that begins at a marker.
        """
        if not end or bare(end[0]) is not marker:
            return None, None
        if start is None or not end[1:]:
            return start, start
        moved = sums(node, end[1:], self._read)
        if isinstance(moved, str):
            return None, None
        behind = None if moved.behind is None else start + moved.behind
        return start + moved.before, behind

    # Expressions

    def _is_counted(self, node: Expression) -> bool:
        return (
            isinstance(node, Assignment)
            and isinstance(node.target, Name)
            and node.target.symbol in self.counted
        )

    def _assign(self, node: Expression) -> Expression:
        """Changes a variable; the value of the assignment."""
        assert isinstance(node, Assignment) and isinstance(node.target, Name)
        symbol = node.target.symbol
        amount = added(node, symbol)
        if amount is None:
            self.now[symbol] = self._kept(_terms(self._read(node.value)), symbol)
            return self._value(node.target)
        sign, value = amount
        before = self._value(node.target) if node.is_postfix else None
        known = self._known(node.target)
        grown = distance_of(self._read(value), "+" if sign > 0 else "-")
        self.now[symbol] = (*known, *self._kept(grown, symbol))
        return self._value(node.target) if before is None else before

    def _known(self, node: Name) -> Distance:
        found = self.now[node.symbol]
        if found is None:
            raise _Unknown(node.symbol)
        return found

    def _value(self, node: Name) -> Expression:
        """What a variable is, of type `long`."""
        return total(self._known(node), node)

    def _kept(self, distance: Distance, symbol: Symbol) -> Distance:
        """A sum that stays what it is, whatever is assigned later; raises _Unknown."""
        own = {each.symbol for each in uses(distance) if isinstance(each, Name)} - self.counted
        is_kept = all(map(is_fixed, distance)) and not own & self._assigned
        if not is_kept or own & self._loops - set(self.around):
            raise _Unknown(symbol)
        return distance

    def _read(self, node: Expression) -> Expression:
        """The expression with the values of counted variables in their place."""
        if isinstance(node, Name) and node.symbol in self.counted:
            return self._value(node)
        if self._is_counted(node):
            return self._assign(node)
        if isinstance(node, Conditional) or (
            isinstance(node, Binary) and node.operator in ("&&", "||")
        ):
            for each in parts_of(node)[1:]:
                self._refuse_changes([Evaluate(node.place, 0, 0, each)])
        parts = parts_of(node)
        new = tuple(map(self._read, parts))
        unchanged = all(one is other for one, other in zip(parts, new, strict=True))
        return node if unchanged else _with_wide_parts(node, new)


def _is_lasting(value: Expression, changed: Set[Symbol]) -> bool:
    """Whether a value is the same everywhere, where some variables change."""
    names = names_in((value,))
    return is_fixed(value) and not any(
        each in changed or each.is_global or each.has_address for each in names
    )


def _terms(node: Expression, sign: str = "+") -> Distance:
    """An integer as a sum."""
    inner = bare(node)
    if isinstance(inner, Binary) and inner.operator in ("+", "-") and inner.type == LONG:
        opposite = "-" if (sign == "+") == (inner.operator == "-") else "+"
        return (*_terms(inner.left, sign), *_terms(inner.right, opposite))
    return distance_of(node, sign)


def _with_wide_parts(node: Expression, parts: Sequence[Expression]) -> Expression:
    """The expression with operands that may be of type `long` now: no `int` overflows."""
    if isinstance(node, Subscript):
        return with_parts(node, parts)
    if isinstance(node, Cast):
        return _converted(parts[0], node.type) if not node.explicit else with_parts(node, parts)
    if isinstance(node, Binary) and all(map(_is_signed, parts_of(node))):
        if node.operator in _COMPARISONS:
            return with_parts(node, [widened(each) for each in parts])
        if node.operator in _ARITHMETIC:
            left, right = map(widened, parts)
            return Binary(node.place, LONG, node.operator, left, right)
    kinds = [each.type for each in parts_of(node)]
    return with_parts(node, list(map(_converted, parts, kinds)))


def _converted(node: Expression, kind: CType) -> Expression:
    return node if node.type == kind else Cast(node.place, kind, node, explicit=False)


def _is_signed(node: Expression) -> bool:
    return isinstance(node.type, IntegerType) and node.type.signed
