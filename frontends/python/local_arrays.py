"""Arrays that a function allocates: `np.empty`, `np.zeros` and their like, and temporaries."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..text.affine import Affine
from ..text.emitter import Emitter
from .element_types import ArrayType, ElementType, dtype, f64, i64, promoted
from .expressions import Expressions
from .functions import ALLOCATING, LIKE
from .nests import Nests
from .source import PythonSource
from .tables import TABLE
from .values import Constant, Kind, Scalar, element_of, literal
from .values import is_weak as is_python
from .views import ArrayValue, View

_SEQUENCE = ast.List | ast.Tuple
_ALLOCATING = (*ALLOCATING, TABLE)


class LocalArrays:
    """Allocates arrays; each lives as long as the block of statements that it is in."""

    def __init__(
        self,
        expressions: Expressions,
        source: PythonSource,
        emitter: Emitter[ast.AST],
        nests: Nests,
    ) -> None:
        self.expressions = expressions
        self.source = source
        self.emitter = emitter
        self.nests = nests
        self.returned: set[str] = set()
        self.returns: list[ArrayValue] = []

    def function(self, node: ast.expr) -> object:
        """The function of NumPy with which an expression allocates an array; None for all else."""
        if not isinstance(node, ast.Call):
            return None
        found = self.expressions.captured.resolve(node.func)
        is_list = found is np.array and bool(node.args) and isinstance(node.args[0], _SEQUENCE)
        return found if is_list else next((each for each in _ALLOCATING if each is found), None)

    def cell(self, name: str, element: ElementType, node: ast.AST) -> View:
        """A number in memory."""
        array = ArrayValue(self.emitter.unique(name), ArrayType(element, ()), ())
        self.emitter.allocate(self.emitter.blocks[-1], array.name, element.mlir, node)
        return View(array, (), ())

    def allocate(
        self, name: str, element: ElementType, extents: Sequence[Affine], node: ast.AST
    ) -> View:
        """An array; one that is `returned` is an argument in the text."""
        if name in self.returned and len(self.emitter.blocks) == 1:
            kind = ArrayType(element, ("",) * len(extents))
            array = ArrayValue(self.emitter.unique(name), kind, tuple(extents), returned=True)
            self.returns.append(array)
            return View.whole(array, extents)
        sizes = [self.nests.capacity(extent) for extent in extents]
        kind = ArrayType(element, tuple("" if e.terms else e.constant for e in sizes))
        array = ArrayValue(self.emitter.unique(name), kind, tuple(sizes))
        names = ", ".join(
            self.expressions.arithmetic.index_name(size, node) for size in sizes if size.terms
        )
        self.emitter.line(f"%{array.name} = memref.alloc({names}) : {array.type.mlir}", node)
        self.emitter.blocks[-1].releases.append(
            (f"memref.dealloc %{array.name} : {array.type.mlir}", node)
        )
        return View.whole(array, extents)

    def holding(self, name: str, node: ast.expr) -> View:
        """An array with the elements of an expression; raises SourceError."""
        extents = self.expressions.shape(node)
        point, loops = self.nests.variables(extents)
        with self.emitter.block() as body, self.expressions.at(point):
            value = self.expressions.arithmetic.scalar(self.expressions.value(node), node)
        view = self.allocate(name, value.element, extents, node)
        with self.emitter.block(body):
            self.emitter.line(f"affine.store {value.name}, {view.array.element(point)}", node)
        self.nests.around(body, loops, node)
        return view

    def named(self, name: str, node: ast.expr) -> View:
        """The array of a name, or of an argument; raises SourceError where it is another's."""
        if isinstance(node, ast.IfExp) and any(
            isinstance(each, ast.IfExp) or self.expressions.view(each) is not None
            for each in (node.body, node.orelse)
        ):
            raise self.source.error(
                node,
                "a name for one of two arrays, which a condition chooses",
                f"write ({ast.unparse(node)}).copy(), or np.where",
            )
        if self.expressions.gathers.is_view(node):
            spelled = ast.unparse(node)
            raise self.source.error(
                node,
                f"'{spelled}' is a view in NumPy, which the kernel does not know where it is",
                f"write {spelled}.copy(), or use it without a name",
            )
        return self.holding(name, node)

    def returning(self, node: ast.expr) -> View:
        """A returned array with the elements of an expression."""
        name = "result"
        self.returned.add(name)
        return self.holding(name, node)

    def create(self, name: str, node: ast.expr) -> View:
        """The array of a call such as `np.zeros(n)`; raises SourceError."""
        assert isinstance(node, ast.Call)
        function = self.function(node)
        if function is np.array or function is TABLE:
            return self._table(name, node, is_weak=function is TABLE)
        like = function in LIKE
        filled = function is np.full or function is np.full_like
        arguments = _arguments(node, ["shape", *(["value"] if filled else []), "dtype"])
        if arguments is None:
            raise self.source.error(
                node, "an array has a shape and a type here", "write np.zeros((n, m), dtype=f64)"
            )
        value = None
        if filled:
            value = self.expressions.value(arguments["value"])
        elif function is np.ones or function is np.ones_like:
            value = Constant(1)
        elif function is np.zeros or function is np.zeros_like:
            value = Constant(0)
        element = self._element(arguments, like=like)
        if element is None:
            assert value is not None
            element = Kind.of(value).element
        if like:
            extents = self.expressions.shape(arguments["shape"])
        else:
            extents = self._extents(arguments["shape"])
        view = self.allocate(name, element, extents, node)
        if value is not None:
            place = arguments.get("value", node)
            stored = self.expressions.arithmetic.convert(value, element, place).name
            self.nests.fill(view.array, extents, stored, node)
        return view

    def _table(self, name: str, node: ast.Call, *, is_weak: bool) -> View:
        """An array of numbers that are written out; raises SourceError."""
        arguments = _arguments(node, ["object", "dtype"])
        given = None if arguments is None else arguments.get("object")
        rows = [given] if given is not None else []
        extents: list[int] = []
        while rows and isinstance(rows[0], _SEQUENCE):
            parts = [each.elts if isinstance(each, _SEQUENCE) else [] for each in rows]
            extents.append(len(parts[0]))
            is_even = all(len(each) == extents[-1] for each in parts)
            rows = [each for part in parts for each in part] if is_even else []
        values = [self.expressions.value(each) for each in rows]
        kinds = [element_of(each) for each in values]
        element = promoted(*kinds) if kinds else None
        if "dtype" in (arguments or {}):
            element = self._element(arguments or {}, like=False)
        is_one = kinds == [element] * len(kinds) and element in (i64, f64)
        if element is None or (is_weak and not (is_one and all(map(is_python, values)))):
            raise self.source.error(
                node,
                "numbers that are not of one type, or not as many in each row",
                "write np.zeros(n), and store the elements",
            )
        view = self.allocate(name, element, [Affine(constant=each) for each in extents], node)
        for position, (value, each) in enumerate(zip(values, rows, strict=True)):
            place = [Affine(constant=int(i)) for i in np.unravel_index(position, extents)]
            stored = self.expressions.arithmetic.convert(value, element, each).name
            self.emitter.line(f"affine.store {stored}, {view.array.element(place)}", each)
        return replace(view, is_weak=is_weak)

    def _element(self, arguments: dict[str, ast.expr], *, like: bool) -> ElementType | None:
        """The type of the elements; None where it is that of the number that fills the array."""
        written = arguments.get("dtype")
        if written is not None:
            found = self.expressions.captured.resolve(written)
            element = dtype(found) or self._of_array(written)
            if element is None:
                raise self.source.error(written, "this is no type of elements", "write dtype=f64")
            return element
        if like:
            view = self.expressions.view(arguments["shape"])
            if view is None:
                raise self.source.error(arguments["shape"], "an array is expected here")
            return view.element_type
        return None if "value" in arguments else f64

    def _of_array(self, node: ast.expr) -> ElementType | None:
        """The type in `A.dtype`, or of `np.result_type(A, B)`."""
        if isinstance(node, ast.Call):
            views = [self.expressions.view(each) for each in node.args]
            found = [each.element_type for each in views if each is not None]
            if self.expressions.captured.resolve(node.func) is not np.result_type or not found:
                return None
            return promoted(*found) if len(found) == len(views) else None
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            view = self.expressions.view(node.value)
            return None if view is None else view.element_type
        return None

    def _extents(self, shape: ast.expr) -> tuple[Affine, ...]:
        known = self.expressions.extents(shape)
        if known is not None:
            return known
        written = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
        extents = tuple(self.expressions.affine(each, "an extent") for each in written)
        for each, extent in zip(written, extents, strict=True):
            if not extent.terms and extent.constant < 0:
                raise self.source.error(each, f"the extent {extent.constant} is negative")
        return extents

    def constant(self, value: int, element: ElementType) -> Scalar:
        """A number of an element type."""
        return Scalar(self.emitter.constant(literal(value, element), element.mlir), element)


def _arguments(node: ast.Call, names: list[str]) -> dict[str, ast.expr] | None:
    """The arguments of a call by name; None where there are others, or too few."""
    keywords = {"fill_value": "value", "a": "shape", "prototype": "shape"}
    given = dict(zip(names, node.args, strict=False))
    for each in node.keywords:
        name = keywords.get(each.arg or "", each.arg or "")
        if name not in names or name in given:
            return None
        given[name] = each.value
    return given if len(node.args) <= len(names) and set(names[:-1]) <= set(given) else None
