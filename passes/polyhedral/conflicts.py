"""Dependences by relational algebra alone, without parametric integer programming.

isl's dataflow analysis solves a parametric integer program for each pair of accesses, and fails on
some of those with integer divisions. What is here needs only compositions and differences of
relations, and gives the same result, as a rule more slowly.
"""

from __future__ import annotations

import islpy as isl

from .schedule_tree import Leaf, Loop, Sequence, Tree, statements, union_schedule


def last_accesses(
    tree: Tree, source: isl.UnionMap, sink: isl.UnionMap, kill: isl.UnionMap | None
) -> isl.UnionMap:
    """Pairs of instances that access the same element, the source before the sink in `tree`.

    With `kill`, only pairs without an access of `kill` to the element in between. Accesses are
    `{ S[i] -> A[x] }`.
    """
    pairs = _pairs(tree, source, sink)
    if kill is not None:
        pairs = pairs.subtract(_pairs(tree, source, kill).apply_range(_pairs(tree, kill, sink)))
    return source.domain_map().reverse().apply_range(pairs).apply_range(sink.domain_map())


def _pairs(tree: Tree, source: isl.UnionMap, sink: isl.UnionMap) -> isl.UnionMap:
    """`{ [S[i] -> A[x]] -> [T[j] -> A[x]] }` with S[i] before T[j]."""
    same_element = source.range_map().apply_range(sink.range_map().reverse())
    order = _before(tree, source.apply_range(sink.reverse()))
    in_order = source.domain_map().apply_range(order).apply_range(sink.domain_map().reverse())
    return same_element.intersect(in_order)


def _before(tree: Tree, pairs: isl.UnionMap) -> isl.UnionMap:
    """The pairs of instances whose first runs before the second in the order of `tree`."""
    match tree:
        case Loop(body=body):
            value = union_schedule(tree)
            earlier = pairs.lex_lt_at_multi_union_pw_aff(value)
            return earlier.union(_before(body, pairs.eq_at_multi_union_pw_aff(value)))
        case Sequence(children):
            result = isl.UnionMap.empty(pairs.get_space())
            groups = [statements(child) for child in children]
            for first, child in enumerate(children):
                own = _between(pairs, groups[first], groups[first])
                result = result.union(_before(child, own))
                for second in range(first + 1, len(children)):
                    result = result.union(_between(pairs, groups[first], groups[second]))
            return result
        case Leaf():
            return isl.UnionMap.empty(pairs.get_space())


def _between(
    pairs: isl.UnionMap, sources: tuple[str, ...], targets: tuple[str, ...]
) -> isl.UnionMap:
    """The pairs from a statement of `sources` to one of `targets`."""
    parts: list[isl.Map] = []

    def look(part: isl.Map) -> None:
        names = part.get_tuple_name(isl.dim_type.in_), part.get_tuple_name(isl.dim_type.out)
        if names[0] in sources and names[1] in targets:
            parts.append(part)

    pairs.foreach_map(look)
    result = isl.UnionMap.empty(pairs.get_space())
    for part in parts:
        result = result.union(isl.UnionMap.from_map(part))
    return result
