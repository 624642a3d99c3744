"""Loops that are promised to be parallel: `prange`."""

from __future__ import annotations

import ast
from dataclasses import dataclass


def prange(*bounds: int) -> range:
    """As `range`; a kernel checks that the iterations are independent."""
    return range(*bounds)


@dataclass(frozen=True)
class Promise:
    """A loop over `prange`, and how many loops are around it."""

    node: ast.For
    depth: int
