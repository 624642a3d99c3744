"""Statements of C as operations of affine, memref and arith."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ...dialects.errors import SourceError
from ..text.affine import Affine, Index, bound_text
from ..text.emitter import Block as TextBlock
from ..text.emitter import Emitter
from .branches import Branches
from .c_types import ComplexType, IntegerType, NumberType, OtherType, PointerType
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


class Statements:
    """Emits statements."""

    def __init__(self, expressions: Expressions, names: Names) -> None:
        self.expressions = expressions
        self.emitter: Emitter[Piece] = expressions.emitter
        self.names = names
        self.loops = Loops(expressions)
        self.opaque = Opaque(expressions, self.loops)
        self.branches = Branches(expressions, self.opaque)
        self.arrays = LocalArrays(expressions, names)
        self._blocks: dict[Block, tuple[TextBlock[Piece], int]] = {}
        self._cells: dict[Block, list[Variable]] = {}
        self._taken: list[tuple[TextBlock[Piece], list[str]]] = []

    def region(self, block: Block) -> None:
        """Emits the statements of a region; raises SourceError."""
        self.block(block)
        self.arrays.release(block)

    def block(self, block: Block) -> None:
        """Emits the statements of a block into the emitter's innermost one."""
        innermost = self.emitter.blocks[-1]
        self._blocks[block] = innermost, len(self.branches.guards)
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
            self.branches.emit(self.expressions.conditions.condition(node.test), one, other, node)
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
                truth = self.expressions.choices.truth(condition, node.test)
                self.emitter.line(f"scf.condition({truth})", node)
            with self.emitter.block() as after:
                self.block(node.body)
                self.emitter.line("scf.yield", node)
        self.emitter.nests("scf.while () : () -> ()", before, "} do {", after, node)

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
                if self.branches.guards:
                    # A subscript such as `i * i % m`: element 0 where the condition does not hold.
                    old = Scalar(self.emitter.operation(f"memref.load {place}", node), kind)
                    stored = self.expressions.arithmetic.select(
                        self.branches.guards[-1], stored, old, kind, node
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
        if self.branches.guards and guarded:
            text = f"affine.load %{name}[{subscripts}] : {kind}"
            old = Scalar(self.emitter.operation(text, node), stored.type)
            stored = self.expressions.arithmetic.select(
                self.branches.guards[-1], stored, old, stored.type, node
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
        # Without more guards than at its block, the variable lives where they hold.
        guarded = len(self.branches.guards) > guards
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
