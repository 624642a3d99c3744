"""Translation of a Python function to affine MLIR text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ..text.affine import Affine, Index, Name
from ..text.emitter import Emitter, Line
from .captured import MISSING, Captured
from .element_types import ELEMENT_TYPES, ArrayType, ElementType, c128, element_type, f64
from .expressions import Expressions
from .idioms import local_names, rewrite
from .inlining import Callee, Callees
from .parameters import FixedSize, Parameter, ParameterType, is_open, with_sign
from .promises import Promise
from .requirements import Requirement
from .results import Result, name_results
from .size_attributes import size_attributes
from .source import PythonSource
from .statements import KindChanged, Statements
from .strides import Strided
from .values import Scalar
from .variables import find_variables
from .views import ArrayValue

_ANNOTATIONS = 'write int, float, f64 (or f32, i64, c128 ...), or f64["N", "N"] for an array'


@dataclass(frozen=True)
class Translation:
    """A function as text; `nodes` has the piece of Python for each line of it.

    Behind its parameters, the text takes the arrays that the caller allocates for the results.
    """

    name: str
    text: str
    nodes: tuple[ast.AST, ...]
    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]
    allocated: tuple[ArrayValue, ...]
    returns_tuple: bool
    requirements: tuple[Requirement, ...]
    promises: tuple[Promise, ...]
    called: tuple[Callee, ...]
    numbers: Mapping[str, object]
    used: Mapping[str, object]


def translate(
    function: Callable[..., Any],
    source: PythonSource,
    names: Mapping[str, Any],
    types: Mapping[str, ParameterType] | None = None,
    orders: Mapping[str, tuple[int, ...]] | None = None,
    strided: Mapping[str, Strided] | None = None,
) -> Translation:
    """The text of a function whose annotations and constants have these meanings in `names`.

    `types` are those of arguments without annotations; `orders` has the dimensions of arrays as
    they lie in memory, where that is not row-major. With `strided` arrays, `types` are those of all
    arguments. Raises SourceError.
    """
    definition = source.parse()
    captured = Captured(names)
    rewrite(definition, source, captured)
    parameters = _parameters(
        definition, source, captured, function, types or {}, strided is not None
    )
    orders = orders or {}
    parameters = tuple(
        replace(each, type=each.type.permuted(orders[each.name]))
        if each.name in orders and isinstance(each.type, ArrayType)
        else each
        for each in parameters
    )
    _check_names(definition, source)
    taken = captured.hidden = local_names(definition)
    returned = name_results(definition, taken)
    variables = find_variables(definition, source)
    callees = Callees(taken)
    loops = (node.target for node in ast.walk(definition) if isinstance(node, ast.For))
    fixed = {each.name for each in parameters}
    fixed |= {target.id for target in loops if isinstance(target, ast.Name)}
    while True:
        emitter: Emitter[ast.AST] = Emitter()
        emitter.blocks[0].names |= fixed
        for variable in (*variables.values(), *callees.variables()):
            variable.kind = variable.settled
        expressions = Expressions(source, captured, emitter, variables)
        annotations = getattr(function, "__annotations__", {})
        expressions.truths = {name for name in annotations if annotations[name] in (bool, "bool")}
        _declare(parameters, orders, strided or {}, expressions)
        try:
            statements = Statements(expressions, source, emitter, callees)
            statements.local_arrays.returned = returned - {each.name for each in parameters}
            statements.function(definition)
        except KindChanged:  # at most once for each variable and type
            continue
        break
    body = emitter.blocks[0].indented()
    arrays = [ArrayValue(p.name, p.type) for p in parameters if isinstance(p.type, ArrayType)]
    text = "\n".join(line for line, _ in body)
    expressions.accesses.check_unwritten(text)
    extents = [(line, definition) for line in expressions.accesses.dimensions(text, arrays)]
    head = [(f"  {line}", each) for line, each in (*emitter.constants(definition), *extents)]
    allocated = tuple(statements.local_arrays.returns)
    requirements = tuple(expressions.accesses.requirements)
    attributes = size_attributes(parameters, allocated, requirements)
    lines = _function(
        definition, parameters, allocated, statements.results, attributes, [*head, *body]
    )
    text = "".join(f"{line}\n" for line, _ in lines)
    nodes = tuple(node for _, node in lines)
    last = definition.body[-1]
    return Translation(
        definition.name,
        text,
        nodes,
        parameters,
        statements.results,
        allocated,
        isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple),
        requirements,
        tuple(statements.promises),
        tuple(callees.known.values()),
        captured.numbers,
        captured.used,
    )


def _function(
    definition: ast.FunctionDef,
    parameters: tuple[Parameter, ...],
    allocated: Sequence[ArrayValue],
    results: Sequence[Result],
    attributes: str,
    body: list[Line[ast.AST]],
) -> list[Line[ast.AST]]:
    inputs = [f"%{each.name}: {each.mlir}" for each in parameters]
    inputs += [f"%{each.name}: {with_sign(each.type.mlir, each.type)}" for each in allocated]
    numbers = [each.scalar for each in results if each.scalar is not None]
    types = ", ".join(each.element.mlir for each in numbers)
    values = f" {', '.join(each.name for each in numbers)} : {types}" if numbers else ""
    signed = [with_sign(each.element.mlir, each.element) for each in numbers]
    is_plain = len(numbers) == 1 and signed == [types]
    outputs = f" -> {types}" if is_plain else f" -> ({', '.join(signed)})" if numbers else ""
    head = f"func.func @{definition.name}({', '.join(inputs)}){outputs}{attributes} {{"
    end = definition.body[-1]
    return [(head, definition), *body, (f"  return{values}", end), ("}", definition)]


def _parameters(
    definition: ast.FunctionDef,
    source: PythonSource,
    captured: Captured,
    function: Callable[..., Any],
    types: Mapping[str, ParameterType],
    all_given: bool,
) -> tuple[Parameter, ...]:
    arguments = definition.args
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            raise source.error(extra, "a kernel has a fixed number of arguments")
    annotations = getattr(function, "__annotations__", {})
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    names = {each.arg for each in every}
    return tuple(
        Parameter(
            each.arg,
            types[each.arg]
            if each.arg in types
            and (all_given or _is_open(annotations.get(each.arg), types[each.arg]))
            else _type(each, annotations.get(each.arg), names, source, captured),
        )
        for each in every
    )


def _is_open(annotation: object, given: ParameterType) -> bool:
    """Whether the type of an argument is that of its value in a call."""
    return is_open(annotation) or (annotation in (int, "int") and isinstance(given, FixedSize))


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
            raise source.error(
                argument.annotation, f"this annotation fails: {error}", _ANNOTATIONS
            ) from None
    if annotation is bool:
        return int
    if any(annotation is each for each in (int, float, complex)):
        return cast(ParameterType, annotation)
    if isinstance(annotation, ArrayType):
        return annotation
    element = element_type(annotation)
    if element is not None:
        return element
    raise source.error(
        argument.annotation,
        f"'{ast.unparse(argument.annotation)}' is no type of an argument",
        _ANNOTATIONS,
    )


def _check_names(definition: ast.FunctionDef, source: PythonSource) -> None:
    for node in ast.walk(definition):
        name = (
            node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
        )
        if not name.isascii():
            raise source.error(node, f"the name '{name}' has letters beyond ASCII", "rename it")


def _declare(
    parameters: tuple[Parameter, ...],
    orders: Mapping[str, tuple[int, ...]],
    strided: Mapping[str, Strided],
    expressions: Expressions,
) -> None:
    """Gives the arguments their meanings."""
    expressions.accesses.row_major = not (orders or strided)
    for each in parameters:
        if each.type is int:
            size = Affine.of(Name(each.name, symbol=True))
            expressions.accesses.extents[each.name] = size
    for each in parameters:
        name = f"%{each.name}"
        if isinstance(each.type, ArrayType) and each.name in strided:
            meaning = strided[each.name].view(ArrayValue(each.name, each.type))
        elif isinstance(each.type, ArrayType):
            meaning = expressions.accesses.argument(ArrayValue(each.name, each.type))
            order = orders.get(each.name, range(meaning.rank))
            meaning = meaning.transposed([order.index(axis) for axis in range(meaning.rank)])
        elif isinstance(each.type, ElementType):
            meaning = Scalar(name, each.type)
        elif isinstance(each.type, FixedSize):
            meaning = Index((Affine(constant=each.type.value),))
        elif each.type is int:
            meaning = Index((Affine.of(Name(each.name, symbol=True)),))
        else:
            meaning = Scalar(name, c128 if each.type is complex else f64, weak=True)
        expressions.names[each.name] = meaning
