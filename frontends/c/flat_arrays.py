"""Delinearisation: arrays of several dimensions that C programs index by hand, `A[i * n + j]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ...dialects.errors import SourceError
from ..text.affine import Affine, Name, Term
from .c_types import LONG, IntegerType
from .chosen_rows import ChosenRows
from .evaluator import Evaluator
from .numbers import is_signed
from .padded_rows import PaddedLength, in_padded_rows, length_of, paddings, unpadded
from .polynomials import Polynomial
from .tree import Binary, Cast, Expression, Symbol
from .values import index_of

Stride: TypeAlias = "tuple[Name, ...]"


class NewStrides(Exception):
    """An access shows that an array has rows of these lengths: the region is printed again."""

    def __init__(self, symbol: Symbol, strides: tuple[Stride, ...]) -> None:
        super().__init__(symbol.name)
        self.symbol = symbol
        self.strides = strides


class Strides(dict[Symbol, tuple[Stride, ...]]):
    """The strides of arrays.

    `by_choice` has those that only positions show which are not affine: False where other elements
    do not keep to such rows, so that the array has none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.by_choice: dict[Symbol, bool] = {}


class FlatArrays:
    """Finds the subscripts of arrays whose rows follow each other."""

    def __init__(self, expressions: Evaluator, strides: Strides) -> None:
        self.expressions = expressions
        self.strides = strides

    def subscripts(self, index: Expression, symbol: Symbol) -> list[Affine] | None:
        """The subscripts of an element by its position, the last one for neighbouring elements.

        None where all of the array's subscripts are affine as they are. Raises NewStrides, and
        SourceError where an element may be in another row than its subscript says.
        """
        polynomial = self._polynomial(index)
        known = self.strides.get(symbol, ())
        if polynomial is None:
            return None
        polynomial = in_padded_rows(polynomial, extents(known))
        found = self._strides(polynomial)
        if not known and not found:
            # Products may cancel out: i * m + i * (12 - m) + j.
            parts = _divided(polynomial, ()) if is_signed(index) else None
            return parts if self.expressions.static(index) is None else None
        chain = _chain({*known, *found})
        if chain is None:
            return None
        if chain != known:
            raise NewStrides(symbol, chain if known else self._padded(polynomial, chain))
        parts = self._parts(polynomial, chain)
        if parts is None:
            return None
        if found:
            self.strides.by_choice.pop(symbol, None)
        elif self.strides.by_choice.get(symbol) and not self._are_within(
            parts[1:], extents(chain), assume=False
        ):
            self.strides.by_choice[symbol] = False
            raise NewStrides(symbol, ())
        # Unsigned arithmetic may wrap around on the way: it ends in the array nonetheless.
        within = is_signed(index) or self.expressions.domain.holds(parts[0], assume=True)
        lengths = extents(chain)
        if not within or not self._are_within(parts[1:], lengths, assume=True):
            padded = self._padded(polynomial, chain)
            if padded != chain:  # the access that has shown the rows may be one of several kinds
                raise NewStrides(symbol, padded)
            raise SourceError(
                f"an element of '{symbol.name}' may be outside of its row of "
                f"'{lengths[-1].text}' elements",
                index.place,
                f"pass an array with rows: {symbol.name}[n][{lengths[-1].text}]",
            )
        return parts

    def _parts(self, polynomial: Polynomial, chain: Sequence[Stride]) -> list[Affine] | None:
        """The subscripts in rows; None where they are not affine."""
        parts = _divided(polynomial, chain)
        return parts and self._in_rows([unpadded(each) for each in parts], extents(chain))

    def _padded(self, polynomial: Polynomial, chain: tuple[Stride, ...]) -> tuple[Stride, ...]:
        """The strides of an array with the padding of its rows, if an element is in one then."""
        lengths = extents(chain)
        if any(isinstance(each, PaddedLength) for each in lengths):
            return chain
        # What is assumed of sizes is checked where the elements are computed.
        with self.expressions.domain.inside([Affine.of(each) for each in lengths]):
            parts = self._parts(polynomial, chain)
            if parts is not None and self._are_within(parts[1:], lengths, assume=False):
                return chain
            for size in dict.fromkeys(lengths):
                for length in paddings(polynomial, size):
                    moved = in_padded_rows(polynomial, [length])
                    strides = tuple(
                        tuple(length if each == size else each for each in stride)
                        for stride in chain
                    )
                    parts = self._parts(moved, strides)
                    if parts is not None and self._are_within(
                        parts[1:], extents(strides), assume=False
                    ):
                        return strides
        return chain

    def chosen(
        self, index: Expression, symbol: Symbol, rows: ChosenRows
    ) -> list[Expression] | None:
        """The row and column of an element whose position is not affine; raises NewStrides."""
        is_affine = self.expressions.static(index) is not None
        if is_affine or self._polynomial(index) is not None:
            return None
        found = rows.split(index)
        if found is None or self.strides.by_choice.get(symbol) is False:
            return None
        length, parts = found
        known = self.strides.get(symbol, ())
        if not known:
            self.strides.by_choice[symbol] = True
            raise NewStrides(symbol, ((length,),))
        return parts if known == ((length,),) else None

    def lengths(self, symbol: Symbol) -> list[Name]:
        """The lengths of an array's rows, from the outermost ones."""
        return extents(self.strides.get(symbol, ()))

    def _in_rows(self, parts: list[Affine], lengths: list[Name]) -> list[Affine]:
        """The subscripts where whole rows are a part of the next one: `i * n + n - 1 - j`.

        (i + 1, -1 - j)   ->   (i, n - 1 - j)
        """
        parts = [*parts]
        for position in reversed(range(len(lengths))):
            outer, inner = parts[position : position + 2]
            length = lengths[position : position + 1]
            for rows in (0, outer.constant, 1, -1):
                moved = inner.plus(length_of(length[0]).times(rows))
                if self._are_within([moved], length, assume=False):
                    parts[position : position + 2] = outer.plus(Affine(constant=-rows)), moved
                    break
        return parts

    def _are_within(self, parts: list[Affine], lengths: list[Name], *, assume: bool) -> bool:
        domain = self.expressions.domain
        for part, length in zip(parts, lengths, strict=True):
            room = length_of(length).plus(Affine(constant=1), -1).plus(part, -1)
            if not domain.holds(part, assume=assume) or not domain.holds(room, assume=assume):
                return False
        return True

    def _strides(self, polynomial: Polynomial) -> set[Stride]:
        """The products of sizes that loop variables are multiplied with; `(n - 1) * m` has none."""
        found = _strides(polynomial)
        if found:
            return found
        for monomial in polynomial.terms:
            for size in monomial if len(monomial) == 2 else ():
                if not isinstance(size, Name) or not size.symbol:
                    continue
                parts = _divided(polynomial, [(size,)])
                if parts is not None and self._are_within(parts[1:], [size], assume=False):
                    return {(size,)}
        return found

    def _polynomial(self, node: Expression, *, wraps: bool = True) -> Polynomial | None:
        """The expression as a polynomial of loop variables and sizes; None where it is none.

        What it computes is equal to it modulo 2^width; without `wraps`, it is equal.
        """
        found = self.expressions.static(node)
        if found is not None:
            index = index_of(found)
            affine = None if index is None else index.affine
            return None if affine is None else Polynomial.of(affine)
        if isinstance(node, Cast) and _widens(node):
            longer = _width(node) > _width(node.operand) and not is_signed(node.operand)
            return self._polynomial(node.operand, wraps=wraps and not longer)
        if not isinstance(node, Binary) or node.operator not in ("+", "-", "*"):
            return None
        left = self._polynomial(node.left, wraps=wraps)
        right = self._polynomial(node.right, wraps=wraps)
        subtracts = node.operator == "-" and not is_signed(node)
        if left is None or right is None or (subtracts and not wraps):
            return None
        if node.operator == "*":
            return left.times(right)
        return left.plus(right, 1 if node.operator == "+" else -1)


def extents(chain: Sequence[Stride]) -> list[Name]:
    """The lengths of the inner dimensions, from the outermost of them: `chain` has its strides."""
    lengths: list[Name] = []
    for position, stride in enumerate(chain):
        inner = chain[position + 1] if position + 1 < len(chain) else ()
        rest = list(stride)
        for each in inner:
            rest.remove(each)
        lengths.append(rest[0])
    return lengths


def _width(node: Expression) -> int:
    return node.type.width if isinstance(node.type, IntegerType) else 0


def _widens(node: Expression) -> bool:
    """Whether this is a conversion that keeps all values that subscripts can have."""
    if not isinstance(node, Cast):
        return False
    source, target = node.operand.type, node.type
    if not isinstance(source, IntegerType) or not isinstance(target, IntegerType):
        return False
    if target.width == source.width:
        return not target.signed or target.width == LONG.width  # subscripts are of 64 bits
    return target.width > source.width


def _strides(polynomial: Polynomial) -> set[Stride]:
    """The products of sizes that loop variables are multiplied with."""
    found: set[Stride] = set()
    for monomial in polynomial.terms:
        sizes = tuple(each for each in monomial if isinstance(each, Name) and each.symbol)
        if sizes and len(monomial) - len(sizes) == 1:
            found.add(sizes)
    return found


def _chain(strides: set[Stride]) -> tuple[Stride, ...] | None:
    """The strides from the largest one, where each is one size times the next one."""
    ordered = sorted(strides, key=len, reverse=True)
    for position, stride in enumerate(ordered):
        inner = ordered[position + 1] if position + 1 < len(ordered) else ()
        rest = list(stride)
        for each in inner:
            if each not in rest:
                return None
            rest.remove(each)
        if len(rest) != 1:
            return None
    return tuple(ordered)


def _divided(polynomial: Polynomial, chain: Sequence[Stride]) -> list[Affine] | None:
    """The polynomial as a sum of affine multiples of the strides, and what is left."""
    parts = [Affine() for _ in range(len(chain) + 1)]
    for monomial, coefficient in polynomial.terms.items():
        for position, stride in enumerate((*chain, ())):
            rest = list(monomial)
            if all(_removed(rest, each) for each in stride) and len(rest) <= 1:
                term = Affine.of(rest[0]) if rest else Affine(constant=1)
                parts[position] = parts[position].plus(term, coefficient)
                break
        else:
            return None
    return parts


def _removed(terms: list[Term], term: Term) -> bool:
    if term not in terms:
        return False
    terms.remove(term)
    return True


def split(index: Expression, lengths: Sequence[Expression]) -> list[Expression]:
    """The subscripts of an element by its position, in rows of these lengths: `k / n`, `k % n`."""
    found: list[Expression] = []
    rest: Expression = Cast(index.place, LONG, index, explicit=False)
    for length in reversed(lengths):
        divisor = Cast(index.place, LONG, length, explicit=False)
        found.insert(0, Binary(index.place, LONG, "%", rest, divisor))
        rest = Binary(index.place, LONG, "/", rest, divisor)
    return [rest, *found]
