"""Statements that compute one local value under opposite conditions, in one place of a loop.

isl runs ahead of a loop what is only in its first iteration. Of a value that is used later on in
the same iteration, there is then one for each iteration:

    for j in [0, m):                 v[0] = b                       for j in [0, m):
      if j >= 1: v = a[j - 1]        for j in [0, m):                 if j >= 1: v = a[j - 1]
      if j < 1: v = b           ->     if j >= 1: v[j] = a[j - 1]     else: v = b
      c[j] = v                         c[j] = v[j]                    c[j] = v

                                     isl alone                      with the statements joined
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

import islpy as isl

from ...passes.polyhedral.isl_context import coalesced
from ...passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, statements
from ...passes.polyhedral.scop import Scop
from .aff_to_index import constraints_to_condition
from .index_expression import Index
from .nest import Call, For, Guard, Nest, Once, with_children


@dataclass(frozen=True, eq=False)
class _Alternative:
    """What runs instead of a statement where its condition on its iterators does not hold."""

    condition: isl.BasicSet
    otherwise: str


@dataclass(eq=False)
class Joined:
    """A tree over `domains` in which one statement stands for all that are its alternatives."""

    domains: dict[str, isl.Set]
    tree: Tree
    _alternatives: dict[str, _Alternative] = field(default_factory=dict[str, _Alternative])
    _originals: dict[int, Loop] = field(default_factory=dict[int, Loop])

    def apart(self, nest: Nest, parameters: Mapping[str, Index]) -> Nest:
        """A nest of the tree, with all statements, in the loops of the tree as it was."""
        if not self._alternatives:
            return nest
        match nest:
            case Call():
                return self._statement(nest.statement, nest.arguments, parameters)
            case For(loop=loop) | Once(loop=loop):
                nest = replace(nest, loop=self._originals.get(id(loop), loop))
            case _:
                pass
        return with_children(nest, lambda child: self.apart(child, parameters))

    def _statement(
        self, name: str, arguments: tuple[Index, ...], parameters: Mapping[str, Index]
    ) -> Nest:
        own = Call(name, arguments)
        alternative = self._alternatives.get(name)
        if alternative is None:
            return own
        condition = constraints_to_condition(alternative.condition, arguments, parameters)
        return Guard(condition, own, self._statement(alternative.otherwise, arguments, parameters))

    def join(self, tree: Tree, values: Mapping[str, str], outer: tuple[Loop, ...]) -> Tree:
        """The tree with one statement for those of the same one of some `values`."""
        match tree:
            case Leaf():
                return tree
            case Sequence(children):
                parts = tuple(self._parts(children, values, outer))
                if parts == children:
                    return tree
                return parts[0] if len(parts) == 1 else Sequence(parts)
            case Loop(body=body):
                inside = self.join(body, values, (*outer, tree))
                if inside is body:
                    return tree
                schedule = {name: tree.schedule[name] for name in statements(inside)}
                loop = replace(tree, schedule=schedule, body=inside)
                self._originals[id(loop)] = tree
                return loop

    def _parts(
        self, children: tuple[Tree, ...], values: Mapping[str, str], outer: tuple[Loop, ...]
    ) -> Iterator[Tree]:
        def value(child: Tree) -> str | None:
            return values.get(child.statement) if isinstance(child, Leaf) else None

        for key, group in groupby(children, value):
            if key is None:
                yield from (self.join(child, values, outer) for child in group)
                continue
            # From the last one on: each one joins what is its alternative, or stands alone.
            joined: list[str] = []
            for name in reversed([name for child in group for name in statements(child)]):
                if not (joined and self._joins(name, joined[-1], outer)):
                    joined.append(name)
                else:
                    joined[-1] = name
            yield from map(Leaf, reversed(joined))

    def _joins(self, name: str, other: str, outer: tuple[Loop, ...]) -> bool:
        """Whether a statement now stands for another one as well."""
        own, rest = self.domains[name], self.domains[other].set_tuple_name(name)
        if own.is_empty() or rest.is_empty() or not own.is_disjoint(rest):
            return False
        if not all(
            loop.schedule[name].plain_is_equal(
                loop.schedule[other].set_tuple_id(isl.dim_type.in_, own.get_tuple_id())
            )
            for loop in outer
        ):
            return False
        both = coalesced(own.union(rest))
        condition = own.gist(both).compute_divs()
        parts = condition.get_basic_sets()
        if both.n_basic_set() != 1 or len(parts) != 1 or parts[0].dim(isl.dim_type.div):
            return False
        if any(_decides(loop.schedule[name], parts[0]) for loop in outer if loop.vector):
            return False
        self.domains[name] = both
        del self.domains[other]
        self._alternatives[name] = _Alternative(parts[0], other)
        return True


def join_alternatives(scop: Scop, tree: Tree, domains: Mapping[str, isl.Set]) -> Joined:
    """The tree with statements joined that compute a local value and are never all executed.

    Not those that are executed in different lanes of a vector.
    """
    values: dict[str, str] = {}
    for statement in scop.statements:
        if len(statement.writes) == 1 and not statement.is_opaque:
            array = statement.writes[0].array
            if array.is_local and len(array.shape) == array.scope_depth:
                values[statement.name] = array.name
    result = Joined(dict(domains), tree)
    if len(set(values.values())) < len(values):
        result.tree = result.join(tree, values, ())
    return result


def _decides(value: isl.Aff, condition: isl.BasicSet) -> bool:
    """Whether a condition may hold for some values of a loop and not for others."""
    kind = isl.dim_type.in_
    return any(
        value.involves_dims(kind, k, 1) and condition.involves_dims(isl.dim_type.set, k, 1)
        for k in range(value.dim(kind))
    )
