"""The work of a call, counted: floating-point operations, and the bytes that it moves at least."""

from __future__ import annotations

from collections.abc import Mapping

from ...passes.polyhedral.counting import UncountableError, floating_point_operations
from ...passes.polyhedral.scop import Scop
from ...passes.polyhedral.touched_elements import touched_elements
from ..calling.arguments import ArrayArgument
from ..calling.signature import Signature


def operations(scop: Scop, sizes: Mapping[str, int]) -> int | None:
    """Floating-point operations of a call; None when they cannot be counted."""
    try:
        return floating_point_operations(scop, sizes)
    except UncountableError:
        return None


def traffic(scop: Scop, signature: Signature, sizes: Mapping[str, int]) -> int | None:
    """Bytes of the elements that are read and of those that are written, each counted once.

    None when they cannot be counted.
    """
    try:
        touched = touched_elements(scop, sizes)
    except UncountableError:
        return None
    return sum(
        argument.element.dtype.itemsize * sum(touched[position])
        for position, argument in enumerate(signature.arguments)
        if isinstance(argument, ArrayArgument)
    )
