"""Reductions over generators, `sum(f(x) for x in A)`, as loops; `divmod` as its two operations."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable
from typing import cast

from .captured import Captured
from .hoisting import Hoisting
from .meanings import copied, meant
from .source import PythonSource
from .unused_names import unused_name

_LISTS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_REDUCTIONS: dict[Callable[..., object], str] = {
    builtins.sum: "total",
    builtins.min: "smallest",
    builtins.max: "largest",
    builtins.any: "found",
    builtins.all: "holds",
}
"""The functions, and what their variables are called."""

_FIRST: dict[object, ast.expr] = {
    builtins.sum: ast.Constant(0),
    builtins.any: ast.Constant(False),
    builtins.all: ast.Constant(True),
}
"""What a reduction begins with; a minimum or maximum begins with its first element."""


class Comprehensions(Hoisting, ast.NodeTransformer):
    """Writes reductions over generators and lists as loops before their statement.

    y[i] = sum(A[i, j] * x[j] for j in range(n))   ->   total = 0
                                                        for j in range(n):
                                                            total += A[i, j] * x[j]
                                                        y[i] = total
    """

    def __init__(self, captured: Captured, taken: set[str], source: PythonSource) -> None:
        self.captured = captured
        self.taken = taken
        self.source = source
        super().__init__()
        self._is_chosen = False

    # Statements

    def visit_While(self, node: ast.While) -> ast.While:
        """A loop, whose condition has no reduction: it would have to be computed again."""
        before = len(self._before)
        test = cast(ast.expr, self.visit(node.test))
        if len(self._before) > before:
            raise self.source.error(
                node.test,
                "a reduction in the condition of a 'while' loop",
                "assign it to a variable before the loop, and at the end of its body",
            )
        node.test = test
        self.generic_visit(node)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        """A loop; one over a generator is refused as a loop."""
        if isinstance(node.iter, _LISTS):
            for each in node.body:
                self.visit(each)
        else:
            self.generic_visit(node)
        return node

    # Expressions

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """A choice: what only one branch reads is not computed before."""
        return self._chosen(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Conditions, of which the later ones need not be computed."""
        return self._chosen(node)

    def _chosen(self, node: ast.expr) -> ast.AST:
        outer, self._is_chosen = self._is_chosen, True
        found = self.generic_visit(node)
        self._is_chosen = outer
        return found

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A reduction as its variable, `divmod(a, b)` as `a // b, a % b`."""
        function = self.captured.resolve(node.func)
        if function is builtins.divmod and len(node.args) == 2 and not node.keywords:
            self.generic_visit(node)
            left, right = node.args
            parts = [
                ast.BinOp(copied(left), operator, copied(right))
                for operator in (ast.FloorDiv(), ast.Mod())
            ]
            return _at(ast.Tuple([*parts], ast.Load()), node)
        known = next((each for each in _REDUCTIONS if each is function), None)
        if known is None or not node.args or not isinstance(node.args[0], _LISTS[:2]):
            return self.generic_visit(node)
        if node.keywords or len(node.args) > (2 if known is builtins.sum else 1):
            raise self.source.error(
                node, f"'{known.__name__}' of a generator takes no further arguments here"
            )
        if self._is_chosen:
            raise self.source.error(
                node,
                f"'{known.__name__}' of a generator in a conditional expression",
                "assign it to a variable before",
            )
        return self._reduced(known, node.args[0], node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`divmod(a, b)[0]` as `a // b`."""
        self.generic_visit(node)
        position = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(node.value, ast.Tuple) and isinstance(position, int):
            return node.value.elts[position] if 0 <= position < len(node.value.elts) else node
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """Other uses make lists."""
        raise self._list(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """As above."""
        raise self._list(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """As above."""
        raise self._list(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        """As above."""
        raise self._list(node)

    def _list(self, node: ast.expr) -> Exception:
        return self.source.error(
            node,
            "a comprehension makes a list; kernels compute with arrays",
            "write a loop that stores into an array",
        )

    # Loops

    def _reduced(self, function: Callable[..., object], node: ast.expr, call: ast.Call) -> ast.expr:
        assert isinstance(node, ast.GeneratorExp | ast.ListComp)
        node = copied(node)
        self._rename(node)
        total = unused_name(_REDUCTIONS[function], self.taken)
        first = call.args[1] if len(call.args) == 2 else copy.deepcopy(_FIRST.get(function))
        asserted: list[ast.stmt] = []
        if first is None:
            first, asserted = self._first(function.__name__, node)
        body = self._step(function, total, node.elt)
        for clause in reversed(node.generators):
            for test in reversed(clause.ifs):
                body = ast.If(test, [body], [])
            body = ast.For(clause.target, clause.iter, [body], [])
        begin = ast.Assign([ast.Name(total, ast.Store())], first)
        for each in (*asserted, begin, body):
            _at(each, call)
            found = self.visit(each)
            self._before += cast("list[ast.stmt]", found if isinstance(found, list) else [found])
        return cast(ast.expr, _at(ast.Name(total, ast.Load()), call))

    def _step(self, function: Callable[..., object], name: str, element: ast.expr) -> ast.stmt:
        """What each element does to the variable."""
        target = ast.Name(name, ast.Store())
        if function is builtins.sum:
            return ast.AugAssign(target, ast.Add(), element)
        if function in (builtins.any, builtins.all):
            is_any = function is builtins.any
            test = element if is_any else ast.UnaryOp(ast.Not(), element)
            return ast.If(test, [ast.Assign([target], ast.Constant(is_any))], [])
        called = meant(function.__name__, function)
        return ast.Assign([target], ast.Call(called, [ast.Name(name, ast.Load()), element], []))

    def _first(
        self, name: str, node: ast.GeneratorExp | ast.ListComp
    ) -> tuple[ast.expr, list[ast.stmt]]:
        """The first element, with the first value of each loop, and that it is there.

        Raises SourceError.
        """
        element: ast.expr = copied(node.elt)
        values: dict[str, ast.expr] = {}
        asserted: list[ast.stmt] = []
        for clause in node.generators:
            begin = self._begin(clause.iter)
            if clause.ifs or begin is None or not isinstance(clause.target, ast.Name):
                raise self.source.error(
                    clause.iter,
                    f"'{name}' of a generator needs its first element",
                    "write range(...) or an array, without 'if'; or a loop",
                )
            renamed = _Renamed(dict(values))
            value, test = (renamed.visit(copied(each)) for each in begin)
            values[clause.target.id] = value
            assertion = ast.Assert(test, ast.Constant(f"'{name}' of nothing"))
            assertion.implied = name  # pyright: ignore[reportAttributeAccessIssue]
            asserted.append(assertion)
        return cast(ast.expr, _Renamed(values).visit(element)), asserted

    def _begin(self, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """The first value of a loop over a range or an array, and the test that there is one."""
        if isinstance(node, ast.Call):
            if self.captured.resolve(node.func) is not builtins.range or not node.args:
                return None
            first = node.args[0] if len(node.args) > 1 else ast.Constant(0)
            step = ast.literal_eval(node.args[2]) if _is_number(node.args[2:]) else 1
            if not step or (len(node.args) > 2 and not _is_number(node.args[2:])):
                return None
            comes = ast.Lt() if step > 0 else ast.Gt()
            return first, ast.Compare(first, [comes], [node.args[min(1, len(node.args) - 1)]])
        if isinstance(node, ast.Name | ast.Subscript):
            length = ast.Call(meant("len", len), [node], [])
            first = ast.Subscript(node, ast.Constant(0), ast.Load())
            return first, ast.Compare(ast.Constant(0), [ast.Lt()], [length])
        return None

    def _rename(self, node: ast.GeneratorExp | ast.ListComp) -> None:
        """Gives the variables of a generator, which are its own, names that nothing else has."""
        for position, clause in enumerate(node.generators):
            names = [each.id for each in ast.walk(clause.target) if isinstance(each, ast.Name)]
            renamed = _Renamed(
                {each: ast.Name(unused_name(each, self.taken), ast.Load()) for each in names}
            )
            clause.target = renamed.visit(clause.target)
            clause.ifs = [renamed.visit(each) for each in clause.ifs]
            node.elt = renamed.visit(node.elt)
            for later in node.generators[position + 1 :]:
                later.iter = renamed.visit(later.iter)
                later.ifs = [renamed.visit(each) for each in later.ifs]


def _is_number(nodes: list[ast.expr]) -> bool:
    """Whether this is one integer, with a sign or without."""
    inner = [each.operand if isinstance(each, ast.UnaryOp) else each for each in nodes]
    return len(inner) == 1 and isinstance(inner[0], ast.Constant) and type(inner[0].value) is int


class _Renamed(ast.NodeTransformer):
    """Replaces names by expressions."""

    def __init__(self, meanings: dict[str, ast.expr]) -> None:
        self.meanings = meanings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """What a name stands for."""
        found = self.meanings.get(node.id)
        if found is None:
            return node
        if isinstance(found, ast.Name):
            return ast.copy_location(ast.Name(found.id, node.ctx), node)
        return copied(found)


def _at(node: ast.AST, written: ast.expr) -> ast.AST:
    """Gives what has no position the one of what the user has written."""
    for each in ast.walk(node):
        if isinstance(each, ast.expr | ast.stmt) and not hasattr(each, "lineno"):
            ast.copy_location(each, written)
    return node
