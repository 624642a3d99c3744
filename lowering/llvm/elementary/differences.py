"""Positive differences."""

from __future__ import annotations

from .lanes import Real, where


def fdim(x: Real, y: Real) -> Real:
    return where((x < y) | x.equals(y), 0.0, x - y)
