"""Parser of /proc/cpuinfo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class CpuInfo:
    """The `fields` of the first processor, as text by name (`vendor_id`, `CPU part`)."""

    fields: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> CpuInfo:
        """Reads the contents of /proc/cpuinfo; what cannot be read is left out."""
        fields: dict[str, str] = {}
        for line in text.splitlines():
            name, colon, value = line.partition(":")
            if colon:
                fields.setdefault(name.strip(), value.lstrip())
        return cls(fields)

    @classmethod
    def read(cls) -> CpuInfo:
        """That of this machine; empty where the system has none."""
        try:
            return cls.parse(CPUINFO.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            return cls({})

    @property
    def features(self) -> frozenset[str]:
        """Names of features: `flags` on x86, `Features` on Arm."""
        return frozenset(self.fields.get("flags", self.fields.get("Features", "")).split())

    @property
    def model_name(self) -> str:
        """The processor's model name, for display."""
        return self.fields.get("model name", "unknown")
