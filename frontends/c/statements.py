"""Statements of C as operations of affine, memref and arith."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from ...dialects.errors import SourceError
from ..text.affine import Affine, Index, bound_text, set_text
from ..text.conditions import (
    Condition,
    Fixed,
    Junction,
    is_affine,
    junction,
    negation,
    tests_data,
)
from ..text.emitter import Block as TextBlock
from ..text.emitter import Emitter
from .alternatives import possible, relations_of
from .c_types import BOOL, ComplexType, IntegerType, NumberType, OtherType, PointerType
from .expressions import Expressions
from .local_arrays import LocalArrays
from .loops import Bounds, Loops
from .names import Names
from .numbers import number_type
from .opaque import Opaque
from .tree import (
    Assignment,
    Block,
    Call,
    Cast,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Name,
    Piece,
    Refused,
    Statement,
    Subscript,
    Symbol,
    Unsupported,
    While,
)
from .values import Constant, Linear, Scalar, Value
from .variables import Variable

Branch: TypeAlias = Callable[[], None]
"""Emits statements."""

_MOST_COPIES = 16
"""How often a branch is printed for the parts of conditions; more are computed as data."""


class Statements:
    """Emits statements."""

    def __init__(self, expressions: Expressions, names: Names) -> None:
        self.expressions = expressions
        self.emitter: Emitter[Piece] = expressions.emitter
        self.names = names
        self.loops = Loops(expressions)
        self.opaque = Opaque(expressions, self.loops)
        self.arrays = LocalArrays(expressions, names)
        self._blocks: dict[Block, tuple[TextBlock[Piece], int]] = {}
        self._cells: dict[Block, list[Variable]] = {}
        self._taken: list[tuple[TextBlock[Piece], list[str]]] = []
        self._guards: list[str] = []
        self._copies = 1

    def region(self, block: Block) -> None:
        """Emits the statements of a region; raises SourceError."""
        self.block(block)
        self.arrays.release(block)

    def block(self, block: Block) -> None:
        """Emits the statements of a block into the emitter's innermost one."""
        innermost = self.emitter.blocks[-1]
        self._blocks[block] = innermost, len(self._guards)
        is_first = not self._taken or self._taken[-1][0] is not innermost
        if is_first:
            self._taken.append((innermost, []))
        for statement in block.statements:
            self.statement(statement)
        for variable in self._cells.pop(block, ()):  # the branch may be printed again
            self._taken[-1][1].append(variable.cell)
            variable.cell = ""
        if is_first:
            for name in self._taken.pop()[1]:
                self.names.release(name)

    def statement(self, node: Statement) -> None:
        """Emits one statement; raises SourceError."""
        if isinstance(node, Refused):
            raise SourceError(node.reason, node.place, node.hint)
        if isinstance(node, For):
            self._loop(node)
        elif isinstance(node, While):
            self._while(node)
        elif isinstance(node, If):
            one = partial(self.block, node.one)
            other = partial(self.block, node.other) if node.other.statements else None
            self._branch(self.expressions.conditions.condition(node.test), one, other, node)
        elif isinstance(node, Block):
            self.block(node)
        elif isinstance(node, Declare):
            self._declare(node)
        else:
            self._evaluate(node)

    # Loops

    def _loop(self, node: For) -> None:
        symbol = self.loops.variable(node)
        if symbol in self.expressions.variables.assigned:
            place = self.expressions.variables.assigned[symbol].place
            raise SourceError(
                f"the loop variable '{symbol.name}' is assigned outside of the head of its loop",
                place,
                "use another variable",
            )
        if symbol in self.expressions.names and symbol not in self.expressions.left_loops:
            raise SourceError(
                f"'{symbol.name}' is the variable of an outer loop", node.first.place, "rename it"
            )
        name = self.names.take(symbol.name)
        if self.opaque.has_data_bounds(node, symbol):
            self._data_loop(node, symbol, name)
            return
        bounds = self.loops.bounds(node, name)
        kind = symbol.type
        assert isinstance(kind, IntegerType)
        self.expressions.names[symbol] = Linear(Index((bounds.value,)), kind)
        self.expressions.left_loops.discard(symbol)
        with (
            self.expressions.domain.inside(_within(bounds, name)),
            self.emitter.block() as block,
        ):
            block.names.add(name)
            self.block(node.body)
        del self.expressions.names[symbol]
        self.expressions.left_loops.add(symbol)
        self.names.release(name)
        step = f" step {bounds.step}" if bounds.step != 1 else ""
        lower, upper = bound_text(bounds.lower, "max"), bound_text(bounds.upper, "min")
        self.emitter.nest(f"affine.for %{name} = {lower} to {upper}{step}", block, node)

    def _data_loop(self, node: For, symbol: Symbol, name: str) -> None:
        kind = symbol.type
        assert isinstance(kind, IntegerType)
        head = self.opaque.head(node, symbol, name)
        self.expressions.left_loops.discard(symbol)
        with self.emitter.block() as block:
            block.names.add(name)
            text = f"arith.index_cast {head.index(self.emitter, node)} : index to {kind.mlir}"
            number = self.emitter.operation(text, node)
            self.expressions.names[symbol] = Scalar(number, kind)
            self.block(node.body)
        del self.expressions.names[symbol]
        self.expressions.left_loops.add(symbol)
        self.names.release(name)
        self.emitter.nest(head.line, block, node)

    def _while(self, node: While) -> None:
        with self.expressions.guards.in_opaque():
            condition = self.expressions.conditions.condition(node.test)
            with self.emitter.block() as before:
                if isinstance(condition, Fixed):
                    truth = self.emitter.constant(str(condition.value).lower(), "i1")
                elif is_affine(condition) or not tests_data(condition):
                    truth = self._mixed(condition, node)
                else:
                    truth = self.expressions.conditions.truth(condition, node.test)
                self.emitter.line(f"scf.condition({truth})", node)
            with self.emitter.block() as after:
                self.block(node.body)
                self.emitter.line("scf.yield", node)
        self.emitter.nests("scf.while () : () -> ()", before, "} do {", after, node)

    # Conditions

    def _branch(self, condition: Condition, one: Branch, other: Branch | None, node: If) -> None:
        if isinstance(condition, Fixed):
            chosen = one if condition.value else other
            if chosen is not None:
                chosen()
        elif tests_data(condition) and is_affine(condition) and self._copies < _MOST_COPIES:
            self._short_circuit(condition, one, other, node)
        elif tests_data(condition):
            self._predicated(condition, one, other, node)
        else:
            self._affine_branch(condition, one, other, node)

    def _short_circuit(
        self, condition: Condition, one: Branch, other: Branch | None, node: If
    ) -> None:
        """A condition on both data and loop variables: affine parts first.

        They guard the accesses of the other parts, and those of the branches.

        if (i > 0 && A[i - 1] > 0) ...   ->   if (i > 0) if (A[i - 1] > 0) ...
        """
        assert isinstance(condition, Junction)
        parts = sorted(condition.parts, key=tests_data)
        head, rest = parts[0], junction(condition.conjunction, parts[1:])
        inner = partial(self._branch, rest, one, other, node)
        branches = (inner, other) if condition.conjunction else (one, inner)
        is_printed_again = other is not None if condition.conjunction else True
        self._copies <<= is_printed_again
        self._branch(head, *branches, node)
        self._copies >>= is_printed_again

    def _affine_branch(
        self, condition: Condition, one: Branch, other: Branch | None, node: If
    ) -> None:
        domain = self.expressions.domain
        found, inverse = possible(condition, domain), possible(negation(condition), domain) or []
        if found is None:
            raise SourceError("the condition has too many alternatives", node.test.place)
        if not found:
            if other is not None:
                other()
            return
        if len(found) > 1 and len(inverse) == 1:
            one, other = other or _nothing, one
            found, inverse = inverse, found
        with domain.inside(relations_of(found[0])), self.emitter.block() as first:
            one()
        opposite = relations_of(inverse[0]) if len(inverse) == 1 else []
        with domain.inside(opposite), self.emitter.block() as second:
            if len(found) > 1:
                rest = junction(False, [junction(True, each) for each in found[1:]])
                self._affine_branch(rest, one, other, node)
            elif other is not None:
                other()
        constraints = set_text([(each.expression, each.equation) for each in found[0]])
        if not second.lines:
            self.emitter.nest(f"affine.if {constraints}", first, node)
            return
        self.emitter.nests(f"affine.if {constraints}", first, "} else {", second, node)

    def _predicated(
        self, condition: Condition, one: Branch, other: Branch | None, node: If
    ) -> None:
        """If-conversion: what depends on data is always stored, the old value where it is false."""
        conditions = self.expressions.conditions
        truth = (
            self._mixed(condition, node)
            if is_affine(condition)
            else conditions.truth(condition, node.test)
        )
        if self.expressions.guards.in_branches or self.opaque.is_needed(
            [*node.one.statements, *node.other.statements]
        ):
            self._kept_branch(truth, one, other, node)
            return
        for branch, negated in ((one, False), (other, True)):
            if branch is None:
                continue
            guard = conditions.inverse(truth, node.test) if negated else truth
            if self._guards:
                text = f"arith.andi {self._guards[-1]}, {guard} : i1"
                guard = self.emitter.operation(text, node)
            self._guards.append(guard)
            with self.expressions.guards.under(truth, not negated):
                branch()
            self._guards.pop()

    def _kept_branch(self, truth: str, one: Branch, other: Branch | None, node: If) -> None:
        """What must not run where the condition does not hold stays in a branch."""
        with self.emitter.block() as first:
            one()
        with self.emitter.block() as second:
            if other is not None:
                other()
        if not second.lines and not second.allocations:
            self.emitter.nest(f"scf.if {truth}", first, node)
            return
        self.emitter.nests(f"scf.if {truth}", first, "} else {", second, node)

    def _mixed(self, condition: Condition, node: If | While) -> str:
        """The truth value of a condition on both data and loop variables."""
        value = self.expressions.choices.choose(
            condition, lambda: Constant(1, BOOL), lambda: Constant(0, BOOL), BOOL, node.test
        )
        return self.expressions.arithmetic.scalar(value, node).name

    # Assignments

    def _evaluate(self, node: Evaluate) -> None:
        expression = node.expression
        if isinstance(expression, Assignment):
            self.assign(expression)
            return
        if _is_discarded(expression):
            return
        if isinstance(expression, Unsupported):
            raise SourceError(expression.reason, expression.place, expression.hint)
        if isinstance(expression, Call):
            self.expressions.value(expression)  # says what is not known about it
        raise SourceError("this statement has no effect", node.place, "assign the value")

    def assign(self, node: Assignment) -> Value:
        """Emits an assignment; returns its value."""
        target = node.target
        if isinstance(target, Unsupported):
            raise SourceError(target.reason, target.place, target.hint)
        kind = number_type(target)
        if node.operator:
            computed = number_type_of(node)
            before = self.expressions.value(target)
            if not isinstance(computed, ComplexType):  # whose other operand may be a real number
                before = self.expressions.arithmetic.convert(before, computed, target)
            value = self.expressions.arithmetic.binary(
                node.operator, before, self._value(node.value), computed, node
            )
        else:
            before = value = self._value(node.value)
        value = self.expressions.arithmetic.convert(value, kind, node)
        result = value
        if node.is_postfix:
            result = self.expressions.arithmetic.convert(before, kind, node)
        if isinstance(target, Subscript):
            place = self.expressions.scattered(target)
            if place is not None:
                stored = self.expressions.arithmetic.scalar(value, node)
                if self._guards:
                    # A subscript such as `i * i % m`: element 0 where the condition does not hold.
                    old = Scalar(self.emitter.operation(f"memref.load {place}", node), kind)
                    stored = self.expressions.arithmetic.select(
                        self._guards[-1], stored, old, kind, node
                    )
                self.emitter.line(f"memref.store {stored.name}, {place}", node)
                return result
            array, subscripts = self.expressions.access(target)
            self._store(array.name, subscripts, array.elements.mlir, value, node)
        elif isinstance(target, Name):
            self._set(target, value, kind, node)
        else:
            raise SourceError("this cannot be assigned to", target.place, "write A[i] or a name")
        return result

    def _value(self, node: Expression) -> Value:
        """The value of the right side of an assignment, which may be another one."""
        if isinstance(node, Assignment):
            return self.assign(node)
        if isinstance(node, Cast) and not isinstance(node.type, PointerType):
            value = self._value(node.operand)
            return self.expressions.arithmetic.convert(value, number_type(node), node)
        return self.expressions.value(node)

    def _store(
        self,
        name: str,
        subscripts: str,
        kind: str,
        value: Value,
        node: Piece,
        *,
        guarded: bool = True,
    ) -> None:
        stored = self.expressions.arithmetic.scalar(value, node)
        self.expressions.accessed(name, subscripts, node)
        if self._guards and guarded:
            text = f"affine.load %{name}[{subscripts}] : {kind}"
            old = Scalar(self.emitter.operation(text, node), stored.type)
            stored = self.expressions.arithmetic.select(
                self._guards[-1], stored, old, stored.type, node
            )
        self.emitter.line(f"affine.store {stored.name}, %{name}[{subscripts}] : {kind}", node)

    def _set(self, target: Name, value: Value, kind: NumberType, node: Piece) -> None:
        symbol = target.symbol
        variable = self.expressions.variables.of.get(target)
        if variable is not None:
            self._set_variable(variable, value, kind, node)
            return
        array = self.expressions.arrays.get(symbol)
        if array is None:
            raise SourceError(f"'{symbol.name}' cannot be assigned to", target.place)
        self._store(array.name, "", array.elements.mlir, value, node)

    def _set_variable(
        self, variable: Variable, value: Value, kind: NumberType, node: Piece
    ) -> None:
        if variable.is_value:
            self.expressions.values[variable] = value
            return
        block, guards = self._blocks[variable.block]
        guarded = len(self._guards) > guards  # else the variable lives where the guard holds
        if not variable.cell:
            variable.cell = self._cell_name(variable.symbol.name, block)
            # A store under a guard may keep what it has.
            zero = Constant(0, kind)
            first = self.expressions.arithmetic.scalar(zero, node).name if guarded else ""
            self.emitter.allocate(block, variable.cell, kind.mlir, node, first)
            self._cells.setdefault(variable.block, []).append(variable)
        self._store(variable.cell, "", f"memref<{kind.mlir}>", value, node, guarded=guarded)

    def _cell_name(self, name: str, block: TextBlock[Piece]) -> str:
        """A name that nothing inside of the block has either: cells are at its beginning.

        Nor has what is around: a branch may be printed again inside of the block that has it.
        """
        found = [self.names.take(name)]
        while found[-1] in block.inner or any(
            found[-1] in each.names for each in self.emitter.blocks
        ):
            found.append(self.names.take(name))
        for each in found[:-1]:
            self.names.release(each)
        block.names.add(found[-1])
        return found[-1]

    def _declare(self, node: Declare) -> None:
        symbol = node.symbol
        if node.refused is not None:
            raise SourceError(node.refused, node.place, "declare it outside of the region")
        if isinstance(symbol.type, PointerType):
            self.expressions.aliases.declare(node, self._bound)
            return
        if self.arrays.allocates(symbol):
            self.arrays.allocate(node, at_top=len(self.emitter.blocks) == 1)
            return
        if node.value is None and isinstance(symbol.type, OtherType):
            self._declare_members(node, symbol)
            return
        number_type(Name(node.place, symbol.type, symbol))
        variable = self.expressions.variables.declared.get(node)
        if node.value is None or variable is None:
            return
        kind = number_type(Name(node.place, symbol.type, symbol))
        value = self.expressions.arithmetic.convert(self._value(node.value), kind, node)
        self._set_variable(variable, value, kind, node)
        if variable.is_value:
            self.expressions.rows.definitions[variable] = node.value

    def _declare_members(self, node: Declare, symbol: Symbol) -> None:
        """Declares a structure, whose members are variables: allocates those that are arrays."""
        for member in symbol.members.values():
            if isinstance(member.type, OtherType):
                self._declare_members(node, member)
            elif self.arrays.allocates(member):
                self.arrays.allocate(replace(node, symbol=member), at_top=False)

    def _bound(self, node: Expression) -> Name:
        """The value that an integer has here, under a name that no statement assigns."""
        kind = number_type(node)
        name = Name(node.place, kind, Symbol("subscript", kind, node.place, 0))
        variable = Variable(name.symbol, Block(node.place, 0, 0, []), assignments=1)
        self.expressions.variables.of[name] = variable
        self.expressions.values[variable] = self.expressions.value(node)
        return name


def _nothing() -> None:
    """An empty branch."""


def _is_discarded(node: Expression) -> bool:
    """Whether this is `(void)x`, which only says that a variable is used."""
    return isinstance(node, Cast) and str(node.type) == "void" and isinstance(node.operand, Name)


def number_type_of(node: Assignment) -> NumberType:
    """The type in which C computes an assignment with an operator; raises SourceError."""
    return number_type(Unsupported(node.place, node.computed, ""))


def _within(bounds: Bounds, name: str) -> list[Affine]:
    """What holds in every iteration of a loop."""
    variable = bounds.loop_variable
    one = Affine(constant=1)
    above = [variable.plus(part, -1) for part in bounds.lower.parts]
    return above + [part.plus(variable, -1).plus(one, -1) for part in bounds.upper.parts]
