"""Rotated buffers: a loop whose iterations swap arrays, with arrays chosen by the iteration."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..rotation_period import rotation_period
from .meanings import copied
from .source import PythonSource
from .unused_names import unused_name

Binding = Mapping[str, str]


@dataclass(frozen=True)
class _Rotation:
    """A loop over `first`, `first + step` ... before `last` that rotates the arrays of `names`."""

    loop: ast.For
    copies: tuple[ast.stmt, ...]
    names: tuple[str, ...]
    bindings: tuple[Binding, ...]
    first: ast.expr
    last: ast.expr
    step: int


class Rotations:
    """Writes out which array a name means, by the remainder of the iteration.

    for t in range(T):              ->    for t in range(T):
        f(a, b)                               if t % 2 == 0:
        a, b = b, a                               f(a, b)
    g(a)                                      else:
                                                  f(b, a)
                                          if T > 0 and T % 2 == 1:
                                              g(b)
                                          else:
                                              g(a)
    """

    def __init__(self, definition: ast.FunctionDef, taken: set[str], source: PythonSource) -> None:
        self.definition = definition
        self.taken = taken
        self.source = source
        arguments = definition.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self.arguments = {each.arg for each in every}
        subscripts = (each for each in ast.walk(definition) if isinstance(each, ast.Subscript))
        bases = (each.value for each in subscripts)
        self.arrays = {each.id for each in bases if isinstance(each, ast.Name)}

    def rewrite(self) -> None:
        """Rewrites the function; raises SourceError."""
        self.definition.body = self._block(self.definition.body)

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        for position, node in enumerate(statements):
            found = self._rotation(node) if isinstance(node, ast.For) else None
            if found is not None:
                rest = self._block(statements[position + 1 :])
                return [*statements[:position], _chosen(found), *self._behind(found, rest)]
        return list(statements)

    def _rotation(self, node: ast.For) -> _Rotation | None:
        """What a loop rotates; None for other loops."""
        target, arguments = node.target, _range(node.iter)
        if not isinstance(target, ast.Name) or not arguments or node.orelse:
            return None
        first, last, step = _bounds(arguments)
        copies = tuple(each for each in node.body if _copies(each))
        bound: dict[str, str] = {}
        for each in copies:
            _follow(each, bound)
        names = tuple(each for each in bound if not _begins(each, node.body))
        others = [each for each in node.body if each not in copies]
        stored = set(_stored(others)) | {target.id}
        if (
            not names
            or not set(names) <= self.arrays
            or {bound[each] for each in names} != set(names)
            or stored & bound.keys()
            or not isinstance(step, int)
        ):
            return None
        read = {each.id for part in (first, last) for each in _names(part)}
        bindings = rotation_period(names, bound)
        if read & stored or len(bindings) < 2:
            return None
        return _Rotation(node, copies, names, bindings, first, last, step)

    def _behind(self, rotation: _Rotation, behind: list[ast.stmt]) -> list[ast.stmt]:
        """The statements behind the loop, with the arrays that its iterations lead to."""
        used = {each.id for statement in behind for each in _names(statement)}
        if not used & set(rotation.names):
            return behind
        end = [behind.pop()] if isinstance(behind[-1], ast.Return) else []
        found = _cases(rotation, behind)
        bounds = {each.id for part in (rotation.first, rotation.last) for each in _names(part)}
        if (
            (changed := bounds & set(_stored(behind)))
            and end
            and {each.id for each in _names(end[0])} & set(rotation.names)
        ):
            raise self.source.error(
                end[0],
                f"'{min(changed)}' bounds the loop that swaps what is returned, and has another"
                " value here",
                "use another name",
            )
        if end and isinstance(end[0], ast.Return) and end[0].value is not None:
            value = end[0].value
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            for number, each in enumerate(parts):
                if {one.id for one in _names(each)} & set(rotation.names):
                    name = unused_name("result", self.taken)
                    found += self._result(rotation, each, name)
                    parts[number] = ast.copy_location(ast.Name(name, ast.Load()), each)
            if not isinstance(value, ast.Tuple):
                end[0].value = parts[0]
        return [*found, *end]

    def _result(self, rotation: _Rotation, value: ast.expr, name: str) -> list[ast.stmt]:
        """Statements that give a new variable the value of an expression."""
        array = value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            array = value.func.value if value.func.attr == "copy" and not value.args else value
        if not isinstance(array, ast.Name):
            return _cases(rotation, _written(f"{name} = {ast.unparse(value)}", value))
        if array is value and set(rotation.names) & self.arguments:
            raise self.source.error(
                value,
                f"'{array.id}' may be either argument behind the loop that swaps them",
                f"return {array.id}.copy()",
            )
        cases = _cases(rotation, _written(f"{name}[...] = {array.id}", value))
        if isinstance(cases[0], ast.If):
            innermost = cases[0]
            while innermost.orelse and isinstance(innermost.orelse[0], ast.If):
                innermost = innermost.orelse[0]
            innermost.orelse = []  # what it begins with
        return [*_written(f"{name} = {array.id}.copy()", value), *cases]


def _range(node: ast.expr) -> list[ast.expr]:
    """The arguments of a range; none for all else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return []
    return node.args if node.func.id == "range" and not node.keywords else []


def _bounds(arguments: list[ast.expr]) -> tuple[ast.expr, ast.expr, int | None]:
    """First and last value, and step of a range."""
    first: ast.expr = ast.Constant(0)
    if len(arguments) == 1:
        return first, arguments[0], 1
    if len(arguments) == 2:
        return arguments[0], arguments[1], 1
    step = arguments[2].value if isinstance(arguments[2], ast.Constant) else None
    return arguments[0], arguments[1], step if isinstance(step, int) and step > 0 else None


def _copies(node: ast.stmt) -> list[tuple[str, str]]:
    """The names of `a = b` and `a, b = b, a`; none for other statements."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
        if len(target.elts) != len(value.elts):
            return []
    else:
        pairs = [(target, value)]
    names = [
        (one.id, other.id)
        for one, other in pairs
        if isinstance(one, ast.Name) and isinstance(other, ast.Name)
    ]
    return names if len(names) == len(pairs) else []


def _follow(node: ast.stmt, bound: dict[str, str]) -> None:
    """Notes what a statement makes of names, in terms of the arrays before the iteration."""
    bound.update([(one, bound.get(other, other)) for one, other in _copies(node)])


def _begins(name: str, statements: Sequence[ast.stmt]) -> bool:
    """Whether statements give a name a value before they read it."""
    first = next(each for each in statements if any(one.id == name for one in _names(each)))
    pairs = _copies(first)
    return any(one == name for one, _ in pairs) and all(other != name for _, other in pairs)


def _chosen(rotation: _Rotation) -> ast.For:
    """The loop with a copy of its body for each iteration of a period."""
    loop = rotation.loop
    assert isinstance(loop.target, ast.Name)
    bodies: list[list[ast.stmt]] = []
    for binding in rotation.bindings:
        now = {each: each for each in rotation.names}
        body: list[ast.stmt] = []
        for each in loop.body:
            if each in rotation.copies:
                _follow(each, now)
                continue
            meant = {one: binding.get(other, other) for one, other in now.items()}
            body.append(_renamed(each, meant))
        bodies.append(body or _written("pass", loop))
    rest: list[ast.stmt] = bodies[-1]
    done = f"({loop.target.id} - ({ast.unparse(rotation.first)})) // {rotation.step}"
    for phase in range(len(bodies) - 2, -1, -1):
        test = f"{done} % {len(bodies)} == {phase}"
        rest = [_branch(test, bodies[phase], rest, loop)]
    loop.body = rest
    return loop


def _cases(rotation: _Rotation, statements: list[ast.stmt]) -> list[ast.stmt]:
    """Statements behind a loop, for each remainder of the number of its iterations."""
    used = {each.id for statement in statements for each in _names(statement)}
    if not used & set(rotation.names):
        return statements
    first, last, step = ast.unparse(rotation.first), ast.unparse(rotation.last), rotation.step
    count = f"(({last}) - ({first}) + {step - 1}) // {step}"
    rest: list[ast.stmt] = statements
    for phase, binding in enumerate(rotation.bindings[1:], 1):
        test = f"({last}) > ({first}) and {count} % {len(rotation.bindings)} == {phase}"
        one = [_renamed(each, binding) for each in statements]
        rest = [_branch(test, one, rest, statements[0])]
    return rest


def _branch(test: str, one: list[ast.stmt], other: list[ast.stmt], place: ast.stmt) -> ast.If:
    [node] = _written(f"if {test}:\n    pass", place)
    assert isinstance(node, ast.If)
    node.body, node.orelse = one, other
    return node


def _renamed(node: ast.stmt, meant: Binding) -> ast.stmt:
    new = copied(node)
    for each in _names(new):
        each.id = meant.get(each.id, each.id)
    return new


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Name))


def _stored(statements: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        yield from (each.id for each in _names(statement) if isinstance(each.ctx, ast.Store))


def _written(text: str, place: ast.AST) -> list[ast.stmt]:
    """New statements at the place of an old one."""
    statements = ast.parse(text).body
    for each in (inner for statement in statements for inner in ast.walk(statement)):
        ast.copy_location(each, place)
    return statements
