"""Results of functions: arrays that the caller allocates, arguments, and numbers."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .values import Scalar
from .views import View


@dataclass(frozen=True)
class Result:
    """One result: an array as a whole, or a number."""

    node: ast.expr
    view: View | None = None
    scalar: Scalar | None = None


def spelled_result(node: ast.expr) -> str:
    """A result as the user has written it."""
    return getattr(node, "spelled", None) or ast.unparse(node)


def name_results(definition: ast.FunctionDef, taken: set[str]) -> set[str]:
    """Gives each result that is no name a variable; returns the names of all.

    The last statement is then an assignment for each, and the names.
    """
    body, last = definition.body[:-1], definition.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return set()
    if isinstance(last.value, ast.Constant) and last.value.value is None:
        last.value = None
        return set()
    written = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    names: list[ast.expr] = []
    for position, each in enumerate(written):
        if isinstance(each, ast.Name):
            names.append(each)
            continue
        text = f"result{position}" if len(written) > 1 else "result"
        while text in taken:
            text += "_"
        taken.add(text)
        store, load = ast.Name(text, ast.Store()), ast.Name(text, ast.Load())
        body.append(ast.copy_location(ast.Assign([store], each), each))
        load.spelled = ast.unparse(each)  # pyright: ignore[reportAttributeAccessIssue]
        names.append(load)
        for new in (store, load):
            ast.copy_location(new, each)
    value = names[0] if not isinstance(last.value, ast.Tuple) else ast.Tuple(names, ast.Load())
    definition.body = [*body, ast.copy_location(ast.Return(ast.copy_location(value, last)), last)]
    return {each.id for each in names if isinstance(each, ast.Name)}
