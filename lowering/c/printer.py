"""Printer state: the lines so far, and the C expressions of SSA values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects import arith, memref
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.errors import SourceError
from ...dialects.memref import behind_views
from .c_expressions import Expression
from .helpers import Helper
from .line_breaks import wrap
from .names import Names
from .types import HEADERS, type_of

Emit: TypeAlias = "Callable[[Printer, Any], None]"
# From the name of an operation to what prints it.
Emitters: TypeAlias = Mapping[str, Emit]


@dataclass
class Unit:
    """State shared by the functions of one C file. `parallel` are loops with a pragma."""

    emitters: Emitters
    parallel: Collection[Operation] = ()
    headers: set[str] = field(default_factory=lambda: {"stdint.h"})
    helpers: dict[str, Helper] = field(default_factory=dict[str, Helper])

    def helper(self, helper: Helper) -> str:
        """The name of a helper, which the file then has."""
        self.helpers[helper.name] = helper
        if helper.header is not None:
            self.headers.add(helper.header)
        return helper.name


@dataclass(frozen=True)
class Array:
    """A memref in C: its name and extents; `is_scalar` for a plain variable.

    `read_as` is the signed type of its elements where they are declared unsigned.
    """

    name: str
    extents: tuple[Expression, ...]
    is_scalar: bool = False
    read_as: str | None = None


class Printer:
    """One function being printed.

    A value that is used once, in the block where it is computed, becomes part of the expression
    that uses it (it is *pending* until then); any other value becomes a constant of its own.
    `needed` are the values that the function cannot do without.
    """

    def __init__(self, unit: Unit, names: Names, needed: Set[SSAValue]) -> None:
        self.unit = unit
        self.names = names
        self.needed = needed
        self.lines: list[str] = []
        self.arrays: dict[SSAValue, Array] = {}
        self.in_parallel = False
        self._indent = 1
        self._values: dict[SSAValue, Expression] = {}
        self._pending: dict[SSAValue, Expression] = {}
        self._cleanups: list[list[str]] = []

    def value(self, value: SSAValue) -> Expression:
        """The expression for a scalar."""
        if value in self._pending:
            return self._pending.pop(value)
        try:
            return self._values[value]
        except KeyError:
            message = f"a value of type '{value.type}' cannot be used here"
            raise SourceError.at(value, message) from None

    def all_values(self, values: Iterable[SSAValue]) -> list[Expression]:
        """The expressions for several scalars."""
        return [self.value(value) for value in values]

    def array(self, value: SSAValue) -> Array:
        """The array of a memref."""
        try:
            return self.arrays[value]
        except KeyError:
            message = f"a value of type '{value.type}' cannot be used here"
            raise SourceError.at(value, message) from None

    def bind(self, value: SSAValue, expression: Expression) -> None:
        """Says what a value is: an expression that can be repeated anywhere."""
        self._values[value] = expression

    def define(self, value: SSAValue, expression: Expression, *, trivial: bool = False) -> None:
        """Says what an operation computes; a `trivial` expression is repeated where it is used."""
        type_of(value)
        if trivial:
            self.bind(value, expression)
            return
        self._pending[value] = expression
        uses = tuple(value.uses)
        user = uses[0].operation
        once = len(uses) == 1 and user.parent is value.owner.parent
        if not once or user.name in _EVALUATED_AGAIN:
            self.materialise(value)

    def materialise(self, value: SSAValue) -> None:
        """Makes a pending value a constant of its own."""
        expression = self._pending.pop(value)
        name = self.names.take(value.name_hint, "t")
        self.line(f"const {self.type(value)} {name} = {expression};")
        self.bind(value, Expression(name))

    def before_write(self, array: SSAValue | None = None) -> None:
        """Evaluates what is still to be loaded from an array (None: all) that now changes."""
        for value, expression in tuple(self._pending.items()):
            if expression.reads if array is None else behind_views(array) in expression.reads:
                self.materialise(value)

    def type(self, value: SSAValue) -> str:
        """The C type of a value or of the elements of a memref; raises SourceError."""
        name = type_of(value)
        if name in HEADERS:
            self.unit.headers.add(HEADERS[name])
        return name

    def line(self, text: str) -> None:
        """Adds a line, continued on the next ones where it is too long."""
        indent = "    " * self._indent
        self.lines += [text] if text.startswith("#") else wrap(text, indent)

    @contextmanager
    def braces(self, head: str) -> Generator[None]:
        """Puts what is printed inside between `head {` and `}`."""
        self.line(f"{head} {{" if head else "{")
        self._indent += 1
        with self.names.scope():
            yield
        self._indent -= 1
        self.line("}")

    @contextmanager
    def else_braces(self) -> Generator[None]:
        """Continues the `if` that was printed last."""
        closing = self.lines.pop()
        with self.braces(f"{closing.strip()} else"):
            yield

    def at_end_of_block(self, text: str) -> None:
        """A line for the end of the block that is being printed; the first one comes last."""
        self._cleanups[-1].append(text)

    def at_very_end_of_block(self, text: str) -> None:
        """A line after all others of the block that is being printed."""
        self._cleanups[-1].insert(0, text)

    def block(self, block: Block, end: Callable[[list[Expression]], None]) -> None:
        """Prints the operations of a block; `end` prints what is done with what it yields."""
        self._cleanups.append([])
        for operation in block.ops:
            if operation.has_trait(IsTerminator):
                end(self.all_values(operation.operands))
                break
            if self._is_dead(operation):
                continue
            emit = self.unit.emitters.get(operation.name)
            if emit is None:
                for result in operation.results:
                    type_of(result)
                message = f"operation '{operation.name}' cannot be printed as C"
                raise SourceError.at(operation, message)
            emit(self, operation)
        for text in reversed(self._cleanups.pop()):
            self.line(text)

    def _is_dead(self, operation: Operation) -> bool:
        # The extents of a cast may be needed although its elements are not.
        is_cast = isinstance(operation, memref.CastOp)
        return not is_cast and _is_needless(operation, self.needed)


# The bounds of these are evaluated in every iteration.
_EVALUATED_AGAIN = ("scf.for", "affine.for", "affine.parallel")


def needed_values(function: Operation) -> set[SSAValue]:
    """The operands of stores, loops and calls, and what these are computed from."""
    needed = set[SSAValue]()
    for operation in reversed(list(function.walk())):
        # What uses the results of an operation around this one comes behind both.
        parent = operation.parent_op()
        is_needed = parent is None or not _is_needless(parent, needed)
        if is_needed and not _is_needless(operation, needed):
            needed.update(operation.operands[_ignored_operands(operation) :])
    return needed


def _is_needless(operation: Operation, needed: Set[SSAValue]) -> bool:
    return _only_computes(operation) and needed.isdisjoint(operation.results)


def _ignored_operands(operation: Operation) -> int:
    """How many of the first operands are not printed."""
    match operation:
        case memref.DimOp():
            return 1  # the extents of an array are values of their own
        case arith.CmpfOp() if operation.predicate.value.data in (0, 15):
            return 2  # the result is a constant
        case _:
            return 0


def _only_computes(operation: Operation) -> bool:
    if not operation.results or operation.name in ("func.call", "memref.alloc", "memref.alloca"):
        return False
    if not operation.regions:
        return True
    inside = [each for part in operation.regions for block in part.blocks for each in block.ops]
    return operation.name in ("affine.if", "scf.if") and all(
        each.has_trait(IsTerminator) or _only_computes(each) for each in inside
    )
