"""Why a schedule is illegal: the dependence, and a pair of iterations that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import islpy as isl

from .polyhedral.context import ISL_LOCK
from .polyhedral.dependences import Dependence

# Sizes that are tried, in turn, to show a violation by a pair of iterations.
_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 4096)


class Reason(Enum):
    """What would happen to the target of a violated dependence."""

    BACKWARD = "but would run after it"
    TOGETHER = "but both would be one iteration of all loops"
    PARALLEL = "but they would run in different iterations of the parallel loop {loop}"
    VECTOR = "but they would run in one vector of loop {loop}"


@dataclass(frozen=True)
class Violation:
    """Instances that a dependence orders, and that a schedule runs in the wrong order or in none.

    `pairs` is a part of the dependence's relation; `loop` the name of the loop at fault, or None
    where statements are in the wrong order.
    """

    dependence: Dependence
    pairs: isl.Map
    reason: Reason
    loop: str | None

    def describe(self) -> str:
        """One line with the dependence and a concrete pair of iterations."""
        source, target, sizes = self.example()
        dependence = self.dependence
        given = f" (with {sizes})" if sizes else ""
        return (
            f"the {dependence.kind.value} dependence from {dependence.source} to "
            f"{dependence.target} on {dependence.array} is violated: {source} must run before "
            f"{target}, {self.reason.value.format(loop=self.loop)}{given}"
        )

    def example(self) -> tuple[str, str, str]:
        """A small violating pair and its sizes: `S0[i=1]`, `S1[i=0]`, `N=2`."""
        with ISL_LOCK:
            chosen = _smallest(self.pairs.params())
            pairs = self.pairs.intersect_params(isl.Set.from_point(chosen))
            point = pairs.wrap().lexmin().sample_point()
            sizes = _coordinates(self.pairs.get_space(), isl.dim_type.param, chosen, 0)
            inputs = self.pairs.dim(isl.dim_type.in_)
            source = _coordinates(self.pairs.get_space(), isl.dim_type.in_, point, 0)
            target = _coordinates(self.pairs.get_space(), isl.dim_type.out, point, inputs)
        return (
            f"{self.dependence.source}[{source}]",
            f"{self.dependence.target}[{target}]",
            sizes,
        )


def _smallest(sizes: isl.Set) -> isl.Point:
    for bound in _SIZES:
        small = sizes
        for position in range(sizes.dim(isl.dim_type.param)):
            small = small.upper_bound_val(isl.dim_type.param, position, isl.Val(bound))
        if not small.is_empty():
            return small.lexmin().sample_point()
    return sizes.sample_point()


def _coordinates(space: isl.Space, kind: isl.dim_type, point: isl.Point, first: int) -> str:
    source = isl.dim_type.param if kind is isl.dim_type.param else isl.dim_type.set
    return ", ".join(
        f"{(space.get_dim_name(kind, position) or f'i{position}').rstrip(chr(39))}="
        f"{point.get_coordinate_val(source, first + position)}"
        for position in range(space.dim(kind))
    )
