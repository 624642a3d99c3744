"""Runs a Scop in the order of a schedule tree, instance by instance, without any code generation.

What differs from the interpreter's result is wrong in the polyhedral model or in the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import islpy as isl
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from loopwright.passes.polyhedral import schedule_tree
from loopwright.passes.polyhedral.scop import Access, AccessKind, Array, Scop, Statement

from . import arithmetic
from .interpreter import Interpreter, OutOfBoundsError, evaluator

Instance = tuple[str, tuple[int, ...]]


def parameter_values(scop: Scop, args: Sequence[Any]) -> dict[str, int]:
    """The values of the parameters in a call."""
    return {
        p.name: int(
            args[p.argument] if p.dimension is None else args[p.argument].shape[p.dimension]
        )
        for p in scop.parameters
    }


def _value(argument: Any, dimension: int | None) -> int:
    return int(argument if dimension is None else argument.shape[dimension])


def bind(domain: isl.Set, sizes: dict[str, int]) -> isl.Set:
    """The set for given values of its parameters, which it then has no longer."""
    for name, value in sizes.items():
        position = domain.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            domain = domain.fix_val(isl.dim_type.param, position, isl.Val(value))
    return domain.project_out(isl.dim_type.param, 0, domain.dim(isl.dim_type.param))


def points(domain: isl.Set) -> list[tuple[int, ...]]:
    """All elements of a bounded set without parameters."""
    found: list[tuple[int, ...]] = []

    def visit(point: isl.Point) -> None:
        dimensions = range(point.get_space().dim(isl.dim_type.set))
        values = (point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in dimensions)
        found.append(tuple(int(value) for value in values))

    domain.foreach_point(visit)
    return found


def instances(scop: Scop, sizes: dict[str, int]) -> list[Instance]:
    """All statement instances, in no particular order."""
    return [
        (statement.name, point)
        for statement in scop.statements
        for point in points(bind(statement.domain, sizes))
    ]


def value_of(aff: isl.Aff, iteration: Sequence[int], sizes: dict[str, int]) -> int:
    """The value of an affine function at a statement instance."""
    names = (aff.get_dim_name(isl.dim_type.param, n) for n in range(aff.dim(isl.dim_type.param)))
    point = isl.Point.zero(aff.get_domain_space())
    for position, name in enumerate(names):
        point = point.set_coordinate_val(isl.dim_type.param, position, isl.Val(sizes[name]))
    for position, value in enumerate(iteration):
        point = point.set_coordinate_val(isl.dim_type.set, position, isl.Val(value))
    return int(aff.eval(point).to_python())


def time_stamp(
    tree: schedule_tree.Tree, instance: Instance, sizes: dict[str, int]
) -> tuple[int, ...]:
    """When the instance runs: loop values and positions in sequences, outermost first.

    Iterations of parallel loops are taken backwards. Those of vector loops run in lockstep: their
    values decide last.
    """
    outer, lanes = _time_stamp(tree, instance, sizes)
    return (*outer, *lanes)


def _time_stamp(
    tree: schedule_tree.Tree, instance: Instance, sizes: dict[str, int]
) -> tuple[list[int], list[int]]:
    name, iteration = instance
    match tree:
        case schedule_tree.Leaf():
            return [], []
        case schedule_tree.Loop(schedule=schedule, body=body):
            value = value_of(schedule[name], iteration, sizes)
            outer, lanes = _time_stamp(body, instance, sizes)
            if tree.parallel:
                return [-value, *outer], lanes
            return ([value, *outer], lanes) if tree.vector is None else (outer, [value, *lanes])
        case schedule_tree.Sequence(children):
            number, body = next(
                (number, child)
                for number, child in enumerate(children)
                if name in schedule_tree.statements(child)
            )
            outer, lanes = _time_stamp(body, instance, sizes)
            return [number, *outer], lanes


@dataclass
class ScopExecution:
    """A run of a Scop on arguments, which are changed in place."""

    scop: Scop
    args: Sequence[Any]

    def __post_init__(self) -> None:
        self.sizes = parameter_values(self.scop, self.args)
        self.local: dict[tuple[str, tuple[int, ...]], Any] = {}
        self.accesses = {
            s.name: {id(access.op): access for access in s.accesses} for s in self.scop.statements
        }
        self.evaluators: dict[int, Any] = {}
        self.interpreter = Interpreter(ModuleOp([]))

    def run(self, tree: schedule_tree.Tree) -> tuple[Any, ...]:
        """Runs all instances in the order of `tree`; returns the function's results."""
        order = sorted(
            instances(self.scop, self.sizes),
            key=lambda instance: time_stamp(tree, instance, self.sizes),
        )
        with np.errstate(all="ignore"):
            for name, iteration in order:
                self._execute(self.scop.statement(name), iteration)
        return tuple(self.local[array.name, ()] for array in self.scop.returns)

    def _symbols(self) -> list[int]:
        return [self.sizes[parameter.name] for parameter in self.scop.parameters]

    def _execute(self, statement: Statement, iteration: tuple[int, ...]) -> None:
        environment: dict[SSAValue, Any] = {}
        for formal, actual in zip(self.scop.func.body.block.args, self.args, strict=True):
            if not isinstance(actual, np.ndarray):
                environment[formal] = arithmetic.scalar(actual, formal.type)
        for value, expression in statement.indices.items():
            evaluate = self._evaluator(expression, [expression], len(iteration))
            environment[value] = evaluate([*iteration, *self._symbols()])[0]
        for op in statement.body:
            access = self.accesses[statement.name].get(id(op))
            if access is None:
                self.interpreter.execute(op, environment)
            else:
                self._access(op, access, iteration, environment)

    def _evaluator(self, key: object, results: Sequence[Any], dims: int) -> Any:
        cached = self.evaluators.get(id(key))
        if cached is None:
            cached = self.evaluators[id(key)] = (key, evaluator(results, dims))
        return cached[1]

    def _access(
        self,
        op: Operation,
        access: Access,
        iteration: tuple[int, ...],
        environment: dict[SSAValue, Any],
    ) -> None:
        evaluate = self._evaluator(access.map, access.map.results, len(iteration))
        subscripts = evaluate([*iteration, *self._symbols()])
        if access.kind is AccessKind.WRITE:
            self._write(access.array, subscripts, environment[op.operands[0]])
        else:
            value = self._read(access.array, subscripts)
            environment[op.results[0]] = arithmetic.scalar(value, op.results[0].type)

    def _argument(self, array: Array, subscripts: tuple[int, ...]) -> np.ndarray[Any, Any]:
        assert array.argument is not None
        argument = cast("np.ndarray[Any, Any]", self.args[array.argument])
        if not all(0 <= s < extent for s, extent in zip(subscripts, argument.shape, strict=True)):
            raise OutOfBoundsError(f"{array.name}{list(subscripts)}")
        return argument

    def _write(self, array: Array, subscripts: tuple[int, ...], value: Any) -> None:
        if array.is_local:
            self.local[array.name, subscripts] = value
        else:
            self._argument(array, subscripts)[subscripts] = value

    def _read(self, array: Array, subscripts: tuple[int, ...]) -> Any:
        if array.is_local:
            return self.local[array.name, subscripts]
        return self._argument(array, subscripts)[subscripts]
