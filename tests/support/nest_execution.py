"""Runs the loop nest of a schedule instance by instance, and tells what it ought to run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import islpy as isl

from loopwright.lowering.nest.ast_to_nest import ast_to_nest
from loopwright.lowering.nest.build_ast import build_ast
from loopwright.lowering.nest.index_expression import (
    Atom,
    Choice,
    Comparison,
    Condition,
    Connective,
    Extremum,
    Index,
    Quotient,
    Variable,
)
from loopwright.lowering.nest.nest import Block, Call, For, Guard, Nest, Once, TileSplit
from loopwright.passes.polyhedral.schedule_tree import without_marks
from loopwright.passes.schedules.schedule import Schedule

from .scop_execution import Instance, instances, time_stamp

Values = Mapping[int, int]


def executed(schedule: Schedule, sizes: Mapping[str, int], *, symbolic: bool) -> list[Instance]:
    """The instances that the nest runs, in order; with `symbolic`, made without the sizes."""
    scop = schedule.scop
    context = scop.context
    if not symbolic:
        for position, parameter in enumerate(scop.parameters):
            size = isl.Val(sizes[parameter.name])
            context = context.fix_val(isl.dim_type.param, position, size)
    domains = {s.name: s.domain.intersect_params(context) for s in scop.statements}
    numbers = itertools.count()
    names = {parameter.name: next(numbers) for parameter in scop.parameters}
    nest = ast_to_nest(
        build_ast(schedule.tree, domains, context),
        {name: Index.variable(number) for name, number in names.items()},
        lambda: next(numbers),
    )
    return list(run(nest, {number: sizes[name] for name, number in names.items()}))


def expected(schedule: Schedule, sizes: Mapping[str, int]) -> list[Instance]:
    """The instances of the program in the order of the schedule."""
    tree = without_marks(schedule.tree)
    values = dict(sizes)
    found = instances(schedule.scop, values)
    return sorted(found, key=lambda instance: time_stamp(tree, instance, values))


def run(nest: Nest, values: Values) -> Iterator[Instance]:
    """What a nest without run-time tile loops runs, when its variables have these values."""
    match nest:
        case For(variable=variable, body=body):
            first = max(value_of(bound, values) for bound in nest.lower)
            limit = min(value_of(bound, values) for bound in nest.upper)
            for iteration in range(first, limit, nest.step):
                yield from run(body, {**values, variable: iteration})
        case Once(body=body):
            yield from run(body, values)
        case Block(parts):
            for part in parts:
                yield from run(part, values)
        case Guard(condition, one, other) | TileSplit(condition, one, other):
            yield from run(one if holds(condition, values) else other, values)
        case Call(statement, arguments):
            yield statement, tuple(value_of(argument, values) for argument in arguments)


def value_of(index: Index, values: Values) -> int:
    """The value of an index."""
    return index.constant + sum(factor * _value(atom, values) for atom, factor in index.terms)


def holds(condition: Condition, values: Values) -> bool:
    """Whether a condition holds."""
    match condition:
        case Comparison(kind, left):
            value = value_of(left, values)
            return value >= 0 if kind == ">=" else value == 0
        case Connective(kind, operands):
            return (all if kind == "all" else any)(holds(each, values) for each in operands)


def _value(atom: Atom, values: Values) -> int:
    match atom:
        case Variable(number):
            return values[number]
        case Quotient(numerator, divisor):
            return value_of(numerator, values) // divisor
        case Extremum(kind, operands):
            pick = max if kind == "max" else min
            return pick(value_of(operand, values) for operand in operands)
        case Choice(condition, then, otherwise):
            return value_of(then if holds(condition, values) else otherwise, values)
