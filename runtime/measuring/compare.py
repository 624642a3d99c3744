"""Comparison of two runs' results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..calling.elements import BFLOAT16, numbers

Array = NDArray[Any]

ROUNDING = {"f16": 1e-2, "bf16": 8e-2, "f32": 1e-4, "f64": 1e-9}
"""Differences, relative to the largest value, that can come from another order of rounding."""

BFLOAT16_EPSILON = 2.0**-7

CHUNK = 1 << 15
"""Elements that `relative_difference` compares at a time, in the first caches."""


@dataclass(frozen=True)
class Agreement:
    """Difference of one array from its reference.

    `difference` is the largest absolute difference and `relative` the same as a share of the
    largest magnitude in the reference (infinite where NaN or infinities are at other places).
    """

    name: str
    bit_equal: bool
    difference: float
    relative: float
    tolerance: float
    has_nan: bool

    @property
    def agrees(self) -> bool:
        """Whether the arrays are equal up to the tolerance."""
        return self.bit_equal or self.relative <= self.tolerance

    def __str__(self) -> str:
        if self.bit_equal:
            return f"{self.name}: bit-equal" + (" (with NaN)" if self.has_nan else "")
        return (
            f"{self.name}: largest difference {self.difference:.2g}, relative {self.relative:.2g} "
            f"(tolerance {self.tolerance:.2g})"
        )


def compare(name: str, result: Array, reference: Array, operations: float) -> Agreement:
    """Compares two arrays of the same type and shape.

    Integers must be equal. The tolerance of floats grows with `operations`, the number of
    operations that led to one element.
    """
    bit_equal = result.tobytes() == reference.tobytes()
    is_bfloat16 = reference.dtype == BFLOAT16
    result, reference = numbers(result), numbers(reference)
    if not np.issubdtype(reference.dtype, np.floating):
        wrong = float(np.count_nonzero(result != reference))
        return Agreement(name, bit_equal, wrong, np.inf if wrong else 0.0, 0.0, False)
    epsilon = BFLOAT16_EPSILON if is_bfloat16 else float(np.finfo(str(reference.dtype)).eps)
    tolerance = epsilon * max(16.0, 4.0 * operations)
    finite = np.isfinite(reference)
    has_nan = bool(np.isnan(reference).any())
    if not np.array_equal(result[~finite], reference[~finite], equal_nan=True):
        return Agreement(name, bit_equal, np.inf, np.inf, tolerance, has_nan)
    ours, theirs = result[finite].astype("f8"), reference[finite].astype("f8")
    with np.errstate(all="ignore"):
        difference = float(np.abs(ours - theirs).max(initial=0.0))
    if np.isnan(difference):
        difference = np.inf
    scale = float(np.abs(theirs).max(initial=0.0))
    relative = difference / scale if scale else (np.inf if difference else 0.0)
    return Agreement(name, bit_equal, difference, relative, tolerance, has_nan)


def relative_difference(result: Array, expected: Array) -> float:
    """The largest difference of two arrays as a share of the largest expected value.

    Infinite where one has NaN or infinities and the other has not; integers are equal (0) or not.
    """
    result, expected = numbers(result), numbers(expected)
    flat, other = result.reshape(-1), expected.reshape(-1)
    if not np.issubdtype(result.dtype, np.floating):
        return 0.0 if np.array_equal(flat, other) else float("inf")
    largest = scale = 0.0
    for start in range(0, flat.size, CHUNK):
        a, b = flat[start : start + CHUNK], other[start : start + CHUNK]
        if a.tobytes() == b.tobytes():
            scale = max(scale, float(np.abs(b).max()))
            continue
        a, b = _at_least_single(a), _at_least_single(b)
        distance = float(np.abs(a - b).max())
        if not np.isfinite(distance):
            return float("inf")
        largest = max(largest, distance)
        scale = max(scale, float(np.abs(b).max()))
    if not largest:
        return 0.0
    return largest / scale if scale else float("inf")


def _at_least_single(array: Array) -> Array:
    """Differences of f16 in that type are infinite where they are large."""
    return array.astype(np.float32) if array.dtype == np.float16 else array
