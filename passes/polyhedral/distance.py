"""Distance and direction vectors of dependences."""

from __future__ import annotations

import islpy as isl

from .schedule_tree import Leaf, Loop, Sequence, Tree
from .scop import Scop


def common_loops(scop: Scop, source: str, target: str) -> int:
    """The number of loops of the program that surround both statements."""
    paths = dict(_loops_around(scop.tree, ()))
    return sum(a is b for a, b in zip(paths[source], paths[target], strict=False))


def _loops_around(tree: Tree, around: tuple[Loop, ...]) -> list[tuple[str, tuple[Loop, ...]]]:
    match tree:
        case Leaf(name):
            return [(name, around)]
        case Loop(body=body):
            return _loops_around(body, (*around, tree))
        case Sequence(children):
            return [item for child in children for item in _loops_around(child, around)]


def distances(scop: Scop, source: str, target: str, relation: isl.Map) -> tuple[int | str, ...]:
    """Per common loop, by how much the induction variable of the target is larger.

    `relation` goes from instances of `source` to those of `target`. A number where the difference
    is constant, else `+`, `-`, `0+`, `0-` or `*` for its possible signs.
    """
    common = common_loops(scop, source, target)
    for type_ in (isl.dim_type.in_, isl.dim_type.out):
        inner = relation.dim(type_) - common
        relation = relation.project_out(type_, common, inner).reset_tuple_id(type_)
    deltas = relation.deltas()
    return tuple(_range(deltas, position) for position in range(common))


def _range(deltas: isl.Set, position: int) -> int | str:
    low, high = deltas.dim_min_val(position), deltas.dim_max_val(position)
    if low.is_int() and low.eq(high):
        return low.to_python()
    zero = isl.Val.zero(isl.DEFAULT_CONTEXT)
    signs = (
        (low.gt(zero), "+"),
        (high.lt(zero), "-"),
        (low.ge(zero), "0+"),
        (high.le(zero), "0-"),
    )
    return next((sign for holds, sign in signs if holds), "*")
