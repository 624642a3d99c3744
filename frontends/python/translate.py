"""Translation of a Python function to affine MLIR text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..text.affine import Affine, Index, Name
from ..text.emitter import Emitter, Line
from .captured import MISSING, Captured
from .element_types import ELEMENT_TYPES, ArrayType, ElementType, element_type, f64
from .expressions import ArrayValue, Expressions
from .source import PythonSource
from .statements import KindChanged, Statements
from .values import Scalar
from .variables import find_variables

ParameterType = type[int] | type[float] | ElementType | ArrayType


@dataclass(frozen=True)
class Parameter:
    """An argument: `int` is a size, `float` a number of Python."""

    name: str
    type: ParameterType

    def __str__(self) -> str:
        kind = self.type.__name__ if isinstance(self.type, type) else str(self.type)
        return f"{self.name}: {kind}"

    @property
    def mlir(self) -> str:
        """The type in the text."""
        if isinstance(self.type, ArrayType):
            return self.type.mlir
        if isinstance(self.type, ElementType):
            return str(self.type)
        return "index" if self.type is int else "f64"


@dataclass(frozen=True)
class Translation:
    """A function as text; `nodes` has the piece of Python for each line of it."""

    name: str
    text: str
    nodes: tuple[ast.AST, ...]
    parameters: tuple[Parameter, ...]
    numbers: Mapping[str, object]
    used: Mapping[str, object]


def translate(
    function: Callable[..., Any], source: PythonSource, names: Mapping[str, Any]
) -> Translation:
    """The text of a function whose annotations and constants have these meanings in `names`.

    Raises SourceError.
    """
    definition = source.parse()
    captured = Captured(names)
    parameters = _parameters(definition, source, captured, function)
    _check_names(definition, source)
    variables = find_variables(definition, source)
    while True:
        emitter: Emitter[ast.AST] = Emitter()
        expressions = Expressions(source, captured, emitter, variables)
        _declare(parameters, expressions)
        try:
            Statements(expressions, source, emitter).function(definition)
        except KindChanged:  # at most once for each variable and type
            continue
        break
    extents = expressions.dimensions.items()
    head = [*emitter.constants(definition), *((f"%{n} = {t}", definition) for n, t in extents)]
    lines = _function(definition, parameters, head, emitter)
    text = "".join(f"{line}\n" for line, _ in lines)
    nodes = tuple(node for _, node in lines)
    return Translation(definition.name, text, nodes, parameters, captured.numbers, captured.used)


def _function(
    definition: ast.FunctionDef,
    parameters: tuple[Parameter, ...],
    head: list[Line[ast.AST]],
    emitter: Emitter[ast.AST],
) -> list[Line[ast.AST]]:
    arguments = ", ".join(f"%{each.name}: {each.mlir}" for each in parameters)
    lines: list[Line[ast.AST]] = [(f"func.func @{definition.name}({arguments}) {{", definition)]
    lines += [(f"  {line}", node) for line, node in head]
    lines += emitter.blocks[0].indented()
    return [*lines, ("  return", definition), ("}", definition)]


def _parameters(
    definition: ast.FunctionDef,
    source: PythonSource,
    captured: Captured,
    function: Callable[..., Any],
) -> tuple[Parameter, ...]:
    arguments = definition.args
    for extra in (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs):
        if extra is not None:
            raise source.error(extra, "a kernel has positional arguments only")
    for default in arguments.defaults:
        raise source.error(default, "defaults of arguments are not supported", "leave it out")
    annotations = getattr(function, "__annotations__", {})
    names = {each.arg for each in (*arguments.posonlyargs, *arguments.args)}
    return tuple(
        Parameter(each.arg, _type(each, annotations.get(each.arg), names, source, captured))
        for each in (*arguments.posonlyargs, *arguments.args)
    )


def _type(
    argument: ast.arg,
    annotation: object,
    sizes: set[str],
    source: PythonSource,
    captured: Captured,
) -> ParameterType:
    if argument.annotation is None:
        raise source.error(
            argument,
            f"the argument '{argument.arg}' has no type",
            f'write {argument.arg}: int, {argument.arg}: f64 or {argument.arg}: f64["N", "N"]',
        )
    if isinstance(annotation, str):  # from __future__ import annotations
        # Python keeps no names of local scopes that only annotations use.
        scope: dict[str, object] = {each.name: each for each in ELEMENT_TYPES}
        for node in ast.walk(argument.annotation):
            if isinstance(node, ast.Name):
                value = MISSING if node.id in sizes else captured.value(node.id)
                scope.setdefault(node.id, node.id)  # an extent without quotes
                scope |= {} if value is MISSING else {node.id: value}
        try:
            annotation = eval(annotation, scope)  # the user's own annotation, as typing does it
        except Exception as error:
            raise source.error(argument.annotation, f"this annotation fails: {error}") from None
    if annotation is int or annotation is float or isinstance(annotation, ArrayType):
        return annotation  # pyright: ignore[reportReturnType]
    element = element_type(annotation)
    if element is not None:
        return element
    raise source.error(
        argument.annotation,
        f"'{ast.unparse(argument.annotation)}' is no type of an argument",
        'write int, float, f64 (or f32, i8, i16, i32, i64), or f64["N", "N"] for an array',
    )


def _check_names(definition: ast.FunctionDef, source: PythonSource) -> None:
    for node in ast.walk(definition):
        name = (
            node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
        )
        if not name.isascii():
            raise source.error(node, f"the name '{name}' has letters beyond ASCII", "rename it")


def _declare(parameters: tuple[Parameter, ...], expressions: Expressions) -> None:
    """Gives the arguments their meanings."""
    for each in parameters:
        name = f"%{each.name}"
        if isinstance(each.type, ArrayType):
            meaning = ArrayValue(each.name, each.type)
        elif isinstance(each.type, ElementType):
            meaning = Scalar(name, each.type)
        elif each.type is int:
            meaning = Index((Affine.of(Name(each.name, symbol=True)),))
        else:
            meaning = Scalar(name, f64, weak=True)
        expressions.names[each.name] = meaning
