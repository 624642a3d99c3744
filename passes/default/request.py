"""What a default schedule is chosen for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """Values of all sizes by name, and how many threads will run the program (at least 1)."""

    sizes: Mapping[str, int]
    threads: int
