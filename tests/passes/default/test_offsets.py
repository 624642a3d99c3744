"""Separation of offsets by the default schedule: where it is chosen, and its results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.scops import polybench

import loopwright
from loopwright.passes.default.offsets import separated_offsets
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule

# A quantised layer: weights by rows, zero points of all or of each row, and what follows the sum.
LAYER = """
#include <stdint.h>
void layer(int m, int n, int k, int32_t zero, A a[m][k], B b[n][k], int32_t zeros[n],
           int32_t c[m][n]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      int32_t s = 0;
      for (int p = 0; p < k; p++)
        s += FACTORS;
      c[i][j] = s > 0 ? s : 0;
    }
}
"""
TERMS = (
    "((int32_t)a[i][p] - zero) * (int32_t)b[j][p]",
    "((int32_t)a[i][p] - 128) * ((int32_t)b[j][p] - zeros[j])",
    "((int32_t)b[j][p] + zero) * ((int32_t)a[i][p] - 7)",
)


def layer(folder: Path, term: str, kinds: tuple[str, str]) -> loopwright.Function:
    text = LAYER.replace("FACTORS", term)
    for letter, kind in zip("AB", kinds, strict=True):
        text = text.replace(f" {letter} ", f" {kind} ")
    file = folder / "layer.c"
    file.write_text(text)
    (function,) = loopwright.load(file).values()
    return function


@pytest.mark.parametrize("target", ["zen3", "znver4"])
@pytest.mark.parametrize("kinds", [("uint8_t", "int8_t"), ("int8_t", "uint8_t"), ("int16_t",) * 2])
@pytest.mark.parametrize("term", TERMS)
def test_products_of_short_integers_have_no_offsets(
    term: str, kinds: tuple[str, str], target: str, tmp_path: Path
) -> None:
    schedule = Schedule.original(layer(tmp_path, term, kinds).scop, Target.named(target))
    found = separated_offsets(schedule)
    assert found is not None
    assert str(found) == "separate-offsets{statements=S1}"


@pytest.mark.parametrize("kinds", [("uint16_t", "int8_t"), ("int32_t", "int8_t")])
def test_long_factors_keep_their_offsets(kinds: tuple[str, str], tmp_path: Path) -> None:
    schedule = Schedule.original(layer(tmp_path, TERMS[0], kinds).scop, Target.named("zen3"))
    assert separated_offsets(schedule) is None


def test_products_of_floats_stay() -> None:
    assert separated_offsets(Schedule.original(polybench("gemm"), Target.named("zen3"))) is None


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("term", TERMS)
def test_results_stay(term: str, threads: int, tmp_path: Path) -> None:
    function = layer(tmp_path, term, ("uint8_t", "int8_t"))
    generator = np.random.default_rng(threads)
    kernel = function.compile("rules", threads=threads, verify=True)
    for m, n, k in ((40, 50, 64), (33, 17, 101)):
        a = generator.integers(0, 256, (m, k)).astype(np.uint8)
        b = generator.integers(-128, 128, (n, k)).astype(np.int8)
        zeros = generator.integers(-128, 128, n).astype(np.int32)
        c, expected = np.zeros((2, m, n), np.int32)
        kernel(m, n, k, -300, a, b, zeros, c)
        function.compile(None)(m, n, k, -300, a, b, zeros, expected)
        np.testing.assert_array_equal(c, expected)
