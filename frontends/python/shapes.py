"""Shapes of expressions: the extents of elementwise results, by NumPy's broadcasting."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Sequence

from ..text.affine import Affine
from .captured import Captured
from .element_types import element_type
from .functions import PARTS, known
from .source import PythonSource
from .views import View, broadcast, spelled_shape

Shape = tuple[Affine, ...]

ELEMENTWISE_METHODS = ("astype", "conj", "conjugate")
"""Methods of arrays whose results have their shape."""


class Shapes:
    """Tells the shape of an expression, of which `view` gives those that are views.

    Of those that copy an array, `copied` gives that; `gathered` gives the shape of those whose
    subscripts depend on data. What is `computed` and no view is a number.
    """

    def __init__(
        self,
        source: PythonSource,
        captured: Captured,
        view: Callable[[ast.expr], View | None],
        copied: Callable[[ast.expr], ast.expr | None],
        gathered: Callable[[ast.Subscript], Shape | None],
        computed: Container[ast.expr],
    ) -> None:
        self.source = source
        self.captured = captured
        self.view = view
        self.copied = copied
        self.gathered = gathered
        self.computed = computed

    def of(self, node: ast.expr) -> Shape:
        """The extents of an expression, none for a number; raises SourceError."""
        if isinstance(node, ast.Constant):
            return ()
        view = self.view(node)
        if view is not None:
            return view.extents
        if node in self.computed:
            return ()
        if isinstance(node, ast.Subscript):
            found = self.gathered(node)
            return self.of(node.slice) if found is None else found
        if isinstance(node, ast.BinOp):
            return self.joined([node.left, node.right], node)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, ast.Compare):
            return self.joined([node.left, *node.comparators], node)
        if isinstance(node, ast.BoolOp):
            return self.joined(node.values, node)
        if isinstance(node, ast.IfExp):
            return self._choice(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute) and node.attr in PARTS:
            return self.of(node.value)
        return ()

    def joined(self, nodes: Sequence[ast.expr], node: ast.AST) -> Shape:
        """The shape that all are broadcast to."""
        shapes = [self.of(each) for each in nodes]
        result = broadcast(*shapes)
        if result is None:
            spelled = " and ".join(spelled_shape(each) for each in shapes if each)
            raise self.source.error(
                node,
                f"the shapes {spelled} are not known to agree",
                "give equal extents the same name in the annotations",
            )
        return result

    def _choice(self, node: ast.IfExp) -> Shape:
        if self.of(node.test):
            raise self.source.error(
                node.test, "the truth value of an array", "write np.where(condition, x, y)"
            )
        return self.joined([node.body, node.orelse], node)

    def _call(self, node: ast.Call) -> Shape:
        copied = self.copied(node)
        if copied is not None:
            return self.of(copied)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ELEMENTWISE_METHODS:
            shape = self.of(node.func.value)
            if shape:
                return shape
        if function_is_outer(self.captured, node):
            return tuple(extent for each in node.args for extent in self.of(each))
        shape = self.joined([each for each in node.args if not isinstance(each, ast.Starred)], node)
        found = self.captured.resolve(node.func)
        function = known(found)
        if not shape or element_type(found) is not None:
            return shape
        if function is None or function.kind == "length":
            return ()
        if not function.elementwise:
            spelled = ast.unparse(node.func)
            raise self.source.error(
                node, f"'{spelled}' takes numbers, not arrays", _REMEDIES.get(spelled)
            )
        return shape


def function_is_outer(captured: Captured, node: ast.Call) -> bool:
    """Whether a call is an outer product, whose arguments keep their axes apart."""
    function = known(captured.resolve(node.func))
    return function is not None and function.kind == "outer"


_REMEDIES = {
    "min": "write np.minimum",
    "max": "write np.maximum",
    "float": "write f64(...)",
    "int": "write i64(...)",
    "round": "write np.rint",
    **{
        f"math.{name}": f"write np.{name}"
        for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "floor", "ceil", "fabs")
    },
}
