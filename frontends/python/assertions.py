"""`assert` on sizes: what calls are refused for."""

from __future__ import annotations

import ast

from ..text.affine import Affine
from ..text.conditions import Fixed, alternatives, negation, tests_data
from .accesses import Accesses
from .evaluator import Evaluator


def require(node: ast.Assert, expressions: Evaluator, accesses: Accesses) -> None:
    """Refuses the sizes with which an assertion fails anywhere; raises SourceError."""
    source = expressions.source
    implied = getattr(node, "implied", "")  # a reduction that is of nothing where it fails
    fails = negation(expressions.condition(node.test))
    if implied and (tests_data(fails) or (isinstance(fails, Fixed) and fails.value)):
        raise source.error(
            node,
            f"'{implied}' of a generator that may have no first element",
            "write a loop that begins with an element",
        )
    if tests_data(fails):
        raise source.error(
            node.test, "this assertion depends on data", "assert what holds of sizes alone"
        )
    said = f": {node.msg.value}" if isinstance(node.msg, ast.Constant) else ""
    if isinstance(fails, Fixed):
        if fails.value:
            raise source.error(node.test, f"this assertion never holds{said}")
        return
    cases = alternatives(fails)
    if cases is None:
        raise source.error(node.test, "this assertion has too many alternatives", "write several")
    shown = ast.unparse(node.test)
    message = f"the assertion '{shown}' does not hold for these sizes{said}"
    if implied:
        message = f"'{implied}' of a generator that has no elements: {shown} does not hold"
    for case in cases:
        parts: list[Affine] = []
        for each in case:
            parts.append(each.expression)
            parts += [each.expression.times(-1)] if each.equation else []
        error = source.error(node, message)
        accesses.refuse(parts, error)
