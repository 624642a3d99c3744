"""Expressions of C as values."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.errors import SourceError
from ..text.affine import Affine, Index, map_text, quotient
from ..text.conditions import Condition, Fixed
from ..text.emitter import Emitter, NotAffine
from ..text.repetitions import is_mixed
from .aliases import Aliases
from .arithmetic import PREDICATES, Arithmetic, linear
from .c_types import BOOL, INT, LONG, IntegerType, NumberType, PointerType, elements_of
from .calls import Calls
from .choices import Choices
from .chosen_rows import ChosenRows
from .conditional_accesses import ConditionalAccesses
from .conditions import Conditions
from .domain import Domain
from .element_sizes import ElementSizes
from .flat_arrays import FlatArrays, Strides, split
from .functions import PARTS
from .gathers import Gathers
from .idioms import rounded_division
from .numbers import number_type
from .padded_rows import length_of
from .side_effects import increments
from .tree import (
    Assignment,
    Binary,
    Call,
    Cast,
    Conditional,
    Expression,
    Literal,
    Name,
    Piece,
    Subscript,
    Symbol,
    Unary,
    Unsupported,
    widened,
)
from .values import Array, Constant, Linear, Scalar, Value, index_of, rounded
from .variables import Variable, Variables


class Expressions:
    """Evaluates expressions; emits the operations that they need."""

    def __init__(
        self,
        emitter: Emitter[Piece],
        domain: Domain,
        variables: Variables,
        strides: Strides,
        sizes: ElementSizes,
        recovers_infinities: bool,
    ) -> None:
        self.emitter = emitter
        self.domain = domain
        self.variables = variables
        self.arithmetic = Arithmetic(emitter, domain, recovers_infinities)
        self.calls = Calls(self)
        self.conditions = Conditions(self, self.calls)
        self.choices = Choices(self, self.conditions)
        self.flat = FlatArrays(self, strides)
        self.rows = ChosenRows(self, self.conditions, variables)
        self.aliases = Aliases(variables)
        self.sizes = sizes
        self.arrays: dict[Symbol, Array] = {}
        self.gathers = Gathers(self, self.arrays)
        self.guards = self.gathers.guards
        self.conditional = ConditionalAccesses()
        self.names: dict[Symbol, Value] = {}
        self.values: dict[Variable, Value] = {}
        self.left_loops: set[Symbol] = set()

    # Affine expressions

    def index(self, node: Expression, what: str) -> Index:
        """An affine integer; raises SourceError where it is none."""
        try:
            with self.emitter.affine_only():
                value = self.value(node)
        except NotAffine as error:
            message = f"{what} must be affine in loop variables and sizes, but {error.reason}"
            raise SourceError(message, error.node.place, error.hint) from None
        index = index_of(value)
        if index is None:
            message = f"{what} must be an integer, not '{value.type}'"
            raise SourceError(message, node.place)
        return index

    def affine(self, node: Expression, what: str) -> Affine:
        """An affine expression without minimum or maximum; raises SourceError."""
        affine = self.index(node, what).affine
        if affine is None:
            message = f"{what} must be affine, not a minimum or maximum"
            raise SourceError(message, node.place)
        return affine

    def static(self, node: Expression) -> Constant | Linear | None:
        """A constant or an affine integer, or None."""
        before = list(self.domain.assumptions)
        try:
            with self.emitter.affine_only():
                value = self.value(node)
        except NotAffine:
            self.domain.assumptions[:] = before
            return None
        return None if isinstance(value, Scalar) else value

    # Values

    def value(self, node: Expression) -> Value:
        """The value of an expression; raises SourceError, NotAffine."""
        if isinstance(node, Unsupported):
            raise SourceError(node.reason, node.place, node.hint)
        if isinstance(node, Assignment):
            # All others are statements of their own.
            if increments(node) and isinstance(node.target, Name):
                raise SourceError(
                    "a variable is set where '?:', '&&', '||' or the condition of a loop "
                    "may leave it as it is",
                    node.place,
                    "write an 'if' with a statement of its own",
                )
            raise SourceError(
                "an assignment inside of an expression is not supported",
                node.place,
                "write it as a statement of its own",
            )
        if isinstance(node, Name):
            return self._name(node)
        if isinstance(node, Cast):
            return self._cast(node)
        if isinstance(node, Subscript):
            return self._element(node)
        if isinstance(node, Call):
            return self.calls.value(node)
        if isinstance(node, Conditional):
            return self.choices.value(node)
        if isinstance(node, Unary):
            return self._unary(node)
        kind = number_type(node)
        if isinstance(node, Literal):
            return Constant(node.value, kind)
        if node.operator in ("&&", "||") or node.operator in PREDICATES:
            return self._truth(self.conditions.condition(node), node)
        rounded = self._rounded(node, kind)
        if rounded is not None:
            return rounded
        left, right = self.value(node.left), self.value(node.right)
        return self.arithmetic.binary(node.operator, left, right, kind, node)

    def _rounded(self, node: Binary, kind: NumberType) -> Value | None:
        """The result of a division that rounds down or up, where it is affine."""
        found = rounded_division(node)
        if found is None or not isinstance(kind, IntegerType) or not kind.signed:
            return None
        word, dividend, divisor = found
        left, right = self.static(dividend), self.static(divisor)
        if left is None or not isinstance(right, Constant) or right.value.real <= 0:
            return None
        index = index_of(left)
        if index is None or index.affine is None:
            return None
        return linear(Index((quotient(word, index.affine, int(right.value.real)),)), kind)

    def converted(self, node: Expression, kind: NumberType) -> Value:
        """The value of an expression in a type."""
        return self.arithmetic.convert(self.value(node), kind, node)

    def _truth(self, condition: Condition, node: Expression) -> Value:
        """A condition as a number: 1 or 0."""
        if isinstance(condition, Fixed):
            return Constant(int(condition.value), INT)
        if is_mixed(condition):
            self.emitter.require_operations(node, "a condition on data is not")
            truth = Scalar(self.choices.truth(condition, node), BOOL)
            return self.arithmetic.convert(truth, INT, node)
        return self.choices.choose(
            condition, lambda: Constant(1, INT), lambda: Constant(0, INT), INT, node
        )

    def _name(self, node: Name) -> Value:
        symbol = node.symbol
        variable = self.variables.of.get(node)
        if variable is not None:
            return self.read(variable, node)
        found = self.names.get(symbol)
        if found is not None:
            if isinstance(found, Scalar):
                self.emitter.require_operations(node, f"'{symbol.name}' is '{found.type}'")
            return found
        if symbol.constant is not None:
            kind = number_type(node)
            return Constant(rounded(symbol.constant, kind), kind)
        if symbol in self.left_loops:
            raise SourceError(
                f"'{symbol.name}' is read behind its loop",
                node.place,
                "use the bound of the loop, or another variable",
            )
        array = self.arrays.get(symbol)
        if array is not None and array.elements.rank == 0:
            self.emitter.require_operations(
                node,
                f"'{symbol.name}' is assigned by the region",
                f"write '{symbol.name}' in terms of loop variables",
            )
            text = f"affine.load %{array.name}[] : {array.elements.mlir}"
            return Scalar(self.emitter.operation(text, node), array.elements.element)
        if array is not None:
            raise SourceError(
                f"'{symbol.name}' is a whole array; a region computes with elements",
                node.place,
                f"write {symbol.name}[i] in a loop",
            )
        raise SourceError(
            f"'{symbol.name}' has the type '{symbol.type}', which regions do not compute with",
            node.place,
        )

    def read(self, variable: Variable, node: Expression) -> Value:
        """The value of a local variable."""
        value = self.values.get(variable)
        name = variable.symbol.name
        if value is not None:
            if isinstance(value, Scalar):
                self.emitter.require_operations(
                    node, f"'{name}' is '{value.type}' computed by the region"
                )
            return value
        self.emitter.require_operations(
            node,
            f"'{name}' is assigned more than once",
            f"write '{name}' in terms of loop variables",
        )
        kind = number_type(node)
        if not variable.cell:
            raise SourceError(
                f"'{name}' has no value here", node.place, "assign it before it is read"
            )
        text = f"affine.load %{variable.cell}[] : memref<{kind.mlir}>"
        return Scalar(self.emitter.operation(text, node), kind)

    def _cast(self, node: Cast) -> Value:
        if isinstance(node.type, PointerType):
            raise SourceError(
                "casts of pointers are not supported",
                node.place,
                "use a pointer of the type of the elements",
            )
        return self.converted(node.operand, number_type(node))

    def _unary(self, node: Unary) -> Value:
        if node.operator == "!":
            return self._truth(self.conditions.condition(node), node)
        value = self.value(node.operand)
        if node.operator in PARTS:
            return self.arithmetic.part(PARTS[node.operator], value, node)
        if node.operator == "-":
            return self.arithmetic.negate(value, node)
        if node.operator == "~":
            return self.arithmetic.complement(value, node)
        if node.operator == "+":
            return value
        raise SourceError("the address of a variable is not supported", node.place)

    # Elements

    def _element(self, node: Subscript) -> Value:
        node = self.aliases.resolved(node)
        size = self.sizes.symbol(node) if self.emitter.is_affine_only else None
        if size is not None:
            return self.names[size]
        base, written = self._written(node)
        if isinstance(base, Name):
            gathered = self.gathers.element(node, base.symbol, written)
            if gathered is not None:
                return Scalar(gathered, self.arrays[base.symbol].elements.element)
        array, subscripts = self.access(node)
        self.emitter.require_operations(
            node,
            f"an element of '{root(node).symbol.name}' is data",
            "bounds, and subscripts of what is written, may not depend on data",
        )
        text = f"affine.load %{array.name}[{subscripts}] : {array.elements.mlir}"
        self.accessed(array.name, subscripts, node)
        return Scalar(self.emitter.operation(text, node), array.elements.element)

    def accessed(self, array: str, subscripts: str, node: Piece) -> None:
        """Records an access of an element, with the conditions on data that it is under."""
        block = self.emitter.blocks[-1]
        self.conditional.record(block, array, subscripts, self.guards.conditions, node)

    def scattered(self, node: Subscript) -> str | None:
        """The element as an operand of a store, where its subscripts depend on data."""
        node = self.aliases.resolved(node)
        base, written = self._written(node)
        if not isinstance(base, Name) or not self.gathers.is_gather(base.symbol, written):
            return None
        return self.gathers.place(base.symbol, written)

    def access(self, node: Subscript) -> tuple[Array, str]:
        """An element: its array and the text of the subscripts; raises SourceError."""
        node = self.aliases.resolved(node)
        base, written = self._written(node)
        symbol = root(node).symbol
        array = self.arrays.get(symbol)
        if array is None:
            raise _no_array(symbol, base)
        parts = self._flat(symbol, written)
        if parts is not None:
            inner = map(self._subscript, written[1:])
            return array, ", ".join([*(each.render() for each in parts), *inner])
        if len(written) != array.elements.rank:
            raise SourceError(
                f"'{symbol.name}' has {array.elements.rank} dimensions, not {len(written)}",
                node.place,
            )
        return array, ", ".join(map(self._subscript, written))

    def _written(self, node: Subscript) -> tuple[Expression, list[Expression]]:
        """What an element is of, and its subscripts.

        One that is not affine, of an array that others show to have rows, is split by division.
        """
        base, written = subscripts_of(node)
        array = self.arrays.get(base.symbol) if isinstance(base, Name) else None
        if array is None or not isinstance(base, Name):
            return base, written
        if len(written) == 1 and array.elements.rank <= 2:
            chosen = self.flat.chosen(written[0], base.symbol, self.rows)
            if chosen is not None:
                return base, chosen
        if array.elements.rank == len(written):
            return base, written
        if not _is_flat(base.symbol, written) or self._flat(base.symbol, written) is not None:
            return base, written
        lengths = [self._length(length_of(each), node) for each in self.flat.lengths(base.symbol)]
        known = [each for each in lengths if each is not None]
        if len(known) < len(lengths):
            return base, written
        return base, [*split(written[0], known), *written[1:]]

    def _length(self, length: Affine, node: Piece) -> Expression | None:
        """A length of rows as an expression of C; None where it is of other values than sizes."""
        sizes = {index_of(value): symbol for symbol, value in self.names.items()}
        total: Expression = Literal(node.place, LONG, length.constant)
        for term, factor in length.terms:
            symbol = sizes.get(Index((Affine.of(term),)))
            if symbol is None:
                return None
            size = widened(Name(node.place, symbol.type, symbol))
            product = Binary(node.place, LONG, "*", size, Literal(node.place, LONG, factor))
            total = Binary(node.place, LONG, "+", total, product)
        return total

    def _flat(self, symbol: Symbol, written: Sequence[Expression]) -> list[Affine] | None:
        """What the first subscript is in rows that follow each other; None where it is itself."""
        return self.flat.subscripts(written[0], symbol) if _is_flat(symbol, written) else None

    def _subscript(self, node: Expression) -> str:
        """An affine subscript, or a minimum or maximum of such; raises SourceError."""
        index = self.index(node, "a subscript")
        if index.affine is not None:
            return index.affine.render()
        return self.emitter.operation(f"affine.{index.kind} {map_text(index.parts)}", node)


def _no_array(symbol: Symbol, node: Expression) -> SourceError:
    if isinstance(symbol.type, PointerType) and isinstance(symbol.type.target, PointerType):
        return SourceError(
            f"the rows of '{symbol.name}' may lie anywhere: it is a pointer to pointers",
            node.place,
            f"pass an array: {symbol.name}[n][m]",
        )
    if isinstance(symbol.type, PointerType) and not symbol.is_parameter and not symbol.is_global:
        return SourceError(
            f"'{symbol.name}' is a pointer that the region assigns",
            node.place,
            "declare it with the element that it points at",
        )
    if symbol.is_volatile:
        return SourceError(f"'{symbol.name}' is volatile", node.place, "leave out 'volatile'")
    return SourceError(
        f"'{symbol.name}' has the type '{symbol.type}': elements must be float, double or integers",
        node.place,
    )


def _is_flat(symbol: Symbol, written: Sequence[Expression]) -> bool:
    """Whether the first subscript counts elements, or rows of a fixed length: `a[i * m + j].x`."""
    elements = elements_of(symbol.type, parameter=symbol.is_parameter)
    if len(written) == 1 or elements is None:
        return len(written) == 1
    first, *inner = elements.extents
    return first is None and len(inner) == len(written) - 1 and None not in inner


def subscripts_of(node: Subscript) -> tuple[Expression, list[Expression]]:
    """What an element is of, and its subscripts."""
    written: list[Expression] = []
    base: Expression = node
    while isinstance(base, Subscript):
        written.insert(0, base.index)
        base = base.base
    return base, written


def root(node: Subscript) -> Name:
    """The variable of an element; raises SourceError where it is none."""
    base: Expression = node
    while isinstance(base, Subscript):
        base = base.base
    if isinstance(base, Unsupported):
        raise SourceError(base.reason, base.place, base.hint)
    if not isinstance(base, Name):
        raise SourceError(
            "elements are those of an array or pointer variable",
            node.place,
            "write A[i] with the name of an array",
        )
    return base
