"""Violations: the dependence, and a witness pair of iterations."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

import islpy as isl

from ..polyhedral.dependences import Dependence
from ..polyhedral.isl_context import TooComplexError, bounded
from ..polyhedral.points import first_point

_KINDS = (isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out)

# Sizes that are tried, in turn, to show a violation by a pair of iterations.
_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 4096)


_WITNESS_SECONDS = 2.0


class Reason(Enum):
    """The consequence for the target of a violated dependence."""

    BACKWARD = "but would run after it"
    TOGETHER = "but both would be one iteration of all loops"
    PARALLEL = "but they would run in different iterations of the parallel loop {loop}"
    VECTOR = "but they would run in one vector of loop {loop}"
    ELSEWHERE = "but it would write another element than that one reads"


@dataclass(frozen=True)
class Witness:
    """A pair of iterations that shows a violation: names and values of their loops, and sizes."""

    source: tuple[tuple[str, int], ...]
    target: tuple[tuple[str, int], ...]
    sizes: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Violation:
    """Instances of a dependence that a schedule runs in the wrong order or not at all.

    `pairs` is a part of the dependence's relation; `loop` the name of the loop at fault, or None
    where statements are in the wrong order.
    """

    dependence: Dependence
    pairs: isl.Map
    reason: Reason
    loop: str | None

    def describe(self) -> str:
        """One line with the dependence and a concrete pair of iterations, if one is found."""
        dependence = self.dependence
        source, target, sizes = dependence.source, dependence.target, ""
        with suppress(TooComplexError, isl.Error):
            witness = self.witness()
            source += f"[{_iteration(witness.source)}]"
            target += f"[{_iteration(witness.target)}]"
            sizes = ", ".join(f"{name}={value}" for name, value in witness.sizes.items())
        return (
            f"the {dependence.kind.value} dependence from {dependence.source} to "
            f"{dependence.target} on {dependence.array} is violated: "
            f"{source} must run before {target}, "
            f"{self.reason.value.format(loop=self.loop)}{f' (with {sizes})' if sizes else ''}"
        )

    def witness(self) -> Witness:
        """A pair of iterations with small sizes; raises TooComplexError, isl.Error."""
        with bounded(seconds=_WITNESS_SECONDS):
            space = self.pairs.get_space()
            parameters, inputs = space.dim(isl.dim_type.param), space.dim(isl.dim_type.in_)
            points = self.pairs.wrap().flatten()
            # Sizes come first, so that the smallest point is one with small sizes.
            points = points.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, parameters)
            values = _coordinates(first_point(_with_small_sizes(points, parameters)))
            names = [_names(space, kind) for kind in _KINDS]
        sizes, iterations = values[:parameters], values[parameters:]
        return Witness(
            tuple(zip(names[1], iterations[:inputs], strict=True)),
            tuple(zip(names[2], iterations[inputs:], strict=True)),
            dict(zip(names[0], sizes, strict=True)),
        )


def _iteration(values: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values)


def _with_small_sizes(points: isl.Set, parameters: int) -> isl.Set:
    """The points whose first coordinates, the sizes, are small, if there are any."""
    for bound in _SIZES:
        small = points
        for position in range(parameters):
            small = small.upper_bound_val(isl.dim_type.set, position, isl.Val(bound))
        if not small.is_empty():
            return small
    return points


def _coordinates(point: isl.Point) -> tuple[int, ...]:
    return tuple(
        point.get_coordinate_val(isl.dim_type.set, position).to_python()
        for position in range(point.get_space().dim(isl.dim_type.set))
    )


def _names(space: isl.Space, kind: isl.dim_type) -> list[str]:
    """Names of dimensions, without the marks that isl adds to tell source and target apart."""
    return [
        (space.get_dim_name(kind, position) or f"i{position}").rstrip("'")
        for position in range(space.dim(kind))
    ]
