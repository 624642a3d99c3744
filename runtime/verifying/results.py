"""What a kernel computes from copies of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..calling.arguments import ArrayArgument
from ..calling.elements import stored
from ..kernel import Kernel

Array = NDArray[Any]


def results_of(
    kernel: Kernel, values: Sequence[object], tiles: Mapping[str, int] | None = None
) -> dict[str, Array]:
    """The arrays that a call on copies of the values writes, by name, and its results.

    `tiles` are the tile sizes that the kernel leaves open. Raises what a call raises.
    """
    copies = [
        cast(Array, value).copy() if isinstance(value, np.ndarray) else value for value in values
    ]
    returned = kernel(*copies, **(tiles or {}))
    results = {
        argument.place.name: np.asarray(copies[argument.place.position])
        for argument in kernel.signature.arguments
        if isinstance(argument, ArrayArgument) and argument.writes
    }
    if kernel.signature.results:
        each = returned if isinstance(returned, tuple) else (returned,)
        for number, (element, value) in enumerate(
            zip(kernel.signature.results, each, strict=True), start=1
        ):
            results[f"result {number}"] = stored(np.asarray(value), element.dtype)
    return results
