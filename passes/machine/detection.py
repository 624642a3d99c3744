"""Detection of the host: caches, cores, vector math library."""

from __future__ import annotations

import ctypes
import os
import platform
import re
from pathlib import Path

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")

VECTOR_LIBRARY = "libmvec.so.1"
"""Where glibc has the functions of the C library for vectors."""

_VECTOR_FUNCTIONS = {
    "v": (
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf"),
        *("erfc", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2"),
        *("sin", "sinh", "tan", "tanh"),
    ),
    "vv": ("atan2", "pow"),
}
"""The functions that it may have, by what symbols say of their parameters."""


def vector_functions() -> frozenset[str]:
    """Functions of the C library that this system has for vectors as well (on x86)."""
    try:
        library = ctypes.CDLL(VECTOR_LIBRARY)
    except OSError:
        return frozenset()
    return frozenset(
        name
        for parameters, names in _VECTOR_FUNCTIONS.items()
        for name in names
        if hasattr(library, f"_ZGVbN2{parameters}_{name}")
    )


def cache_sizes() -> dict[int, int]:
    """Bytes of the data caches by level, as far as Linux tells."""
    sizes: dict[int, int] = {}
    for index in sorted(CACHES.glob("index*")):
        level, kind, size = (_read(index / name).strip() for name in ("level", "type", "size"))
        amount = re.fullmatch(r"(\d+)([KM]?)", size)
        if level.isdigit() and amount and kind != "Instruction":
            sizes[int(level)] = int(amount[1]) << {"": 0, "K": 10, "M": 20}[amount[2]]
    return sizes


def host_architecture() -> str:
    """Linux's name of this machine's architecture: `x86_64`, `aarch64`."""
    return platform.machine().replace("AMD64", "x86_64")


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
