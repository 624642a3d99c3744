"""Distances and directions of dependences along the loops that source and target share."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from ..schedule_tree import Leaf, Loop, path, walk
from .context import ISL_LOCK
from .dependences import Dependence
from .scop import Scop


@dataclass(frozen=True)
class Direction:
    """How far the target is from the source along one loop, over all pairs of instances.

    `least` and `most` are None where there is no bound.
    """

    loop: str
    least: int | None
    most: int | None

    def __str__(self) -> str:
        """`0`, `1`, `-2` for a constant distance, else `+`, `-`, `0+`, `0-` or `*`."""
        if self.least is not None and self.least == self.most:
            return str(self.least)
        if self.least is not None and self.least >= 0:
            return "+" if self.least > 0 else "0+"
        if self.most is not None and self.most <= 0:
            return "-" if self.most < 0 else "0-"
        return "*"


def directions(scop: Scop, dependence: Dependence) -> tuple[Direction, ...]:
    """The directions of a dependence along the common loops, outermost first."""
    common = _common_loops(scop, dependence)
    with ISL_LOCK:
        relation = dependence.relation.project_out_all_params()
        for kind in (isl.dim_type.in_, isl.dim_type.out):
            inner = relation.dim(kind) - len(common)
            relation = relation.project_out(kind, len(common), inner).reset_tuple_id(kind)
        distances = relation.deltas()
        return tuple(
            Direction(
                name, _finite(distances.dim_min_val(depth)), _finite(distances.dim_max_val(depth))
            )
            for depth, name in enumerate(common)
        )


def _common_loops(scop: Scop, dependence: Dependence) -> list[str]:
    source, target = (_loops(scop, name) for name in (dependence.source, dependence.target))
    return [one.name for one, other in zip(source, target, strict=False) if one is other]


def _loops(scop: Scop, statement: str) -> list[Loop]:
    leaf = next(node for node in walk(scop.tree) if node == Leaf(statement))
    return [node for node in path(scop.tree, leaf) if isinstance(node, Loop)]


def _finite(value: isl.Val) -> int | None:
    return value.to_python() if value.is_int() else None
