"""Numbers of unsigned types as arguments and results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright import f64, i64, u8, u16, u64
from loopwright.errors import ArgumentValueError

UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)


@loopwright.kernel
def largest(A):
    return A.max()


@loopwright.kernel
def several(A, s):
    return A.max(), A[0], s, 1.5, A.min() + s


@pytest.mark.parametrize("kind", UNSIGNED)
def test_results_and_arguments_with_the_top_bit(kind: Any) -> None:
    top = np.iinfo(kind).max
    array = np.array([3, top // 2 + 1, top - 2], kind)
    largest.check(array)
    assert type(largest(array)) is kind
    several.check(array, kind(top))
    assert several(array, kind(top))[2] == top


def test_annotated_arguments() -> None:
    @loopwright.kernel
    def filled(n: int, s: u8, t: u64, A: f64["n"], B: i64["n"]):
        for i in range(n):
            A[i] = s + u16(i)
            B[i] = 1 if t // 2 < u64(i) + 2**63 else 0
        return s

    for s, t in ((200, 2**64 - 1), (0, 5)):
        filled.check(3, s, t, np.zeros(3), np.zeros(3, "i8"))
    for s, t, name in ((256, 0, "u8"), (-1, 0, "u8"), (0, 2**64, "u64")):
        with pytest.raises(ArgumentValueError, match=f"does not fit into {name}, which holds 0 to"):
            filled(3, s, t, np.zeros(3), np.zeros(3, "i8"))
