"""Integers of 64 bits that overflow wrap around where they are data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.c_functions import built, call
from support.random_c import RandomFunction

import loopwright

LOWEST = -(2**63)

VALUES = (
    "i - t",
    "t - 1",
    "2 * i + t",
    "-t",
    "(t < x ? t - 3 : x - 3)",
    "(t > x ? t + x : 2 * x)",
    "u + n",
    "3 * u - i",
    "(n - i) / 2 - t",
)


@pytest.mark.parametrize("value", VALUES)
def test_sums(value: str, tmp_path: Path) -> None:
    # In conditions, all are integers of subscripts and bounds.
    text = f"""\
void f(long n, long t, long x, unsigned long u, float A[8], long B[8]) {{
#pragma scop
  for (long i = 0; i < n; i++)
    if (t < x && x < n && 2 < u) {{
      A[i] = {value};
      B[i] = ({value}) ^ 5;
    }}
#pragma endscop
}}
"""
    arrays = [("A", np.zeros(8, np.float32)), ("B", np.zeros(8, np.int64))]
    path = tmp_path / "f.c"
    path.write_text(text)
    library = built({"f": text}, tmp_path)
    for t, x, u in ((LOWEST, -1, 2**63 - 1), (LOWEST + 1, -7, 2**62), (-3, -2, 9)):
        numbers = [("n", 7), ("t", t), ("x", x), ("u", u)]
        kinds = ["long", "long", "long", "unsigned long"]
        wanted = call(library, "f", RandomFunction(text, [*numbers, *arrays], kinds))
        for schedule in (None, "default"):
            a, b = (np.zeros_like(array) for _, array in arrays)
            loopwright.load(path)["f"].compile(schedule=schedule)(7, t, x, u, a, b)
            assert np.array_equal(a, wanted["A"])
            assert np.array_equal(b, wanted["B"])
