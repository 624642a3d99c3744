"""Fallback code generation: loops over all values, with guards around the statements.

It needs no more of isl than operations on sets, and is there for the trees for which isl's AST is
wrong: the bounds of a loop are those of a polyhedron around the values, and a guard says for which
values of the loops there is an instance.

    for i in [0, n), i mod 3 = 1:          for j in [0, m + n / 2):
      S[i], at j = m + floor(i / 2)   ->     for i in [max(0, 2 j - 2 m), min(n, 2 j - 2 m + 2)):
                                               if i mod 3 = 1:
                                                 S[i]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce

import islpy as isl

from ...passes.polyhedral.isl_context import coalesced
from ...passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, statements
from .aff_to_index import aff_to_index, constraints_to_condition
from .full_tiles import outer_schedule
from .index_expression import Condition, Connective, Index, decide
from .limits import limits
from .nest import Block, For, Guard, Nest

_SET, _OUT = isl.dim_type.set, isl.dim_type.out


@dataclass(frozen=True, eq=False)
class Scan:
    """A tree whose nest scans its loops, over `domains` (statement -> instances).

    In the nest stand the loops in `originals` where these have the identity of one of the tree.
    """

    tree: Tree
    domains: Mapping[str, isl.Set]
    context: isl.Set
    originals: Mapping[int, Loop] = field(default_factory=dict[int, Loop])

    def nest(
        self,
        parameters: Mapping[str, Index],
        new_variable: Callable[[], int],
        call: Callable[[str, tuple[Index, ...]], Nest],
    ) -> Nest:
        """The nest; `call` is asked for what runs an instance of a statement."""
        domains = {
            name: domain
            for name in statements(self.tree)
            if not (domain := self.domains[name].intersect_params(self.context)).is_empty()
        }
        scanner = _Scanner(self, domains, parameters, new_variable, call)
        nothing = isl.Set.universe(self.context.get_space().set_from_params())
        return scanner.scan(self.tree, (), nothing)


@dataclass(frozen=True, eq=False)
class _Scanner:
    """Builds the nest; `outer` are the surrounding loops and values, `inside` their bounds."""

    task: Scan
    domains: Mapping[str, isl.Set]
    parameters: Mapping[str, Index]
    new_variable: Callable[[], int]
    call: Callable[[str, tuple[Index, ...]], Nest]

    def scan(self, tree: Tree, outer: tuple[tuple[Loop, Index], ...], inside: isl.Set) -> Nest:
        """The nest of `tree`."""
        names = [name for name in statements(tree) if name in self.domains]
        match tree:
            case Leaf(name) if names:
                return self._instance(name, outer, inside)
            case Loop(body=body) if names:
                variable = self.new_variable()
                bounds = self._bounds(tree, names, outer)
                lower, upper = self._range(bounds, (*outer, (tree, Index())))
                inner = (*outer, (tree, Index.variable(variable)))
                inside = reduce(isl.Set.add_constraint, bounds, inside.add_dims(_SET, 1))
                loop = self.task.originals.get(id(tree), tree)
                return For(loop, variable, lower, upper, 1, self.scan(body, inner, inside))
            case Sequence(children):
                return Block(tuple(self.scan(child, outer, inside) for child in children))
            case _:
                return Block(())

    def _bounds(
        self, loop: Loop, names: list[str], outer: tuple[tuple[Loop, Index], ...]
    ) -> tuple[isl.Constraint, ...]:
        """What bounds the values of a loop, given those of the loops around."""
        around = (*(each for each, _ in outer), loop)
        parts = (outer_schedule(around, name, self.domains[name]).range() for name in names)
        return limits(reduce(isl.Set.union, parts), self.task.context)

    def _range(
        self, bounds: tuple[isl.Constraint, ...], loops: tuple[tuple[Loop, Index], ...]
    ) -> tuple[tuple[Index, ...], tuple[Index, ...]]:
        """The bounds of the last of the loops, whose value counts as 0; upper ones are excluded."""
        lower: list[Index] = []
        upper: list[Index] = []
        for bound in bounds:
            factor = bound.get_coefficient_val(_SET, len(loops) - 1).to_python()
            rest = self._value(bound.get_aff(), loops)
            if factor > 0:
                lower.append(-(rest // factor))
            else:
                upper.append(rest // -factor + 1)
        return tuple(dict.fromkeys(lower)), tuple(dict.fromkeys(upper))

    def _instance(self, name: str, outer: tuple[tuple[Loop, Index], ...], inside: isl.Set) -> Nest:
        """The instance of a statement at the values of its loops, where there is one."""
        around = tuple(each for each, _ in outer)
        values = outer_schedule(around, name, self.domains[name])
        instances = isl.PwMultiAff.from_map(values.reverse().compute_divs())
        parts: list[Nest] = []

        def add(where: isl.Set, instance: isl.MultiAff) -> None:
            condition = self._condition(where.gist(inside.align_params(where.get_space())), outer)
            affs = (instance.get_aff(k) for k in range(instance.dim(_OUT)))
            call = self.call(name, tuple(self._value(aff, outer) for aff in affs))
            parts.append(call if decide(condition) else Guard(condition, call))

        coalesced(instances).foreach_piece(add)
        return parts[0] if len(parts) == 1 else Block(tuple(parts))

    def _condition(self, where: isl.Set, outer: tuple[tuple[Loop, Index], ...]) -> Condition:
        values = [value for _, value in outer]
        alternatives = [
            constraints_to_condition(part, values, self.parameters)
            for part in where.compute_divs().get_basic_sets()
        ]
        return alternatives[0] if len(alternatives) == 1 else Connective("any", tuple(alternatives))

    def _value(self, aff: isl.Aff, outer: tuple[tuple[Loop, Index], ...]) -> Index:
        return aff_to_index(aff, [value for _, value in outer], self.parameters)
