"""Call sites of a nest, with the statement instances that each runs, as isl relations.

Code generation checks itself with a reader of its own (`lowering/nest/reading.py`): the proof
shares no mistake with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal

import islpy as isl

from ..nest.index_expression import Condition, Index
from ..nest.index_relations import IndexSpace
from ..nest.nest import Block, Call, For, Guard, Nest, Once, TileSplit

_SET = isl.dim_type.set


@dataclass(frozen=True, eq=False)
class Step:
    """One node on the path from the root of the nest to a call: `number` is the child taken.

    Children of a `block` run one after the other, of those of a `branch` only one does.
    """

    kind: Literal["loop", "block", "branch"]
    node: Nest
    number: int = 0


@dataclass(frozen=True, eq=False)
class CallSite:
    """A call in the nest.

    `instances` says which instance of the statement runs for which values of the `For` loops
    around, outermost first: `[params] -> { [v0, v1, ...] -> S0[i, j] }`. `tile_sizes` has, for
    each of them that runs over tiles of a size that calls give, the parameter that is the size:
    the loop's value is a multiple of that, which isl does not know.
    """

    call: Call
    steps: tuple[Step, ...]
    instances: isl.Map
    tile_sizes: Mapping[int, str]

    @property
    def statement(self) -> str:
        """The name of the statement."""
        return self.call.statement

    @cached_property
    def loops(self) -> tuple[For, ...]:
        """The loops around, outermost first."""
        return tuple(step.node for step in self.steps if isinstance(step.node, For))


def read_nest(
    nest: Nest, context: isl.Set, names: Mapping[int, str], depths: Mapping[str, int]
) -> tuple[CallSite, ...]:
    """Every call of a nest, in textual order.

    `context` says which sizes there are, `names` which of them variables of the nest stand for;
    `depths` has the number of induction variables of every statement.
    """
    domain = isl.Set.universe(context.get_space().set_from_params()).intersect_params(context)
    return tuple(_Reader(names, depths).calls(nest, domain, (), ()))


class _Reader:
    def __init__(self, parameters: Mapping[int, str], depths: Mapping[str, int]) -> None:
        self.parameters = parameters
        self.depths = depths

    def calls(
        self, nest: Nest, domain: isl.Set, variables: tuple[int, ...], steps: tuple[Step, ...]
    ) -> Iterator[CallSite]:
        """The calls of a nest that runs for the values of the loop variables in `domain`."""
        match nest:
            case Call():
                yield self._call(nest, domain, variables, steps)
            case Block(parts):
                for number, part in enumerate(parts):
                    yield from self.calls(
                        part, domain, variables, (*steps, Step("block", nest, number))
                    )
            case Guard(condition, one, other) | TileSplit(condition, one, other):
                holds = self._condition(condition, domain, variables)
                cases = (one, domain.intersect(holds)), (other, domain.subtract(holds))
                for number, (part, inside) in enumerate(cases):
                    branch = Step("branch", nest, number)
                    yield from self.calls(part, inside, variables, (*steps, branch))
            case Once(body=body):
                yield from self.calls(body, domain, variables, (*steps, Step("loop", nest)))
            case For(variable=variable, body=body):
                inside = self._iterations(nest, domain, variables)
                loop = Step("loop", nest)
                yield from self.calls(body, inside, (*variables, variable), (*steps, loop))

    def _condition(
        self, condition: Condition, domain: isl.Set, variables: tuple[int, ...]
    ) -> isl.Set:
        return IndexSpace(domain.get_space(), variables, self.parameters).condition(condition)

    def _iterations(self, loop: For, domain: isl.Set, variables: tuple[int, ...]) -> isl.Set:
        """The values of the variables around and of the loop's own, at its iterations."""
        inside = domain.add_dims(_SET, 1)
        space = inside.get_space()
        indices = IndexSpace(space, (*variables, loop.variable), self.parameters)
        value = indices.function(Index.variable(loop.variable))
        lower = [indices.function(bound) for bound in loop.lower]
        # Tiles that end behind the lower bound.
        end = value
        if loop.size is not None:
            end = value.add(indices.function(loop.size - 1))
        for bound in lower:
            inside = inside.intersect(end.ge_set(bound))
        for bound in map(indices.function, loop.upper):
            inside = inside.intersect(value.lt_set(bound))
        if loop.step != 1:
            distance = value.sub(reduce(isl.PwAff.max, lower))
            inside = inside.intersect(distance.mod_val(isl.Val(loop.step)).zero_set())
        return inside

    def _call(
        self, call: Call, domain: isl.Set, variables: tuple[int, ...], steps: tuple[Step, ...]
    ) -> CallSite:
        assert len(call.arguments) == self.depths[call.statement], "one value for each dimension"
        indices = IndexSpace(domain.get_space(), variables, self.parameters)
        function = indices.instances(call.statement, call.arguments)
        instances = function.intersect_domain(domain)
        return CallSite(call, steps, instances, self._tile_sizes(steps))

    def _tile_sizes(self, steps: tuple[Step, ...]) -> Mapping[int, str]:
        loops = [step.node for step in steps if isinstance(step.node, For)]
        sizes = {k: loop.size for k, loop in enumerate(loops) if loop.size is not None}
        return {k: self.parameters[next(size.variables())] for k, size in sizes.items()}
