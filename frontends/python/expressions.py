"""Expressions of Python as values and conditions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from types import ModuleType
from typing import TypeAlias, cast

import numpy as np

from ..text.affine import Affine, Index
from ..text.conditions import Condition
from ..text.emitter import Emitter, NotAffine
from ..text.guards import Guards
from .accesses import Accesses
from .arithmetic import Arithmetic, index_of
from .array_formulas import literal_of
from .calls import Calls
from .captured import MISSING, SEQUENCES, Captured
from .choices import Choices
from .element_types import element_type
from .functions import PARTS, known
from .gathers import Gathers
from .shapes import Shapes
from .source import PythonSource
from .values import Constant, Number, Scalar, Value, element_of, type_name
from .variables import Variable
from .view_forms import ViewForms
from .views import View

Meaning: TypeAlias = "Value | View"


class Expressions:
    """Evaluates expressions; emits the operations that they need."""

    def __init__(
        self,
        source: PythonSource,
        captured: Captured,
        emitter: Emitter[ast.AST],
        variables: Mapping[ast.Name, Variable],
    ) -> None:
        self.source = source
        self.captured = captured
        self.emitter = emitter
        self.variables = dict(variables)
        self.names: dict[str, Meaning] = {}
        self.truths: set[str] = set()
        self.values: dict[Variable, Meaning] = {}
        self.left_loops: set[str] = set()
        self.computed: dict[ast.expr, Meaning] = {}
        self.arithmetic = Arithmetic(emitter, source)
        self.calls = Calls(self)
        self.choices = Choices(self)
        self.guards: Guards[ast.AST] = Guards(emitter)
        self.accesses = Accesses(self, emitter)
        self.gathers = Gathers(self, self.accesses)
        self.view_forms = ViewForms(self, self.accesses)
        copied = self.view_forms.copied
        gathered = self.gathers.shape
        self.shapes = Shapes(source, captured, self.view, copied, gathered, self.computed)
        self._point: tuple[Affine, ...] = ()

    @property
    def point(self) -> tuple[Affine, ...]:
        """Where values are elements, of the result that all is broadcast to."""
        return self._point

    @contextmanager
    def at(self, point: tuple[Affine, ...]) -> Generator[None]:
        """Meanwhile, values are the elements at a point of the result that all is broadcast to."""
        before, self._point = self._point, point
        try:
            yield
        finally:
            self._point = before

    # Affine expressions

    def index(self, node: ast.expr, what: str) -> Index:
        """An affine integer; raises SourceError where it is none."""
        try:
            with self.emitter.affine_only():
                value = self.value(node)
        except NotAffine as error:
            message = f"{what} must be affine in loop variables and sizes, but {error.reason}"
            raise self.source.error(error.node, message, error.hint) from None
        index = None if element_of(value).is_truth else index_of(value)
        if index is None:
            raise self.source.error(node, f"{what} must be an integer, not {type_name(value)}")
        return index

    def affine(self, node: ast.expr, what: str) -> Affine:
        """An affine expression without minimum or maximum; raises SourceError."""
        affine = self.index(node, what).affine
        if affine is None:
            raise self.source.error(node, f"{what} must be affine, not a minimum or maximum")
        return affine

    def static(self, node: ast.expr) -> Constant | Index | None:
        """A constant or an affine integer, or None."""
        try:
            with self.emitter.affine_only():
                value = self.value(node)
        except NotAffine:
            return None
        return None if isinstance(value, Scalar) else value

    # Values

    def value(self, node: ast.expr) -> Value:
        """The value of an expression, or its element where it is an array; raises SourceError.

        Pieces that are `computed` already are not evaluated again.
        """
        known = self.computed.get(node)
        if known is not None and not isinstance(known, View):
            return self._operation_result(known, node)
        view = self.view(node)
        if view is not None:
            return self._element(view, node)
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, int | float | complex):
                raise self.source.error(node, f"{node.value!r} is not a number")
            value = np.bool_(node.value) if isinstance(node.value, bool) else node.value
            return Constant(cast(Number, value))
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.BinOp):
            # Two truth values stay one in NumPy: True + True is True; in Python, it is 2.
            parts, bitwise = (node.left, node.right), isinstance(node.op, _BITWISE)
            truths = all(map(self.is_truth, parts))
            if truths and not bitwise and not all(map(self._is_of_numpy, parts)):
                raise self.source.error(
                    node, "arithmetic on truth values alone", "write `1 if ... else 0`, or & and |"
                )
            operand = self.value if truths else self.number
            left, right = operand(node.left), operand(node.right)
            result = self.arithmetic.binary(type(node.op), left, right, node)
            if isinstance(result, Index):
                self.accesses.require_fitting(result, node)
            return result
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, ast.IfExp):
            condition = self.condition(node.test)
            return self.choose(
                condition, lambda: self.value(node.body), lambda: self.value(node.orelse), node
            )
        if isinstance(node, ast.Call):
            copied = self.view_forms.copied(node)
            return self.calls.call(node) if copied is None else self.value(copied)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.BoolOp) and not self.is_truth(node):
            return self.value(_operand(node))
        if isinstance(node, ast.Compare | ast.BoolOp):
            return self.truth_value(node)
        if isinstance(node, ast.List | ast.Tuple):
            raise self.source.error(
                node, "lists and tuples are not supported here", "write an array: np.zeros(n)"
            )
        if isinstance(node, ast.JoinedStr):
            raise self.source.error(
                node, "a kernel has no text", "make the text outside of the kernel"
            )
        if isinstance(node, ast.NamedExpr):
            reason = f"'{node.target.id}' is assigned where it is not always, or read before"
            raise self.source.error(node, reason, "assign it in a statement of its own")
        raise self.source.error(
            node, "this expression is not supported", "kernels compute with numbers and arrays"
        )

    def number(self, node: ast.expr) -> Value:
        """The value of an expression, 1 or 0 for a truth value."""
        is_form = is_truth(node) or (isinstance(node, ast.Name) and not self._is_of_numpy(node))
        if node in self.computed or not is_form or not self.is_truth(node):
            return self.value(node)
        one, other = Constant(1), Constant(0)
        return self.choose(self.condition(node), lambda: one, lambda: other, node)

    def is_truth(self, node: ast.expr) -> bool:
        """Whether an expression is a truth value, by its form or its type."""
        if isinstance(node, ast.BoolOp):
            return all(
                (isinstance(each, ast.Name) and each.id in self.truths) or self.is_truth(each)
                for each in node.values
            )
        if is_truth(node):
            return True
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, _BITWISE) and all(
                map(self.is_truth, (node.left, node.right))
            )
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Invert) and self.is_truth(node.operand)
        if isinstance(node, ast.Call):
            function = known(self.captured.resolve(node.func))
            return function is not None and function.kind in ("class", "logical")
        view = self.view(node)
        if view is not None:
            return view.element_type.is_truth
        variable = self.variables.get(node) if isinstance(node, ast.Name) else None
        value = None if variable is None else self.values.get(variable)
        kind = None if variable is None or variable.kind is None else variable.kind.element
        if isinstance(value, Constant | Scalar):
            kind = value.element
        return kind is not None and kind.is_truth

    def _is_of_numpy(self, node: ast.expr) -> bool:
        """Whether an expression is an array or an element of one."""
        return bool(self.shape(node)) or self.view(node) is not None

    def truth_value(self, node: ast.expr) -> Value:
        """A truth value as one; raises SourceError."""
        one, other = (Constant(cast(Number, np.bool_(each))) for each in (True, False))
        return self.choose(self.condition(node), lambda: one, lambda: other, node)

    def _operation_result(self, value: Value, node: ast.expr) -> Value:
        if isinstance(value, Scalar):
            self.emitter.require_operations(node, f"'{ast.unparse(node)}' is data")
        return value

    def condition(self, node: ast.expr) -> Condition:
        """A condition, without emitting anything; raises SourceError."""
        return self.choices.condition(node)

    def choose(
        self,
        condition: Condition,
        one: Callable[[], Value],
        other: Callable[[], Value],
        node: ast.AST,
    ) -> Value:
        """The value of a conditional expression; see `Choices.choose`."""
        return self.choices.choose(condition, one, other, node)

    def truth_of_call(self, node: ast.Call) -> str:
        """The truth value of a call such as `isnan(x)`."""
        return self.calls.truth(node)

    # Arrays

    def view(self, node: ast.expr) -> View | None:
        """The view that an expression is; None for all else."""
        computed = self.computed.get(node)
        if computed is not None:
            return computed if isinstance(computed, View) else None
        if isinstance(node, ast.Name):
            found = self.meaning(node)
            return found if isinstance(found, View) else None
        if isinstance(node, ast.Subscript):
            if self.gathers.base(node) is not None:
                return None
            base = self.view(node.value)
            return None if base is None else self.accesses.indexed(base, node)
        return self.view_forms.of(node)

    def shape(self, node: ast.expr) -> tuple[Affine, ...]:
        """The extents of an expression; none for a number."""
        return self.shapes.of(node)

    def _element(self, view: View, node: ast.expr) -> Value:
        if view.rank > len(self._point):
            spelled, subscripts = ast.unparse(node), ", ".join("ijklmn"[: view.rank])
            raise self.source.error(
                node,
                f"'{spelled}' is an array of {view.rank} dimension{'s'[: view.rank - 1]} here",
                f"write a loop over its elements, such as {spelled}[{subscripts}]",
            )
        return self.accesses.load(node, view, self._point)

    def length(self, node: ast.Call) -> Value:
        """The first extent of the array argument of a call."""
        extents = self.shape(node.args[0])
        found = self.captured.resolve(node.args[0])
        if not extents and isinstance(found, SEQUENCES):
            return Constant(len(cast("list[object]", found)))
        if not extents:
            raise self.source.error(node, "'len' takes an array here")
        return Index(extents[:1])

    def outer(self, node: ast.Call) -> Value:
        """The element of an outer product."""
        if len(self._point) < 2 or any(len(self.shape(each)) != 1 for each in node.args):
            raise self.source.error(node, "'outer' takes two arrays of one dimension here")
        with self.at(self._point[-2:-1]):
            left = self.value(node.args[0])
        with self.at(self._point[-1:]):
            right = self.value(node.args[1])
        return self.arithmetic.binary(ast.Mult, left, right, node)

    def extents(self, node: ast.expr) -> tuple[Affine, ...] | None:
        """The extents where a piece is `A.shape`, some of it, or `np.shape(A)`."""
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            every = self.extents(node.value)
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            written = [each for each in parts if each is not None]
            bounds = [number for each in written if isinstance(number := literal_of(each), int)]
            if every is None or len(bounds) < len(written):
                return None
            return every[slice(*(None if each is None else bounds.pop(0) for each in parts))]
        array = node.value if isinstance(node, ast.Attribute) and node.attr == "shape" else None
        if isinstance(node, ast.Call) and self.captured.resolve(node.func) is np.shape:
            array = node.args[0] if len(node.args) == 1 and not node.keywords else None
        view = None if array is None else self.view(array)
        return None if view is None else view.extents

    def meaning(self, node: ast.Name) -> Meaning | None:
        """What a name means, where that is an array or known before the kernel runs."""
        variable = self.variables.get(node)
        return self.names.get(node.id) if variable is None else self.values.get(variable)

    def is_local(self, node: ast.expr) -> bool:
        """Whether a name is an argument or a variable of the function."""
        return isinstance(node, ast.Name) and (node in self.variables or node.id in self.names)

    def _name(self, node: ast.Name) -> Value:
        variable = self.variables.get(node)
        if variable is not None:
            return self.read(variable, node)
        found = self.names.get(node.id)
        assert not isinstance(found, View)
        if found is not None:
            if isinstance(found, Scalar):
                self.emitter.require_operations(node, f"'{node.id}' is {type_name(found)}")
            return found
        if node.id in self.left_loops:
            raise self.source.error(
                node,
                f"'{node.id}' is used behind its loop",
                "use the bound of the loop, or another variable",
            )
        return self._captured(node, self.captured.value(node.id))

    def read(self, variable: Variable, node: ast.AST) -> Value:
        """The value of a local variable."""
        value = self.values.get(variable)
        if value is not None:
            assert not isinstance(value, View)
            if isinstance(value, Scalar):
                self.emitter.require_operations(
                    node, f"'{variable.name}' is {type_name(value)} computed by the kernel"
                )
            return value
        self.emitter.require_operations(
            node,
            f"'{variable.name}' is assigned more than once",
            f"write '{variable.name}' in terms of loop variables",
        )
        kind = variable.kind
        assert kind is not None, "definite assignment"
        text = f"affine.load %{variable.cell}[] : memref<{kind.element.mlir}>"
        variable.constants_read |= kind.constants is not None
        name = self.emitter.operation(text, node)
        return Scalar(name, kind.element, kind.weak, kind.constants)

    def _captured(self, node: ast.expr, found: object) -> Value:
        spelled = ast.unparse(node)
        if found is MISSING:
            raise self.source.error(
                node,
                f"'{spelled}' is not defined",
                "make it an argument, or define it before the kernel",
            )
        if isinstance(found, bool):
            found = np.bool_(found)
        if type(found) not in (int, float, complex) and element_type(type(found)) is None:
            raise self.source.error(
                node,
                f"'{spelled}' is {_article(found)}; only numbers are taken from outside",
                "pass it as an argument",
            )
        constant = self.arithmetic.constant(found, node)
        self.captured.numbers[spelled] = constant.value
        return constant

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr in PARTS and not isinstance(self.captured.resolve(node.value), ModuleType):
            value = self.value(node.value)
            if isinstance(value, Constant):
                return self.arithmetic.fold(attrgetter(node.attr), (value,), node)
            self.emitter.require_operations(node, f"'{ast.unparse(node)}' is not")
            return self.calls.part(PARTS[node.attr], value, node)
        view = self.view(node.value)
        if view is not None and node.attr == "ndim":
            return Constant(view.rank)
        if view is not None and node.attr == "size":
            size: Value = Constant(1)
            for extent in view.extents:
                size = self.arithmetic.binary(ast.Mult, size, Index((extent,)), node)
            return size
        if view is not None:
            hint = f"write {ast.unparse(node)}[0]" if node.attr == "shape" else None
            raise self.source.error(node, f"'{ast.unparse(node)}' is not a number", hint)
        return self._captured(node, self.captured.resolve(node))

    def is_data(self, node: ast.expr) -> bool:
        """Whether a name or an element is a number that the kernel computes or reads."""
        if isinstance(node, ast.Subscript):
            return self.view(node.value) is not None
        if not isinstance(node, ast.Name):
            return False
        variable = self.variables.get(node)
        if variable is None:
            return isinstance(self.names.get(node.id), Scalar)
        return isinstance(self.values.get(variable), Scalar | None)

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.gathers.base(node)
        if base is not None:
            return self.gathers.element(node, base)
        extents = self.extents(node.value)
        if extents is not None:
            return self.accesses.size(extents, node)
        found = self.captured.resolve(node)
        if found is not MISSING and not isinstance(found, SEQUENCES):
            return self._captured(node, found)
        raise self.no_array(node)

    def no_array(self, node: ast.Subscript) -> Exception:
        """The error for subscripts of what is no array."""
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            base = base.value
        spelled = ast.unparse(base)
        if isinstance(self.captured.resolve(base), SEQUENCES):
            return self.source.error(
                node,
                f"'{spelled}' is from outside of the kernel: its elements are read at constant "
                "subscripts only",
                "pass it as an argument",
            )
        hint = f'annotate it: {spelled}: f64["N"]' if isinstance(base, ast.Name) else None
        return self.source.error(base, f"'{spelled}' is no array argument", hint)

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.truth_value(node)
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return self.arithmetic.negate(value, node)
        if isinstance(node.op, ast.Invert) and element_of(value).is_truth:
            return self.arithmetic.binary(ast.BitXor, value, Constant(cast(Number, np.True_)), node)
        if isinstance(node.op, ast.Invert):
            element = element_of(value)
            ones = np.iinfo(element.numpy).max if element.is_unsigned else -1
            return self.arithmetic.binary(ast.BitXor, value, Constant(int(ones)), node)
        return value


def _article(found: object) -> str:
    if isinstance(found, ModuleType):
        return "a module"
    return f"an object of type {type(found).__name__}"


def is_truth(node: ast.expr) -> bool:
    """Whether an expression is a truth value by its form."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _operand(node: ast.BoolOp) -> ast.expr:
    """The operand of numbers that Python returns: `a or b` -> `a if a else b`."""
    *before, result = node.values
    for each in reversed(before):
        branches = (each, result) if isinstance(node.op, ast.Or) else (result, each)
        result = ast.copy_location(ast.IfExp(each, *branches), node)
    return result


_BITWISE = ast.BitAnd | ast.BitOr | ast.BitXor
