"""Loop nests over the elements of arrays."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..text.affine import Affine, Index, Name, Quotient, Term, bound_text
from ..text.emitter import Block, Emitter
from .views import ONE, ZERO, ArrayValue, View


@dataclass(frozen=True)
class ElementLoop:
    """A loop over an axis: `extent` iterations from `start` on."""

    name: Name
    start: Affine
    extent: Affine


Nest = Sequence[ElementLoop]


class Nests:
    """Prints loop nests; `ranges` has the bounds of the loops around."""

    def __init__(
        self, emitter: Emitter[ast.AST], taken: set[str], ranges: Mapping[Name, tuple[Index, Index]]
    ) -> None:
        self.emitter = emitter
        self.taken = taken
        self.ranges = ranges

    def over(self, view: View) -> tuple[tuple[Affine, ...], Nest]:
        """A point of a view, and loops whose variables are subscripts of the array."""
        starts = [ZERO] * view.rank
        for each in view.subscripts:
            if each.axis is not None and each.step == 1:
                starts[each.axis] = each.start
        return self.variables(view.extents, starts)

    def variables(
        self, extents: Sequence[Affine], starts: Sequence[Affine] | None = None
    ) -> tuple[tuple[Affine, ...], Nest]:
        """A point of a result, and the loops that it needs: none along an extent of 1."""
        point: list[Affine] = []
        loops: list[ElementLoop] = []
        number = 0
        for extent, start in zip(extents, starts or [ZERO] * len(extents), strict=True):
            if extent == ONE:
                point.append(ZERO)
                continue
            while (text := f"i{number}") in self.taken:
                number += 1
            number += 1
            name = Name(text, symbol=False)
            loops.append(ElementLoop(name, start, extent))
            point.append(Affine.of(name).plus(start, -1))
        return tuple(point), loops

    def around(self, body: Block[ast.AST], loops: Nest, node: ast.AST) -> None:
        """Prints loops around a block."""
        for loop in reversed(loops):
            lower, upper = Index((loop.start,)), Index((loop.start.plus(loop.extent),))
            bounds = f"{bound_text(lower, 'max')} to {bound_text(upper, 'min')}"
            with self.emitter.block() as outer:
                self.emitter.nest(f"affine.for %{loop.name.text} = {bounds}", body, node)
            body = outer
        self.emitter.blocks[-1].lines += body.lines

    def fill(self, array: ArrayValue, extents: Sequence[Affine], value: str, node: ast.AST) -> None:
        """Stores a number in all elements."""
        point, loops = self.variables(extents)
        with self.emitter.block() as body:
            self.emitter.line(f"affine.store {value}, {array.element(point)}", node)
        self.around(body, loops, node)

    def capacity(self, extent: Affine) -> Affine:
        """A bound of an extent over all iterations of the loops around, never negative."""
        result = extent
        while True:
            inner = [name for name in result.names() if name in self.ranges]
            if not inner:
                break
            innermost = max(inner, key=list(self.ranges).index)
            result = self._largest(result, innermost)
        terms = (_upwards(term, factor) for term, factor in result.terms)
        positive = tuple((term, factor) for term, factor in terms if factor > 0)
        return Affine(positive, max(result.constant, 0))

    def _largest(self, value: Affine, name: Name) -> Affine:
        """A bound of an expression in which a loop variable does not occur."""
        lower, upper = self.ranges[name]
        total = Affine(constant=value.constant)
        for term, factor in value.terms:
            if term == name:
                end = upper.parts[0].plus(ONE, -1) if factor > 0 else lower.parts[0]
                total = total.plus(end, factor)
            elif isinstance(term, Quotient) and name in term.dividend.names():
                total = total.plus(self._quotient(term, name, factor > 0), factor)
            else:
                total = total.plus(Affine.of(term), factor)
        return total

    def _quotient(self, term: Quotient, name: Name, most: bool) -> Affine:
        if term.operator == "mod":
            return Affine(constant=term.divisor - 1 if most else 0)
        dividend = term.dividend
        bound = (
            self._largest(dividend, name)
            if most
            else self._largest(dividend.times(-1), name).times(-1)
        )
        return Affine.of(Quotient(term.operator, bound, term.divisor))


def _upwards(term: Term, factor: int) -> tuple[Term, int]:
    """A quotient that is subtracted as one that is added: -(-n // 2) is n / 2 rounded up."""
    if factor > 0 or not isinstance(term, Quotient) or term.operator == "mod":
        return term, factor
    operator = "ceildiv" if term.operator == "floordiv" else "floordiv"
    return Quotient(operator, term.dividend.times(-1), term.divisor), -factor
