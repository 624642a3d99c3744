"""Machine code in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LoadedObject:
    """Machine code in memory, for as long as this object lives."""

    addresses: Mapping[str, int]
    _memory: object = field(repr=False)

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]
