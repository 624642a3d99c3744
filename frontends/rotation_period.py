"""How often buffers that a loop swaps have to be swapped until they are as before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

LONGEST = 4
"""Buffers in a rotation: there are as many copies of the loop's body."""

N = TypeVar("N", bound=Hashable)


def rotation_period(names: Sequence[N], bound: Mapping[N, N]) -> tuple[Mapping[N, N], ...]:
    """The buffers that names mean in each iteration of a period; none where that is too long.

    A name means what the one `bound` to it has meant an iteration before.
    """
    found: list[Mapping[N, N]] = [{each: each for each in names}]
    while len(found) <= LONGEST:
        after = {each: found[-1][bound[each]] for each in names}
        if after == found[0]:
            return tuple(found)
        found.append(after)
    return ()
