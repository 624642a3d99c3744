"""Integer divisions as dimensions of statement instances, for isl's code generation.

isl 0.28 loses instances where quotients of one iterator are added, as in diamond tiles of a tile
loop and its point loop. Here each quotient of a schedule, and each that says which instances there
are, becomes a dimension of its own, so that all is linear. The code is complete then, and longer.

    S[i] -> floor(i / 2) + floor(i / 3)    ->    S[i, p, q] -> p + q,
                                                 with 2 p <= i < 2 p + 2 and 3 q <= i < 3 q + 3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import islpy as isl

from ...passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, loops

_SET, _IN, _PARAM, _DIV = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.param, isl.dim_type.div


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """A tree whose sums of divisions are linear, over extended instances.

    The new dimensions come behind those of the statement. `originals` are the loops as they were,
    by the identity of what they have become.
    """

    tree: Tree
    domains: Mapping[str, isl.Set]
    originals: Mapping[int, Loop]


def has_sums_of_quotients(tree: Tree) -> bool:
    """Whether a loop of the tree runs over a function with several quotients."""
    return any(aff.dim(_DIV) > 1 for loop in loops(tree) for aff in loop.schedule.values())


def linear_program(tree: Tree, domains: Mapping[str, isl.Set]) -> LinearProgram:
    """The same order, with the quotients of statements with sums of these as dimensions."""
    lifted: dict[str, _Lifting] = {}
    for loop in loops(tree):
        for name, aff in loop.schedule.items():
            if aff.dim(_DIV) > 1 and name not in lifted:
                lifted[name] = _Lifting(name, _without_quotients(domains[name], name))
    for loop in loops(tree):
        for name in loop.schedule.keys() & lifted.keys():
            lifted[name].collect(loop.schedule[name])
    originals: dict[int, Loop] = {}
    new = {**domains, **{name: lifting.domain() for name, lifting in lifted.items()}}
    return LinearProgram(_rewrite(tree, lifted, originals), new, originals)


def _rewrite(tree: Tree, lifted: Mapping[str, _Lifting], originals: dict[int, Loop]) -> Tree:
    match tree:
        case Loop(schedule=schedule, body=body):
            functions = {
                name: lifted[name].linear(aff) if name in lifted else aff
                for name, aff in schedule.items()
            }
            loop = replace(tree, schedule=functions, body=_rewrite(body, lifted, originals))
            originals[id(loop)] = tree
            return loop
        case Sequence(children):
            return Sequence(tuple(_rewrite(child, lifted, originals) for child in children))
        case Leaf():
            return tree


def _without_quotients(instances: isl.Set, name: str) -> isl.Set:
    if instances.is_empty():
        return instances  # isl crashes when it lifts an empty set
    return instances.compute_divs().align_divs().lift().flatten().set_tuple_name(name)


@dataclass(eq=False)
class _Lifting:
    """The divisions of one statement, in order of dependence."""

    name: str
    instances: isl.Set
    arguments: dict[str, isl.Aff] = field(default_factory=dict[str, isl.Aff])

    def collect(self, aff: isl.Aff) -> None:
        """Takes note of the quotients in a function."""
        for division in self._divisions(aff):
            self.collect(division)
            self.arguments.setdefault(str(division), division)

    def _divisions(self, aff: isl.Aff) -> Iterator[isl.Aff]:
        aligned = aff.align_params(self.instances.get_space().params())
        for position in range(aligned.dim(_DIV)):
            if not aligned.get_coefficient_val(_DIV, position).is_zero():
                yield aligned.get_div(position)

    def domain(self) -> isl.Set:
        """The longer instances: each quotient has its value."""
        depth = self.instances.dim(_SET)
        longer = self.instances.add_dims(_SET, len(self.arguments)).set_tuple_name(self.name)
        for position, argument in enumerate(self.arguments.values(), start=depth):
            value = self.linear(argument)
            quotient = isl.Aff.var_on_domain(value.get_domain_local_space(), _SET, position)
            rest = value.sub(quotient).scale_val(argument.get_denominator_val())
            highest = isl.Aff.val_on_domain_space(
                value.get_domain_space(), argument.get_denominator_val().sub(isl.Val(1))
            )
            zero = isl.Aff.zero_on_domain_space(value.get_domain_space())
            longer = longer.intersect(rest.ge_set(zero)).intersect(rest.le_set(highest))
        return longer

    def linear(self, aff: isl.Aff) -> isl.Aff:
        """A function of the longer instances with dimensions in place of quotients."""
        aligned = aff.align_params(self.instances.get_space().params())
        depth, count = self.instances.dim(_SET), len(self.arguments)
        space = self.instances.get_space().add_dims(_SET, count).set_tuple_name(_SET, self.name)
        result = isl.Aff.zero_on_domain_space(space)
        result = result.set_constant_val(aligned.get_constant_val())
        for kind in (_PARAM, _IN):
            for position in range(aligned.dim(kind)):
                value = aligned.get_coefficient_val(kind, position)
                result = result.set_coefficient_val(kind, position, value)
        numbers = {text: depth + number for number, text in enumerate(self.arguments)}
        for position in range(aligned.dim(_DIV)):
            value = aligned.get_coefficient_val(_DIV, position)
            if not value.is_zero():
                place = numbers[str(aligned.get_div(position))]
                value = value.add(result.get_coefficient_val(_IN, place))
                result = result.set_coefficient_val(_IN, place, value)
        return result
