"""Calls that give an array another shape: `reshape`, `ravel`, `squeeze`, `expand_dims`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from ..text.affine import Affine
from .accesses import Accesses
from .array_formulas import literal_of
from .evaluator import Evaluator
from .reshapes import NoReshape, reshaped
from .views import ONE, ZERO, ArrayValue, Range, View, same, spelled

RESHAPES = ("reshape", "ravel", "squeeze", "expand_dims")
"""Functions of NumPy that give a view of another shape."""


class ReshapeForms:
    """Gives the views; those that NumPy may copy are read, but have no name and get no values."""

    def __init__(self, expressions: Evaluator, accesses: Accesses) -> None:
        self.expressions = expressions
        self.accesses = accesses
        self.source = expressions.source

    def view(
        self, name: str, base: View, operands: Sequence[ast.expr], node: ast.Call
    ) -> View | None:
        """The view that a call gives; None where its arguments are others. Raises SourceError.

        The first operand is the array.
        """
        operand, *arguments = operands
        if name in ("squeeze", "expand_dims"):
            axes = self._axes(arguments, node)
            if axes is None:
                return None
            return self._squeezed(base, axes, node) if name == "squeeze" else _expanded(base, axes)
        if node.keywords or (name == "ravel" and arguments):
            return None
        shape = [Affine(constant=-1)] if name == "ravel" else self._shape(arguments)
        if not shape:
            return None
        try:
            view, equations = reshaped(base, shape)
        except NoReshape as error:
            raise self.source.error(node, error.reason, error.hint) from None
        for before, after in equations:
            difference = before.plus(after, -1)
            said = f"{spelled(before)} elements become {spelled(after)}"
            if not difference.terms:
                raise self.source.error(node, f"{said}, which are not as many")
            self._require_zero(difference, f"{said}, which are not as many for these sizes", node)
        is_shared = self._has_name(base.array, operand)
        keeps_memory = name != "ravel" and _keeps_memory(view)  # What `ravel` gives has no gaps.
        is_copy = is_shared and not (keeps_memory or self._is_contiguous(base))
        return replace(view, may_be_copy=base.may_be_copy or is_copy)

    def _require_zero(self, value: Affine, message: str, node: ast.Call) -> None:
        """Refuses sizes for which an expression is not zero."""
        for sign in (1, -1):
            self.accesses.refuse(
                [value.times(sign).plus(ONE, -1)], self.source.error(node, message)
            )

    def _shape(self, arguments: Sequence[ast.expr]) -> list[Affine]:
        """The extents that are written; `*A.shape` are several."""
        if len(arguments) == 1 and isinstance(arguments[0], ast.Tuple | ast.List):
            arguments = arguments[0].elts
        extents: list[Affine] = []
        for each in arguments:
            inner = each.value if isinstance(each, ast.Starred) else each
            known = self.expressions.extents(inner)
            if known is None and inner is not each:
                return []
            extents += known or [self.expressions.affine(inner, "an extent")]
        return extents

    def _axes(self, arguments: Sequence[ast.expr], node: ast.Call) -> list[int] | None:
        """The axes of a call, none where none are written; None for others than literals."""
        written = [*arguments, *(each.value for each in node.keywords if each.arg == "axis")]
        if len(written) != len(arguments) + len(node.keywords) or len(written) > 1:
            return None
        if written and isinstance(written[0], ast.Tuple):
            written = written[0].elts
        found = [literal_of(each) for each in written]
        axes = [each for each in found if isinstance(each, int)]
        return axes if len(axes) == len(found) else None

    def _squeezed(self, base: View, axes: Sequence[int], node: ast.Call) -> View | None:
        if not all(-base.rank <= axis < base.rank for axis in axes):
            return None
        dropped = {axis % base.rank for axis in axes}
        for axis, extent in enumerate(base.extents):
            if axes and axis in dropped and extent != ONE:
                said = f"the extent {spelled(extent)} of an axis is not 1"
                if not extent.terms:
                    raise self.source.error(node, said)
                self._require_zero(extent.plus(ONE, -1), f"{said} for these sizes", node)
            elif not axes and extent == ONE:
                dropped.add(axis)
            elif not axes and extent.terms:
                said = f"the extent {spelled(extent)} is 1, and the result would lose an axis"
                one = extent.plus(ONE, -1)
                self.accesses.refuse([one, one.times(-1)], self.source.error(node, said))
        items = [
            ZERO if axis in dropped else Range(ZERO, 1, extent)
            for axis, extent in enumerate(base.extents)
        ]
        return base.indexed(items)

    def _has_name(self, array: ArrayValue, node: ast.expr) -> bool:
        """Whether a name in an expression means the array that it gives: none does in `A + 1`."""
        names = (
            self.expressions.view(each) for each in ast.walk(node) if isinstance(each, ast.Name)
        )
        return any(each is not None and each.array == array for each in names)

    def _is_contiguous(self, view: View) -> bool:
        """Whether NumPy has the elements behind each other: a row, rows, or all of an array."""
        accesses = self.accesses
        array = view.array
        if view.part or (array.sizes and array.rank > 1 and not accesses.row_major):
            return False  # NumPy's new arrays are in the order of those that they are made of
        if view.reshaped is not None:
            extents, inner = view.reshaped.extents, view.reshaped.view
            if not (_keeps_memory(view.reshaped.view) or self._is_contiguous(inner)):
                return False
        else:
            extents = array.sizes or accesses.argument(array).extents
        axis = 0
        for each, extent in zip(view.subscripts, extents, strict=True):
            if each.axis is None and axis == 0:
                continue
            while axis < view.rank and view.extents[axis] == ONE and each.axis != axis:
                axis += 1
            if each.axis != axis or each.step != 1:
                return False
            is_first = all(extent == ONE for extent in view.extents[:axis])
            if not is_first and not same(view.extents[axis], extent):
                return False
            axis += 1
        return True


def _expanded(base: View, axes: Sequence[int]) -> View | None:
    rank = base.rank + len(axes)
    new = {axis % rank for axis in axes if -rank <= axis < rank}
    if not axes or len(new) != len(axes):
        return None
    old = iter(base.extents)
    items = [None if axis in new else Range(ZERO, 1, next(old)) for axis in range(rank)]
    return base.indexed(items)


def _keeps_memory(view: View) -> bool:
    """Whether a view differs from that before by axes of extent 1 alone."""
    if view.reshaped is None:
        return False
    pairs = zip(view.reshaped.old, view.reshaped.new, strict=True)
    return all(sum(e != ONE for e in old) < 2 > sum(e != ONE for e in new) for old, new in pairs)
