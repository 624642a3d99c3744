"""Elements at subscripts that depend on data: `A[idx[i]]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects.errors import SourceError
from ..text.affine import map_text
from ..text.guards import Guards
from .c_types import LONG, IntegerType
from .evaluator import Evaluator
from .numbers import is_signed
from .tree import Binary, Call, Conditional, Expression, Name, Piece, Subscript, Symbol, walk
from .values import Array, Constant, Linear, Scalar, Value, index_of

_WIDENED = ("+", "-", "*", "/")


class Gathers:
    """Evaluates elements that are read at subscripts that depend on data.

    `found` are the arrays that have them, with whether some are under a condition on data.
    """

    def __init__(self, expressions: Evaluator, arrays: Mapping[Symbol, Array]) -> None:
        self.expressions = expressions
        self.emitter = expressions.emitter
        self.arrays = arrays
        self.guards: Guards[Piece] = Guards(expressions.emitter)
        self.has_products = False
        self.found: dict[Symbol, bool] = {}

    def element(self, node: Subscript, symbol: Symbol, written: Sequence[Expression]) -> str | None:
        """The element of an array at what is `written`; None where that does not depend on data."""
        if not self.is_gather(symbol, written):
            return None
        self.emitter.require_operations(node, f"an element of '{symbol.name}' is data")
        return self.emitter.operation(f"memref.load {self.place(symbol, written)}", node)

    def is_gather(self, symbol: Symbol, written: Sequence[Expression]) -> bool:
        """Whether a subscript of an element of an array depends on data."""
        array = self.arrays.get(symbol)
        if array is None or len(written) != array.elements.rank:
            return False
        if any(self._is_data(each) or self._is_choice(each) for each in written):
            return True
        is_opaque = any(self._is_product(each) for each in written)
        self.has_products |= is_opaque
        return is_opaque

    def _is_choice(self, node: Expression) -> bool:
        """Whether it is made of one of several integers, which raising has cases for."""
        chosen = (
            each
            for each in walk(node)
            if isinstance(each, Conditional)
            or (isinstance(each, Call) and each.inlined is not None)
        )
        is_choice = any(self.expressions.static(each) is None for each in chosen)
        return is_choice and self.expressions.static(node) is None

    def _is_product(self, node: Expression) -> bool:
        """Whether it multiplies loop variables, or has a remainder by what is no constant.

        What else is not affine has a remedy that the message tells.
        """
        for each in walk(node):
            if not isinstance(each, Binary):
                continue
            if each.operator == "*" and all(map(self._varies, (each.left, each.right))):
                return True
            if each.operator == "%" and not isinstance(
                self.expressions.static(each.right), Constant
            ):
                return True
        return False

    def _varies(self, node: Expression) -> bool:
        """Whether an integer changes with a loop."""
        found = self.expressions.static(node)
        return isinstance(found, Linear) and any(
            not name.symbol for part in found.index.parts for name in part.names()
        )

    def place(self, symbol: Symbol, written: Sequence[Expression]) -> str:
        """The element as an operand of a load or store; raises SourceError."""
        array = self.arrays[symbol]
        self.found[symbol] = self.found.get(symbol, False) or bool(self.guards.conditions)
        subscripts = ", ".join(self.index(each) for each in written)
        return f"%{array.name}[{subscripts}] : {array.elements.mlir}"

    def _is_data(self, node: Expression) -> bool:
        if self.expressions.static(node) is not None:
            return False
        return any(self._is_number(each) for each in walk(node))

    def _is_number(self, node: Expression) -> bool:
        """Whether a variable or an element is a number that the region computes or reads."""
        if isinstance(node, Subscript):
            return True
        return isinstance(node, Name) and self.expressions.static(node) is None

    def index(self, node: Expression) -> str:
        """An integer as a value of type index; raises SourceError.

        Sums and products of signed integers are computed as those of 64 bits: beyond their types,
        they have no meaning in C.
        """
        value = self._wide(node)
        index = index_of(value)
        if index is not None and index.affine is not None:
            return self.guards.affine(index.affine, node)
        if index is not None:
            return self.emitter.operation(f"affine.{index.kind} {map_text(index.parts)}", node)
        if not isinstance(value, Scalar) or not isinstance(value.type, IntegerType):
            raise SourceError(f"a subscript must be an integer, not '{value.type}'", node.place)
        kind = value.type
        return self.guards.index(value.name, kind.mlir, unsigned=not kind.signed, node=node)

    def _wide(self, node: Expression) -> Value:
        """An integer, where it is signed arithmetic in 64 bits."""
        is_sum = isinstance(node, Binary) and node.operator in _WIDENED and is_signed(node)
        if self.expressions.static(node) is not None or not is_sum:
            return self.expressions.value(node)
        assert isinstance(node, Binary)
        arithmetic = self.expressions.arithmetic
        one, other = (
            arithmetic.convert(self._wide(each), LONG, each) for each in (node.left, node.right)
        )
        return arithmetic.binary(node.operator, one, other, LONG, node)
