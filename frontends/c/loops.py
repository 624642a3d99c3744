"""`for` loops of C as affine loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.errors import SourceError
from ..text.affine import Affine, Index, Name, extremum, quotient
from .arithmetic import SWAPPED
from .c_types import LONG, IntegerType
from .expressions import Expressions
from .loop_steps import added, is_name
from .tree import (
    Assignment,
    Binary,
    Cast,
    Declare,
    Expression,
    For,
    Piece,
    Symbol,
    Unary,
    bare,
    walk,
    widened,
)
from .values import Constant
from .variables import loop_symbol

SHAPE = "write `for (i = a; i < b; i++)`"


@dataclass(frozen=True)
class Bounds:
    """An affine loop: `lower` to below `upper`; `value` is what the variable of C is in it."""

    symbol: Symbol
    lower: Index
    upper: Index
    step: int
    value: Affine
    loop_variable: Affine


class Loops:
    """Finds the bounds of loops."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions

    def bounds(self, loop: For, name: str) -> Bounds:
        """The affine loop, whose variable is `name` in the text; raises SourceError."""
        symbol = self.variable(loop)
        kind = symbol.type
        assert isinstance(kind, IntegerType)
        step = self._step(loop.step, symbol)
        first = self.first(loop)
        lower = self.expressions.index(first, "the first value of a loop")
        limits = self._limits(loop.test, symbol, step, lower)
        low = [lower]
        high: list[Index] = []
        for operator, node, offset in limits:
            bound = self.expressions.index(node, "the bound of a loop")
            offset = {"<=": 1, ">=": -1}.get(operator, 0) - offset
            if offset:
                shifted = bound.plus(Index((Affine(constant=offset),)))
                assert shifted is not None
                bound = shifted
            (high if step > 0 else low).append(bound)
        if kind.width < 32:
            self._check_short(symbol, kind, step, high if step > 0 else low[1:], loop)
        loop_variable = Affine.of(Name(name, symbol=False))
        if step > 0:
            start = self._joined("max", low, first)
            end = self._joined("min", high, loop.test)
            return Bounds(symbol, start, end, step, loop_variable, loop_variable)
        return self._downwards(symbol, lower, low[1:], step, loop_variable, loop)

    def _downwards(
        self,
        symbol: Symbol,
        first: Index,
        below: list[Index],
        step: int,
        loop_variable: Affine,
        loop: For,
    ) -> Bounds:
        """A loop that counts down, mirrored where it visits all values, else by its iterations."""
        start = first.affine
        if start is None:
            raise SourceError(
                "the first value of a loop that counts down must be one expression", loop.place
            )
        end = self._joined("max", below, loop.test)
        one = Affine(constant=1)
        if step == -1 and end.affine is not None:
            last = end.affine.plus(one)
            upper = Index((start.plus(one),))
            value = start.plus(last).plus(loop_variable, -1)
            return Bounds(symbol, Index((last,)), upper, 1, value, loop_variable)
        distance = Index((start,)).plus(end, -1)
        assert distance is not None
        parts = tuple(quotient("ceildiv", part, -step) for part in distance.parts)
        upper = Index(parts, distance.kind)
        value = start.plus(loop_variable, step)
        return Bounds(symbol, Index((Affine(),)), upper, 1, value, loop_variable)

    def _joined(self, word: str, bounds: list[Index], node: Expression | Piece) -> Index:
        index = extremum(word, bounds)
        if index is None:
            which = (
                "lower bound cannot be a minimum"
                if word == "max"
                else ("upper bound cannot be a maximum")
            )
            raise SourceError(f"a {which}: the loop would be a union of ranges", node.place)
        return index

    def variable(self, loop: For) -> Symbol:
        """The loop variable; raises SourceError."""
        symbol = loop_symbol(loop)
        if symbol is None:
            raise SourceError("the first part of a loop sets its variable", loop.place, SHAPE)
        if not isinstance(symbol.type, IntegerType):
            raise SourceError(
                f"the loop variable '{symbol.name}' has the type '{symbol.type}'",
                loop.first.place,
                "use an int or a long",
            )
        return symbol

    def _check_short(
        self, symbol: Symbol, kind: IntegerType, step: int, ends: Sequence[Index], loop: For
    ) -> None:
        """Short variables wrap around where they step over the end of their type.

        They do not where one of the bounds is a constant before it; calls check bounds that are
        sizes.
        """
        constants = [
            part.constant
            for end in ends
            if end.kind == ("min" if step > 0 else "max") or len(end.parts) == 1
            for part in end.parts
            if not part.terms
        ]
        last = [each + step + (-1 if step > 0 else 1) for each in constants]
        misses = any(isinstance(e, Binary) and e.operator == "!=" for e in walk(loop.test))
        if not misses and any(kind.lowest <= each <= kind.highest for each in last):
            return
        furthest = Affine(constant=kind.highest + 1 if step > 0 else 1 - kind.lowest)
        beyond = (
            furthest.plus(part.plus(Affine(constant=step)), -1 if step > 0 else 1)
            for end in ends
            for part in end.parts
        )
        if misses or not all(self.expressions.domain.holds(e, assume=True) for e in beyond):
            raise SourceError(
                f"the loop variable '{symbol.name}' of type '{kind}' may wrap around",
                loop.first.place,
                "use an int or a long",
            )

    def simple(self, loop: For, symbol: Symbol) -> tuple[int, str, Expression]:
        """The step, the operator behind the variable, and the bound; raises SourceError."""
        step = self._step(loop.step, symbol)
        node = bare(loop.test)
        operator, left, right, offset = self._compared(node, symbol)
        if offset:
            raise self._no_test(node, symbol)
        source, target = symbol.type, left.type
        if (
            not isinstance(source, IntegerType)
            or not isinstance(target, IntegerType)
            or target.width < source.width
            or source.signed != target.signed
        ):
            raise SourceError(
                f"the loop compares '{symbol.name}' as '{target}', which may not have its value",
                left.place,
                f"compare in the type of '{symbol.name}'",
            )
        if operator not in (("<", "<=") if step > 0 else (">", ">=")):
            raise SourceError(
                "a loop with bounds that depend on data counts towards its bound",
                node.place,
                f"write '{symbol.name} {'<' if step > 0 else '>'} ...'",
            )
        return step, operator, right

    def ends(self, test: Expression, symbol: Symbol) -> list[Expression]:
        """What a condition compares the loop variable with."""
        test = bare(test)
        if not isinstance(test, Binary):
            return []
        if test.operator == "&&":
            return [*self.ends(test.left, symbol), *self.ends(test.right, symbol)]
        if test.operator not in SWAPPED:
            return []
        return [each for each in (test.left, test.right) if not _mentions(each, symbol)]

    def first(self, loop: For) -> Expression:
        """The first value of the loop variable; raises SourceError."""
        if isinstance(loop.first, Declare):
            if loop.first.value is None:
                raise SourceError("the loop variable has no first value", loop.place, SHAPE)
            return loop.first.value
        expression = getattr(loop.first, "expression", None)
        assert isinstance(expression, Assignment)
        if expression.operator:
            raise SourceError("the first part of a loop sets its variable", expression.place, SHAPE)
        return expression.value

    def _step(self, node: Expression, symbol: Symbol) -> int:
        """The constant that is added to the variable after an iteration."""
        step = added(node, symbol)
        if step is None:
            raise SourceError(
                f"the step of a loop adds a constant to '{symbol.name}'",
                node.place,
                f"write {symbol.name}++ or {symbol.name} += 2",
            )
        sign, amount = step
        found = self.expressions.static(bare(amount))
        if not isinstance(found, Constant) or found.value == 0:
            raise SourceError(
                "the step of a loop must be a constant other than 0",
                amount.place,
                "make it a number or a macro",
            )
        return sign * int(found.value.real)

    def _compared(
        self, node: Expression, symbol: Symbol
    ) -> tuple[str, Expression, Expression, int]:
        """A condition as operator, the loop variable, its bound, and what is added to the variable.

        Raises SourceError.
        """
        if not isinstance(node, Binary) or node.operator not in SWAPPED:
            raise self._no_test(node, symbol)
        operator, left, right = node.operator, node.left, node.right
        if not _mentions(left, symbol):
            operator, left, right = SWAPPED[operator], right, left
        if _mentions(right, symbol):
            raise self._no_test(node, symbol)
        offset = self._offset(left, symbol)
        amount = self._amount(left, symbol) if offset is None else None
        if amount is not None and operator not in ("==", "!="):
            right = Binary(node.place, LONG, "-", widened(right), widened(amount))
            return operator, left, right, 0
        if offset is None:
            raise self._no_test(node, symbol)
        return operator, left, right, offset

    def _amount(self, node: Expression, symbol: Symbol) -> Expression | None:
        """What is added to the variable, as in `i + k < n` of signed integers; None for others."""
        node = _widened(node, symbol)
        if not isinstance(node, Binary) or node.operator not in ("+", "-"):
            return None
        left, right = node.left, node.right
        if node.operator == "+" and not _mentions(left, symbol):
            left, right = right, left
        is_signed = isinstance(node.type, IntegerType) and node.type.signed
        if not is_signed or not is_name(_widened(left, symbol), symbol):
            return None
        if _mentions(right, symbol) or self.expressions.static(right) is None:
            return None
        return right if node.operator == "+" else Unary(node.place, LONG, "-", widened(right))

    def _offset(self, node: Expression, symbol: Symbol) -> int | None:
        """The constant that is added to the variable, as in `i + 1 < n`; None for all else."""
        node = _widened(node, symbol)
        if is_name(node, symbol):
            return 0
        if not isinstance(node, Binary) or node.operator not in ("+", "-"):
            return None
        left, right = node.left, node.right
        if node.operator == "+" and not _mentions(left, symbol):
            left, right = right, left
        amount = self.expressions.static(bare(right))
        if not is_name(_widened(left, symbol), symbol) or not isinstance(amount, Constant):
            return None
        return int(amount.value.real) * (1 if node.operator == "+" else -1)

    def _limits(
        self, node: Expression, symbol: Symbol, step: int, first: Index
    ) -> list[tuple[str, Expression, int]]:
        """The bounds in the condition, as what is behind `i + offset <`, `<=`, `>` or `>=`."""
        node = bare(node)
        if isinstance(node, Binary) and node.operator == "&&":
            left = self._limits(node.left, symbol, step, first)
            return [*left, *self._limits(node.right, symbol, step, first)]
        operator, left, right, offset = self._compared(node, symbol)
        self._check_conversion(left, symbol, first)
        if offset and not self._stays(left, operator, first, offset, step):
            raise self._no_test(node, symbol)
        if operator == "!=":
            self._check_distance(node, right, step, first)
            operator = "<" if step > 0 else ">"
        if operator == "==" or (operator in ("<", "<=")) != (step > 0):
            raise SourceError(
                f"the loop counts {'up' if step > 0 else 'down'}, but its condition is "
                f"'{symbol.name} {operator} ...'",
                node.place,
                f"compare with {'<' if step > 0 else '>'}",
            )
        self._check_end(node, left, operator, right, step)
        return [(operator, right, offset)]

    def _stays(self, left: Expression, operator: str, first: Index, offset: int, step: int) -> bool:
        """Whether the variable and an offset are below or above the bound as integers are.

        Signed sums do not overflow; unsigned ones wrap around where they begin so, or count down.
        """
        kind = left.type
        if operator in ("==", "!=") or not isinstance(kind, IntegerType):
            return False
        if kind.signed:
            return True
        return (
            step > 0
            and offset > 0
            and all(
                not each.terms and each.constant + offset <= kind.highest for each in first.parts
            )
        )

    def _check_conversion(self, left: Expression, symbol: Symbol, first: Index) -> None:
        """Comparisons in another type: it must have all values of the variable."""
        source, target = symbol.type, left.type
        assert isinstance(source, IntegerType)
        if not isinstance(target, IntegerType):
            raise SourceError(
                f"the bound of the loop is '{target}'", left.place, "compare with an integer"
            )
        fits = target.width >= source.width
        if fits and source.signed and not target.signed:
            fits = all(self.expressions.domain.holds(part, assume=True) for part in first.parts)
        if not fits or (target.width == source.width and target.signed and not source.signed):
            raise SourceError(
                f"the loop compares '{symbol.name}' as '{target}', which may not have its value",
                left.place,
                f"compare in the type of '{symbol.name}'",
            )

    def _check_distance(self, node: Expression, right: Expression, step: int, first: Index) -> None:
        """`!=` ends the loop only where the variable meets the bound; signed ones must."""
        if step not in (1, -1):
            raise SourceError(
                f"with a step of {step}, '!=' may miss its bound",
                node.place,
                f"compare with {'<' if step > 0 else '>'}",
            )
        if not isinstance(right.type, IntegerType) or right.type.signed:
            return
        bound = self.expressions.index(right, "the bound of a loop")
        distance = bound.plus(first, -1)
        if distance is None or not all(
            self.expressions.domain.holds(part.times(step), assume=True) for part in distance.parts
        ):
            raise SourceError(
                "an unsigned variable may begin behind its bound and wrap around",
                node.place,
                f"compare with {'<' if step > 0 else '>'}",
            )

    def _check_end(
        self, node: Expression, left: Expression, operator: str, right: Expression, step: int
    ) -> None:
        """Unsigned variables that count down never get below zero."""
        if step > 0 or not isinstance(left.type, IntegerType) or left.type.signed:
            return
        bound = self.expressions.index(right, "the bound of a loop")
        behind = Affine(constant=step + (operator == ">"))
        if not all(
            self.expressions.domain.holds(part.plus(behind), assume=False) for part in bound.parts
        ):
            raise SourceError(
                "an unsigned variable that counts down wraps around below zero",
                node.place,
                "use a signed type",
            )

    def _no_test(self, node: Expression, symbol: Symbol) -> SourceError:
        return SourceError(
            f"the condition of a loop compares '{symbol.name}' with a bound", node.place, SHAPE
        )


def _widened(node: Expression, symbol: Symbol) -> Expression:
    """Without conversions, other than those to narrower integers."""
    width = getattr(symbol.type, "width", 0)
    while isinstance(node, Cast):
        if isinstance(node.type, IntegerType) and node.type.width < width:
            break
        node = node.operand
    return node


def _mentions(node: Expression, symbol: Symbol) -> bool:
    return any(is_name(each, symbol) for each in walk(node))
