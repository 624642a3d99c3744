"""Runs a Scop by its statements, in the order of any schedule tree, without any code generation.

run_scop(scop, module, [3, c, a, b])                  # the original order
run_scop(scop, module, [3, c, a, b], tree=other)      # a transformed one
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from loopwright.passes.polyhedral.scop import AccessKind, Array, Scop, Statement
from loopwright.passes.schedule_tree import Leaf, Loop, Tree
from loopwright.passes.schedule_tree import Sequence as TreeSequence

from .arithmetic import scalar
from .interpreter import Interpreter


@dataclass(frozen=True)
class Instance:
    """One execution of a statement."""

    statement: str
    iteration: tuple[int, ...]


def bind(scop: Scop, arguments: Sequence[Any]) -> dict[str, int]:
    """The values of the sizes of a Scop for given arguments."""
    return {
        size.name: int(arguments[size.argument])
        if size.dimension is None
        else arguments[size.argument].shape[size.dimension]
        for size in scop.sizes
    }


def instances(
    scop: Scop, sizes: dict[str, int], tree: Tree | None = None
) -> list[tuple[tuple[int, ...], Instance]]:
    """All statement instances with their time, in the order of a tree (the original one)."""
    result: list[tuple[tuple[int, ...], Instance]] = []
    for name, clock in _clocks(scop.tree if tree is None else tree, []):
        statement = scop.statement(name)
        domain = bind_parameters(statement.domain, scop, sizes)
        for iteration in points(domain):
            time = tuple(part(iteration) for part in clock)
            result.append((time, Instance(name, iteration)))
    return sorted(result, key=lambda item: item[0])


def bind_parameters(domain: isl.Set, scop: Scop, sizes: dict[str, int]) -> isl.Set:
    """A set with the parameters replaced by numbers."""
    for position, parameter in enumerate(scop.parameters):
        domain = domain.fix_val(isl.dim_type.param, position, isl.Val(sizes[parameter.name]))
    return domain


def points(domain: isl.Set) -> list[tuple[int, ...]]:
    """The points of a bounded set."""
    found: list[tuple[int, ...]] = []
    rank = domain.dim(isl.dim_type.set)

    def add(point: isl.Point) -> None:
        values = [point.get_coordinate_val(isl.dim_type.set, n).to_python() for n in range(rank)]
        found.append(tuple(values))

    domain.foreach_point(add)
    return found


Clock = list[Callable[[tuple[int, ...]], int]]


def _clocks(tree: Tree, outer: Clock) -> list[tuple[str, Clock]]:
    match tree:
        case Leaf(name):
            return [(name, outer)]
        case TreeSequence(children):
            result: list[tuple[str, Clock]] = []
            for number, child in enumerate(children):
                result += _clocks(child, [*outer, lambda _, number=number: number])
            return result
        case Loop(schedule=schedule, body=body):
            return [
                (name, [*clock[: len(outer)], _evaluator(schedule[name]), *clock[len(outer) :]])
                for name, clock in _clocks(body, outer)
            ]


def _evaluator(aff: isl.Aff) -> Callable[[tuple[int, ...]], int]:
    def evaluate(iteration: tuple[int, ...]) -> int:
        point = isl.Point.zero(aff.get_domain_space())
        for position, value in enumerate(iteration):
            point = point.set_coordinate_val(isl.dim_type.set, position, isl.Val(value))
        return aff.eval(point).to_python()

    return evaluate


class _Memory:
    """Arrays by name: arguments as they are, local ones as dictionaries."""

    def __init__(self, scop: Scop, arguments: Sequence[Any]):
        self.arguments = {a.name: arguments[a.argument] for a in scop.arrays if not a.is_local}
        self.locals: dict[str, dict[tuple[int, ...], Any]] = {
            a.name: {} for a in scop.arrays if a.is_local
        }

    def read(self, array: Array, subscripts: tuple[int, ...]) -> Any:
        if array.is_local:
            return self.locals[array.name][subscripts]
        assert all(index >= 0 for index in subscripts)
        return scalar(self.arguments[array.name][subscripts], array.element_type)

    def write(self, array: Array, subscripts: tuple[int, ...], value: Any) -> None:
        if array.is_local:
            self.locals[array.name][subscripts] = value
        else:
            assert all(index >= 0 for index in subscripts)
            self.arguments[array.name][subscripts] = value


def run_scop(
    scop: Scop, module: ModuleOp, arguments: Sequence[Any], tree: Tree | None = None
) -> tuple[Any, ...]:
    """Executes all instances in order; changes arrays in place, gives the function's results."""
    sizes = bind(scop, arguments)
    memory = _Memory(scop, arguments)
    interpreter = Interpreter(module)
    symbols = tuple(sizes[parameter.name] for parameter in scop.parameters)
    environment: dict[SSAValue, Any] = {
        formal: scalar(actual, formal.type)
        for formal, actual in zip(scop.func.body.block.args, arguments, strict=True)
        if not isinstance(actual, np.ndarray)
    }
    with np.errstate(all="ignore"):
        for _, instance in instances(scop, sizes, tree):
            statement = scop.statement(instance.statement)
            _execute(statement, instance.iteration, symbols, memory, interpreter, dict(environment))
    return tuple(memory.read(array, ()) for array in scop.returns)


def _execute(
    statement: Statement,
    iteration: tuple[int, ...],
    symbols: tuple[int, ...],
    memory: _Memory,
    interpreter: Interpreter,
    environment: dict[SSAValue, Any],
) -> None:
    for value, expression in statement.indices.items():
        environment[value] = expression.eval(iteration, symbols)
    accesses = {access.op: access for access in statement.accesses}
    for op in statement.body:
        if (access := accesses.get(op)) is None:
            interpreter.execute(op, environment)
            continue
        subscripts = access.map.eval(iteration, symbols)
        if access.kind is AccessKind.READ:
            environment[op.results[0]] = memory.read(access.array, subscripts)
        else:
            memory.write(access.array, subscripts, environment[op.operands[0]])
