"""Standard sizes, arguments and results of shipped kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..kernels.catalogue import KernelEntry
    from ..runtime.program import Function
    from ..runtime.tuning.trial_messages import Comparison

DEFAULT_SIZE = "SMALL"
"""A size that all kernels have."""


def standard_size(entry: KernelEntry, size: str | None) -> dict[str, int]:
    """The parameters of a size class; raises InputError."""
    from ..runtime.calling.inputs import InputError

    try:
        return dict(entry.parameter_values(size or DEFAULT_SIZE))
    except KeyError as error:
        raise InputError(str(error.args[0])) from error


def standard_extents(
    entry: KernelEntry, function: Function, sizes: Mapping[str, int]
) -> dict[str, int]:
    """The sizes, all parameters among them, and the extents of the kernel's arrays."""
    first = len(function.signature.arguments) - len(entry.arrays)
    shapes = [array.extents(sizes) for array in entry.arrays]
    extents = {
        size.name: shapes[size.argument - first][size.dimension]
        for size in function.scop.sizes
        if size.dimension is not None
    }
    return extents | dict(sizes)


def standard_arguments(entry: KernelEntry, sizes: Mapping[str, int]) -> list[Any]:
    """The arguments of a call with these parameters; raises InputError."""
    from ..runtime.calling.inputs import InputError, available_memory

    described = ", ".join(f"{name}={value}" for name, value in sizes.items())
    try:
        needed = entry.array_bytes(sizes)
        if needed > available_memory():
            raise MemoryError(f"the arrays need {needed / 2**30:,.1f} GiB")
        return list(entry.arguments(sizes))
    except (MemoryError, ValueError) as error:
        raise InputError(f"{entry.name} has no arguments for {described}: {error}") from error


def comparison(entry: KernelEntry, function: Function, values: Sequence[object]) -> Comparison:
    """What tuning compares of a shipped kernel: its results, where they are determined."""
    from ..runtime.tuning.trial_messages import Comparison  # with all that tuning needs

    sizes = sizes_of(entry, values)
    elements: dict[str, NDArray[np.bool_] | None] = {}
    arguments = function.signature.arguments[-len(entry.arrays) :]
    for array, argument in zip(entry.arrays, arguments, strict=True):
        if array.output:
            mask = (
                None
                if array.determined is None
                else array.determined_mask(array.extents(sizes), sizes)
            )
            elements[argument.place.name] = mask
    return Comparison(elements, entry.tolerance)


def sizes_of(entry: KernelEntry, values: Sequence[object]) -> dict[str, Any]:
    """The parameters among the arguments of a call."""
    return dict(zip(entry.parameters, values, strict=False))
