"""Limits of the sizes of a function: where its indices would leave their types."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import func

from ...lowering.loops.index_magnitudes import SizeLimits, size_limits
from ...lowering.loops.magnitude import Magnitude, Size, exactly
from ...passes.polyhedral.bounds import BoundsError
from ...passes.polyhedral.scop import Scop
from ..calling.signature import WHOLE_LOOP


def arithmetic_limits(function: func.FuncOp, scop: Scop, sizes: Mapping[str, int]) -> SizeLimits:
    """The sizes with which no operation of arith that makes an index wraps around.

    `function` is the program as written. Raises BoundsError where it does with the given `sizes`.
    """
    return _checked(size_limits(function, _known(scop, sizes), arithmetic_only=True), scop, sizes)


def loop_limits(loops: func.FuncOp, scop: Scop, sizes: Mapping[str, int]) -> SizeLimits:
    """The sizes with which no index of generated loops leaves 64 bits.

    Raises BoundsError where one does with the given `sizes`.
    """
    known = _known(scop, sizes)
    # Tile sizes are behind the arguments of the program.
    tiles = range(len(scop.func.args), len(loops.args))
    known |= {(position, None): Magnitude(0, WHOLE_LOOP) for position in tiles}
    return _checked(size_limits(loops, known), scop, sizes)


def generated_limits(
    function: func.FuncOp, loops: func.FuncOp, scop: Scop, sizes: Mapping[str, int]
) -> SizeLimits:
    """Those of a function as written and of the loops that are generated for it."""
    own = arithmetic_limits(function, scop, sizes)
    return own.joined(loop_limits(loops, scop, sizes))


def fit(loops: func.FuncOp) -> bool:
    """Whether no index of loops leaves 64 bits for the sizes that they are made for."""
    return size_limits(loops, {}).fits


def _known(scop: Scop, sizes: Mapping[str, int]) -> dict[Size, Magnitude]:
    return {
        (size.argument, size.dimension): exactly(sizes[size.name])
        for size in scop.sizes
        if size.name in sizes
    }


def _checked(limits: SizeLimits, scop: Scop, sizes: Mapping[str, int]) -> SizeLimits:
    if limits.fits:
        return limits
    given = ", ".join(f"{name}={value}" for name, value in sizes.items())
    raise BoundsError.at(
        scop.func,
        f"an index of '{scop.name}' leaves its integer type" + (f", with {given}" if given else ""),
    )
