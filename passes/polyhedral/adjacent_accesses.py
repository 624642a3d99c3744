"""Last and next accesses to an element, as lexicographic extrema of execution times.

    for i < n: A[i / 2] = ... A[i] ...
    reads and the times of earlier writes   { [S[i] -> A[i]] -> [t] : i = t / 2, t < i }
    their lexicographic maxima              { [S[i] -> A[i]] -> [t] : ... }  the last write before

One extremum of the accesses of all statements together, over all elements at once, asks isl for
less than its dataflow analysis, which goes through the statements and the levels of the schedule
and splits the domain of the next question by the answers to those before.
"""

from __future__ import annotations

from functools import reduce

import islpy as isl

from .schedule_tree import Leaf, Loop, Tree
from .scop import Scop

_Place = Loop | int
"""A loop around a statement, or the number of a child in a sequence."""


class ExecutionTimes:
    """Execution times of the statement instances of a tree: `{ S[i, j] -> [i, 0, j] }`."""

    def __init__(self, scop: Scop, tree: Tree) -> None:
        places = list(_places(tree, ()))
        depth = max((len(path) for _, path in places), default=0)
        times = [_time(scop.statement(name).domain, path, depth) for name, path in places]
        space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, depth)
        self._space = space.align_params(scop.context.get_space())
        nothing = isl.UnionMap.empty(scop.context.get_space())
        self.of = reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, times), nothing)

    def last_before(self, source: isl.UnionMap, sink: isl.UnionMap) -> isl.UnionMap:
        """`{ S[i] -> T[j] }`: from the last access of `source` to one of `sink` behind it."""
        candidates = self._candidates(sink, source, isl.Map.lex_gt(self._space))
        last = candidates.lexmax().apply_range(self.of.reverse())
        return last.reverse().apply_range(sink.domain_map())

    def next_behind(self, source: isl.UnionMap, sink: isl.UnionMap) -> isl.UnionMap:
        """`{ S[i] -> T[j] }`: from an access of `source` to the next one of `sink`."""
        candidates = self._candidates(source, sink, isl.Map.lex_lt(self._space))
        behind = candidates.lexmin().apply_range(self.of.reverse())
        return source.domain_map().reverse().apply_range(behind)

    def _candidates(
        self, accesses: isl.UnionMap, others: isl.UnionMap, order: isl.Map
    ) -> isl.UnionMap:
        """`{ [S[i] -> A[x]] -> [t] }`: when others access the element, before or behind."""
        same_element = accesses.range_map().apply_range(others.reverse()).apply_range(self.of)
        in_order = self.of.apply_range(isl.UnionMap.from_map(order))
        return same_element.intersect(accesses.domain_map().apply_range(in_order))


def _places(tree: Tree, outer: tuple[_Place, ...]) -> list[tuple[str, tuple[_Place, ...]]]:
    match tree:
        case Leaf(name):
            return [(name, outer)]
        case Loop(body=body):
            return _places(body, (*outer, tree))
        case _:
            children = enumerate(tree.children)
            return [place for n, child in children for place in _places(child, (*outer, n))]


def _time(domain: isl.Set, path: tuple[_Place, ...], depth: int) -> isl.Map:
    name = domain.get_tuple_name()
    assert name is not None
    zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(domain.get_space()))
    result = isl.Map.from_domain(domain)
    for place in (*path, *[0] * (depth - len(path))):
        is_loop = isinstance(place, Loop)
        value = place.schedule[name] if is_loop else zero.set_constant_val(isl.Val(place))
        result = result.flat_range_product(isl.Map.from_aff(value))
    return result
