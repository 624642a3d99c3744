"""Call sites of a nest, with the statement instances that each runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from .index_expression import Index
from .index_relations import IndexSpace
from .nest import Block, Call, For, Guard, Nest, Once, TileSplit

_SET = isl.dim_type.set


@dataclass(frozen=True, eq=False)
class CallSite:
    """A call in the nest, below the `For` loops in `loops`, outermost first.

    `instances` says which instance of the statement runs for which values of these loops:
    `[params] -> { [v0, v1, ...] -> S0[i, j] }`.
    """

    statement: str
    loops: tuple[For, ...]
    instances: isl.Map


def read_nest(
    nest: Nest, context: isl.Set, parameters: Mapping[str, Index]
) -> tuple[CallSite, ...]:
    """Every call of a nest without run-time tile loops, in textual order.

    `parameters` are the values of the sizes in the nest, `context` says which of these there are.
    """
    names = {variable: name for name, value in parameters.items() for variable in value.variables()}
    domain = isl.Set.universe(context.get_space().set_from_params()).intersect_params(context)
    return tuple(_calls(nest, domain, (), names))


def _calls(
    nest: Nest, domain: isl.Set, loops: tuple[For, ...], parameters: Mapping[int, str]
) -> Iterator[CallSite]:
    """The calls of a nest that runs for the values of the loops around in `domain`."""
    match nest:
        case Call():
            yield CallSite(nest.statement, loops, _instances(nest, domain, loops, parameters))
        case Block(parts):
            for part in parts:
                yield from _calls(part, domain, loops, parameters)
        case Guard(condition, one, other) | TileSplit(condition, one, other):
            holds = _space(domain, loops, parameters).condition(condition)
            yield from _calls(one, domain.intersect(holds), loops, parameters)
            if other != Block(()):
                yield from _calls(other, domain.subtract(holds), loops, parameters)
        case Once(body=body):
            yield from _calls(body, domain, loops, parameters)
        case For(body=body):
            inside = _iterations(nest, domain, loops, parameters)
            yield from _calls(body, inside, (*loops, nest), parameters)


def _space(domain: isl.Set, loops: tuple[For, ...], parameters: Mapping[int, str]) -> IndexSpace:
    variables = tuple(loop.variable for loop in loops)
    return IndexSpace(domain.get_space(), variables, parameters)


def _iterations(
    loop: For, domain: isl.Set, loops: tuple[For, ...], parameters: Mapping[int, str]
) -> isl.Set:
    """The values of the loops around and of the loop itself, at its iterations."""
    inside = domain.add_dims(_SET, 1)
    indices = _space(inside, (*loops, loop), parameters)
    value = indices.function(Index.variable(loop.variable))
    lower = [indices.function(bound) for bound in loop.lower]
    for bound in lower:
        inside = inside.intersect(value.ge_set(bound))
    for bound in map(indices.function, loop.upper):
        inside = inside.intersect(value.lt_set(bound))
    if loop.step != 1:
        distance = value.sub(reduce(isl.PwAff.max, lower))
        inside = inside.intersect(distance.mod_val(isl.Val(loop.step)).zero_set())
    return inside


def _instances(
    call: Call, domain: isl.Set, loops: tuple[For, ...], parameters: Mapping[int, str]
) -> isl.Map:
    indices = _space(domain, loops, parameters)
    return indices.instances(call.statement, call.arguments).intersect_domain(domain)
