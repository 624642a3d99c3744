"""Dependences with pieces without integer points, at whose merging isl ends the process."""

from __future__ import annotations

from pathlib import Path

import loopwright

SOURCE = """
#include <math.h>
void f(int n, unsigned m, long s, int t, unsigned A[12][12], signed char B[12], int C[12]) {
#pragma scop
  for (int i0 = 1; i0 < n; i0++) {
    for (unsigned long i1 = 1; i1 <= m - 1; ++i1) {
      for (long i2 = n - 1; i2 >= 0; i2 -= 2) {
        if (i2 >= 2) {
          A[2 * i0][2 * i2] |= t;
        }
        if (i2 >= i0) {
          C[2 * i2] -= C[i1 >> 1];
          A[3][i0] = (int)fmin(fmax(((- (2.0f + s)) * ((C[i1 / 2] & i1) ^ C[i0 % 3])), 0.0), 100.0);
        }
        C[0] = (int)fmin(fmax((floor((i0 ^ C[i2]))
          - ((!i2) << ((A[i0 / 2][2 * i0] / ((0x7fL & 7) + 1)) & 7))), 0.0), 100.0);
      }
    }
  }
  for (unsigned i3 = m - 1; i3 > 0; i3--) {
    float x4 = (B[i3 % 3] / ((A[3][0] & 7) + 1));
  }
  for (unsigned long i5 = 1; i5 <= n - 1; ++i5) {
    for (unsigned long i6 = 0; i6 < n / 2; i6++) {
      A[0][i5 & 3] += (- ('a' << ((A[i5 % 3][m] - m) & 7)));
    }
    C[i5 + 1]--;
  }
#pragma endscop
}
"""


def test_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(SOURCE)
    function = loopwright.load(path)["f"]
    _ = function.dependences.constraints
    assert len(function.scop.statements) > 3
