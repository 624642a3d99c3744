"""Calls of other kernels: their statements in place of the call, under names of their own."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..text.affine import Affine
from .captured import Captured
from .element_types import ArrayType, ElementType, f64
from .expressions import Expressions, Meaning
from .idioms import local_names, rewrite
from .local_functions import PlainFunction
from .results import name_results
from .source import PythonSource
from .unused_names import unused_name
from .values import Constant, Scalar
from .variables import Variable, find_variables
from .views import View, same, spelled


@runtime_checkable
class CallableKernel(Protocol):
    """A kernel that can be called by others."""

    @property
    def python(self) -> Any: ...

    @property
    def source(self) -> PythonSource: ...

    @property
    def names(self) -> Mapping[str, Any]: ...

    @property
    def parameter_types(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Callee:
    """A function whose statements take the place of one call; `names` are those of its text."""

    kernel: CallableKernel
    definition: ast.FunctionDef
    names: Mapping[str, str]
    captured: Captured
    variables: Mapping[ast.Name, Variable]


class Callees:
    """The functions that calls of a function are, prepared once for each call."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.known: dict[ast.Call, Callee] = {}

    def callee(self, kernel: CallableKernel, node: ast.Call, around: Captured) -> Callee:
        """What a call runs; `around` has the names of the function that calls."""
        if node not in self.known:
            self.known[node] = self._prepare(kernel, node, around)
        return self.known[node]

    def variables(self) -> list[Variable]:
        """The variables of all functions that are called."""
        return [each for callee in self.known.values() for each in callee.variables.values()]

    def _prepare(self, kernel: CallableKernel, node: ast.Call, around: Captured) -> Callee:
        definition = kernel.source.parse()
        captured = Captured(kernel.names)
        if isinstance(kernel, PlainFunction):
            captured.functions = dict(kernel.functions)
            if kernel.is_nested:
                captured.numbers, captured.used = around.numbers, around.used
        rewrite(definition, kernel.source, captured)
        local = local_names(definition)
        of_language = isinstance(kernel, PlainFunction) and kernel.of_language
        origin = getattr(node, "origin", None) if of_language else kernel.source
        names = {name: unused_name(name, self.taken) for name in sorted(local)}
        for each in ast.walk(definition):
            if of_language:
                ast.copy_location(each, node)
            if origin is not None:
                each.origin = origin  # pyright: ignore[reportAttributeAccessIssue]
            if isinstance(each, ast.Name):
                each.id = names.get(each.id, each.id)
            elif isinstance(each, ast.arg):
                each.arg = names[each.arg]
        name_results(definition, self.taken)
        captured.hidden = set(names.values()) | self.taken
        variables = find_variables(definition, kernel.source)
        return Callee(kernel, definition, names, captured, variables)


def bind(
    callee: Callee, node: ast.Call, expressions: Expressions, source: PythonSource
) -> dict[str, Meaning]:
    """The meanings of the callee's arguments; raises SourceError."""
    kernel = callee.kernel
    name = kernel.python.__name__
    signature = inspect.signature(kernel.python)
    if any(isinstance(each, ast.Starred) for each in node.args):
        raise source.error(node, "'*' is not supported in calls")
    try:
        keywords = {each.arg or "**": each.value for each in node.keywords}
        bound = signature.bind(*node.args, **keywords)
    except TypeError as error:
        raise source.error(node, f"the call of '{name}' fails: {error}") from None
    bound.apply_defaults()
    meanings: dict[str, Meaning] = {}
    extents: dict[str, Affine] = {}
    for parameter, given in bound.arguments.items():
        kind = kernel.parameter_types.get(parameter)
        place = given if isinstance(given, ast.expr) else node
        meaning = _meaning(given, kind, place, expressions, source)
        if kind is int:
            index = expressions.index(given, f"'{parameter}'") if place is given else None
            if index is not None and index.affine is not None:
                extents[parameter] = index.affine
        meanings[callee.names[parameter]] = meaning
    for parameter, given in bound.arguments.items():
        kind = kernel.parameter_types.get(parameter)
        view = meanings[callee.names[parameter]]
        if isinstance(kind, ArrayType) and isinstance(view, View):
            for declared, extent in zip(kind.extents, view.extents, strict=True):
                known = (
                    Affine(constant=declared)
                    if isinstance(declared, int)
                    else extents.setdefault(declared, extent)
                )
                if not same(known, extent):
                    raise source.error(
                        given,
                        f"the extent '{declared}' of '{name}' is {spelled(known)}, but "
                        f"{spelled(extent)} for '{parameter}'",
                        "give equal extents the same name in the annotations",
                    )
    return meanings


def _meaning(
    given: object, kind: object, place: ast.expr, expressions: Expressions, source: PythonSource
) -> Meaning:
    if not isinstance(given, ast.expr):
        return expressions.arithmetic.constant(given, place)
    view = expressions.view(given)
    if isinstance(kind, ArrayType) or (kind is None and view is not None and view.rank):
        if view is None:
            raise source.error(given, "an array is expected here", "give it a name before")
        found = view.element_type, view.rank
        if isinstance(kind, ArrayType) and found != (kind.element, len(kind.extents)):
            spelled_type = f"{found[0]} of {view.rank} dimensions"
            raise source.error(given, f"this is {spelled_type}, but {kind} is expected")
        return view
    if kind is int:
        return expressions.index(given, "an integer argument")
    value = expressions.value(given)
    if kind is float:
        if isinstance(value, Constant):
            return Constant(float(value.value))
        return Scalar(expressions.arithmetic.convert(value, f64, given).name, f64, weak=True)
    if isinstance(kind, ElementType):
        return expressions.arithmetic.convert(value, kind, given)
    return value
