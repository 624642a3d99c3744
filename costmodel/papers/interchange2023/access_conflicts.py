"""Accesses to the same elements in one innermost loop: what keeps compilers from using vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...features.statements import StatementProfile

Array = NDArray[np.float64]

CONFLICTS = ("forward", "backward", "unknown", "differing")
"""`forward` and `backward` are one over the smallest number of iterations after which the access
that is later or earlier in the text is at an element that the other has been at, 0 where that never
is. The others count pairs of accesses: of `unknown` ones that number depends on outer loops,
`differing` ones move by different steps. Shifts of fused statements are not seen.
"""

_NEAR = 64
"""Iterations that no vector is as long as."""

_STILL = 1e-6


def conflicts(profiles: Sequence[StatementProfile], steps: Sequence[Array], trips: Array) -> Array:
    """`CONFLICTS` for each interchange (classes, 4), all statements of a loop together.

    The statements are in the order of the text; `steps` are elements by which the accesses of each
    one move with a step of a loop (classes, loops, accesses), `trips` the iterations of the loop
    (classes,).
    """
    count, depth = steps[0].shape[:2]
    result = np.zeros((count, len(CONFLICTS)))
    if not depth:
        return result
    for (offset, first), (its_offset, second) in _pairs(profiles, steps):
        alike = np.all(np.abs(first - second) < _STILL, axis=1)
        step = first[:, -1]
        is_still = np.abs(step) < _STILL
        same_step = np.abs(step - second[:, -1]) < _STILL
        distance = (offset - its_offset) / np.where(is_still, 1.0, step)
        is_near = alike & ~is_still & (distance % 1 == 0) & (np.abs(distance) > 0)
        is_near &= np.abs(distance) < np.minimum(trips, _NEAR)
        closeness = np.where(is_near, 1.0 / np.where(distance, np.abs(distance), 1.0), 0.0)
        result[:, 0] = np.maximum(result[:, 0], np.where(distance > 0, closeness, 0.0))
        result[:, 1] = np.maximum(result[:, 1], np.where(distance < 0, closeness, 0.0))
        result[:, 2] += same_step & ~alike
        result[:, 3] += ~same_step
    return result


def _pairs(
    profiles: Sequence[StatementProfile], steps: Sequence[Array]
) -> Iterator[tuple[tuple[float, Array], tuple[float, Array]]]:
    """Offsets and steps (classes, loops) of every two accesses to an array of which one stores.

    The first access is the earlier one in the text: statements load, then store.
    """
    accesses = [
        (access, own[:, :, number])
        for profile, own in zip(profiles, steps, strict=True)
        for number, access in sorted(
            enumerate(profile.accesses), key=lambda numbered: numbered[1].is_write
        )
    ]
    for (first, steps_of_first), (second, steps_of_second) in combinations(accesses, 2):
        if first.array == second.array and (first.is_write or second.is_write):
            yield (first.offset, steps_of_first), (second.offset, steps_of_second)
