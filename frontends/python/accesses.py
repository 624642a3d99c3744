"""Accesses to arrays: subscripts and slices of Python as views."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...dialects.errors import SourceError
from ..text.affine import Affine, Index, Name
from ..text.emitter import Emitter
from .evaluator import Evaluator
from .functions import PARTS
from .requirements import Requirement, never
from .values import Scalar, Value
from .views import ONE, ZERO, ArrayValue, Range, View

_LARGEST = 1 << 62
"""Affine integers are below, so that two of them can be compared in 64 bits."""

_LARGEST_SIZE = 1 << 40
"""No size or loop variable is larger that is not multiplied by large constants."""


@dataclass(frozen=True)
class Read:
    """Elements that an expression of some rank loads; `subscripts` is None where they are data."""

    node: ast.expr
    array: ArrayValue
    rank: int
    subscripts: tuple[Affine, ...] | None


class Accesses:
    """Evaluates accesses.

    `row_major` tells whether all arguments are. `reads` has the elements that were loaded, `ranges`
    the bounds of the loops around, `conditions` what is not negative under the conditions around,
    `requirements` what slices need, `unwritten` the arrays that must keep their values, and why.
    """

    def __init__(self, expressions: Evaluator, emitter: Emitter[ast.AST]) -> None:
        self.expressions = expressions
        self.source = expressions.source
        self.emitter = emitter
        self.row_major = True
        self.extents: dict[str, Affine] = {}
        self.ranges: dict[Name, tuple[Index, Index]] = {}
        self.conditions: list[Affine] = []
        self.requirements: list[Requirement] = []
        self.reads: list[Read] = []
        self.unwritten: list[tuple[ArrayValue, SourceError]] = []

    def argument(self, array: ArrayValue) -> View:
        """An argument as a whole; equal names are equal extents."""
        return View.whole(array, [self._extent(array, d) for d in range(array.rank)])

    def _extent(self, array: ArrayValue, dimension: int) -> Affine:
        extent = array.type.extents[dimension]
        if isinstance(extent, int):
            return Affine(constant=extent)
        name = Name(f"{array.name}.shape.{dimension}", symbol=True)
        return self.extents.setdefault(extent, Affine.of(name))

    def dimensions(self, text: str, arrays: Sequence[ArrayValue]) -> list[str]:
        """What defines the extents that a text uses and that are not arguments themselves."""
        used = set(re.findall(r"%([\w$.]+)", text))
        lines: list[str] = []
        for array in arrays:
            for dimension in range(array.rank):
                name = f"{array.name}.shape.{dimension}"
                if name in used:
                    position = self.emitter.constant(str(dimension), "index")
                    lines.append(
                        f"%{name} = memref.dim %{array.name}, {position} : {array.type.mlir}"
                    )
        return lines

    def load(self, node: ast.expr, view: View, point: Sequence[Affine]) -> Scalar:
        """The element of a view at a point of the result that it is broadcast to."""
        what = f"'{ast.unparse(node)}' is data"
        self.emitter.require_operations(
            node, what, "bounds, and subscripts of what is written, may not depend on data"
        )
        subscripts = view.at(point)
        self.reads.append(Read(node, view.array, view.rank, subscripts))
        return self.loaded(f"affine.load {view.array.element(subscripts)}", view, node)

    def loaded(self, text: str, view: View, node: ast.AST) -> Scalar:
        """The element of a view that an operation loads from its array."""
        name, kind = self.emitter.operation(text, node), view.array.type.element
        element = Scalar(name, kind, view.is_weak)
        arithmetic = self.expressions.arithmetic
        return arithmetic.part(view.part, element, node) if view.part else element

    def stored(self, value: Value, view: View, node: ast.expr, place: ast.AST, load: str) -> str:
        """What is stored in the array where a view, a target, gets a value; raises SourceError.

        A part of a complex number leaves the other one, of the number that `load` loads.
        """
        if view.may_be_copy:
            spelled = ast.unparse(node)
            raise self.source.error(
                node, f"'{spelled}' may be a copy in NumPy", "store into the array itself"
            )
        if view.is_read_only:
            spelled = ast.unparse(node)
            raise self.source.error(
                node, f"'{spelled}' is read-only in NumPy", "store into the array itself"
            )
        arithmetic, whole = self.expressions.arithmetic, view.array.type.element
        name = arithmetic.stored(value, view.element_type, view.array.name, place)
        if not view.part:
            return name
        old = Scalar(self.emitter.operation(load, node), whole)
        parts = {part: arithmetic.part(part, old, node) for part in PARTS.values()}
        parts[view.part] = Scalar(name, whole.part)
        return arithmetic.complex_number(parts["re"], parts["im"], whole, node).name

    def named(self, node: ast.expr) -> View | None:
        """The view that an expression is, to get a name."""
        view = self.expressions.view(node)
        if view is not None and view.may_be_copy:
            spelled = ast.unparse(node)
            what = f"'{spelled}' may be a copy in NumPy, and the array gets other values"
            error = self.source.error(node, what, f"write {spelled}.copy()")
            self.unwritten.append((view.array, error))
        return view

    def check_unwritten(self, text: str) -> None:
        """Raises SourceError where a text stores into an array whose copy has a name."""
        for array, error in self.unwritten:
            if re.search(rf"\.store [^\n]*, %{re.escape(array.name)}\[", text):
                raise error

    def indexed(self, view: View, node: ast.Subscript) -> View:
        """A view behind subscripts; raises SourceError."""
        written = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = sum(map(self._is_new_axis, written))
        gaps = [each for each in written if isinstance(each, ast.Constant) and each.value is ...]
        given = len(written) - new - len(gaps)
        if given > view.rank or len(gaps) > 1:
            count = f"{view.rank} dimension{'' if view.rank == 1 else 's'}"
            raise self.source.error(node, f"'{ast.unparse(node.value)}' has {count}, not {given}")
        missing: list[ast.expr] = [ast.Slice()] * (view.rank - given)
        place = written.index(gaps[0]) if gaps else len(written)
        written = [*written[:place], *missing, *written[place + len(gaps) :]]
        items: list[Affine | Range | None] = []
        axis = 0
        for each in written:
            if self._is_new_axis(each):
                items.append(None)
                continue
            extent = view.extents[axis]
            axis += 1
            if isinstance(each, ast.Slice):
                items.append(self._range(each, extent))
            else:
                items.append(self._subscript(each, extent))
        return view.indexed(items)

    def _is_new_axis(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return node.value is None
        return self.expressions.captured.resolve(node) is None  # np.newaxis

    def _subscript(self, node: ast.expr, extent: Affine) -> Affine:
        if self.expressions.shape(node):
            raise self.source.error(
                node,
                "arrays of subscripts and masks are not supported",
                "write a loop, or np.where(condition, x, y) for a mask",
            )
        return self._from_end(self.expressions.affine(node, "a subscript"), extent)

    @staticmethod
    def _from_end(position: Affine, extent: Affine) -> Affine:
        """A negative literal counts from the end, as in NumPy."""
        return extent.plus(position) if not position.terms and position.constant < 0 else position

    def _range(self, node: ast.Slice, extent: Affine) -> Range:
        step = 1
        if node.step is not None:
            written = self.expressions.affine(node.step, "the step of a slice")
            step = written.constant
            if written.terms or step == 0:
                raise self.source.error(
                    node.step, "the step of a slice must be a constant other than 0"
                )
        last = extent.plus(Affine(constant=-1))
        defaults = (ZERO, extent) if step > 0 else (last, Affine(constant=-1))
        limits = (ZERO, extent) if step > 0 else (Affine(constant=-1), last)
        start, stop = (
            default if each is None else self._bound(each, extent, limits)
            for each, default in zip((node.lower, node.upper), defaults, strict=True)
        )
        self._require(node, extent, start, stop, step)
        return Range.of(start, stop, step)

    def _require(
        self, node: ast.Slice, extent: Affine, start: Affine, stop: Affine, step: int
    ) -> None:
        """Refuses bounds that turn out negative, where NumPy would count from the end."""
        for written, bound in ((node.lower, start), (node.upper, stop)):
            if written is None or not bound.terms or (step > 0 and written is node.lower):
                continue  # loops that run from a negative index leave the array, which is refused
            refused = [bound.times(-1).plus(ONE, -1)]
            if step > 0:
                refused += [start, extent.plus(bound).plus(start, -1).plus(ONE, -1)]
            error = self.source.error(
                written,
                f"the bound '{ast.unparse(written)}' of this slice is negative for these sizes, "
                "and NumPy counts from the end then",
                "write a literal such as -1 to count from the end",
            )
            self.refuse(refused, error)

    def refuse(self, parts: Iterable[Affine], error: SourceError) -> None:
        """Refuses sizes for which none of the parts is negative, under the conditions around."""
        requirement = never([*parts, *self.conditions], self.ranges, error)
        if requirement is not None and requirement not in self.requirements:
            self.requirements.append(requirement)

    def require_fitting(self, value: Index, node: ast.AST) -> None:
        """Refuses sizes with which an integer, that is exact in Python, leaves 64 bits."""
        for part in value.parts:
            size = sum(abs(factor) for _, factor in part.terms) * _LARGEST_SIZE
            if not part.terms or size + abs(part.constant) < _LARGEST:
                continue
            error = self.source.error(
                node, "this integer does not fit into 64 bits for these sizes", "write f64(...)"
            )
            for sign in (1, -1):
                beyond = part.times(sign).plus(Affine(constant=-_LARGEST))
                self.refuse([beyond], error)

    def _bound(self, node: ast.expr, extent: Affine, limits: tuple[Affine, Affine]) -> Affine:
        """A bound of a slice; one that is a literal beyond a constant extent is cut off."""
        bound = self._from_end(self.expressions.affine(node, "the bound of a slice"), extent)
        least, most = limits
        if not bound.terms and not most.terms:
            return Affine(constant=max(min(bound.constant, most.constant), least.constant))
        return bound

    def size(self, extents: tuple[Affine, ...], node: ast.Subscript) -> Index:
        """An entry of `A.shape`."""
        position = self.expressions.affine(node.slice, "which extent")
        if position.terms or not -len(extents) <= position.constant < len(extents):
            raise self.source.error(node, f"the array has {len(extents)} dimensions")
        return Index((extents[position.constant],))
