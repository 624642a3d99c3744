"""Kernels that others call."""

from __future__ import annotations

import loopwright
from loopwright import f64


@loopwright.kernel
def g(n: int, x: f64["n"]):
    x[0] = 2.0
    return x[1]


@loopwright.kernel
def h(a):
    return a + 1.0
