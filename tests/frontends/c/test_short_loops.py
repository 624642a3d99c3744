"""Loop variables of short types whose bounds are sizes: calls check that they do not wrap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright
from loopwright.dialects.errors import UserError

PROGRAM = """\
void up(int n, double *A) {
    for (unsigned char i = 0; i < n; i++) A[i] += i;
}
void down(int n, double *A) {
    for (signed char i = 100; i >= n; i -= 3) A[i + 128] += i;
}
"""


def test_bounds_of_the_type(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(PROGRAM)
    program = loopwright.load(tmp_path / "f.c")
    A = np.zeros(300)
    program["up"].compile()(255, A)
    assert A[254] == 254 and not A[255:].any()
    for n in (256, 300):
        with pytest.raises(UserError):
            program["up"].compile()(n, A)
    A[:] = 0
    program["down"].compile()(-125, A)
    expected = np.zeros(300)
    for i in range(100, -126, -3):
        expected[i + 128] += i
    assert np.array_equal(A, expected)
    with pytest.raises(UserError):
        program["down"].compile()(-127, A)
