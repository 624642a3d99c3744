"""The machine that code is made for."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute

_CPUINFO = Path("/proc/cpuinfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")

# What to assume where the system does not tell, in bytes.
_USUAL_CACHES = {1: 32 << 10, 2: 1 << 20, 3: 32 << 20}

# The part of a cache that is left for the data of a loop beside all else.
_FILL = 0.7

VECTOR_LIBRARY = "libmvec.so.1"
"""Where glibc has the functions of the C library for vectors."""

# The functions that it may have, by what symbols say of their parameters.
_VECTOR_FUNCTIONS = {
    "v": (
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "exp"),
        *("exp2", "expm1", "log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"),
    ),
    "vv": ("atan2", "pow"),
}

_X86_64_V3 = frozenset(
    "sse sse2 sse3 ssse3 sse4_1 sse4_2 popcnt cx16 avx avx2 bmi1 bmi2 f16c fma movbe".split()  # noqa: SIM905
)
_X86_64_V4 = _X86_64_V3 | frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])
_FEATURES = {"x86-64-v3": _X86_64_V3, "x86-64-v4": _X86_64_V4}


@dataclass(frozen=True)
class Speeds:
    """How fast the parts of a machine are, rounded: to compare programs with each other.

    The defaults are those of one core of a server CPU with AVX-512 (Zen 5), in whole numbers near
    what `loopwright machine` measures where it has a probe; `_SPEEDS` has others. Schedules must
    not depend on what else the machine does. Rates of caches are those of one core.
    """

    hertz: float = 4e9
    """Cycles per second (probe: peak f64 / 32 operations per cycle; 3.3 to 4.3 GHz)."""

    bandwidths: Mapping[int, float] = field(default_factory=lambda: {1: 200e9, 2: 80e9, 3: 20e9})
    """Bytes per second that come from behind a level of caches: L2 (probe: 190 to 260 GB/s), L3
    (90 to 115), and memory with one stream (18 to 30)."""

    streams: int = 4
    """So many streams at once come twice as fast from memory as one: more lines are under way."""

    memory: float = 42e9
    """Bytes per second from memory for all cores together (probe: 36 to 78 GB/s)."""

    latency: int = 4
    """Cycles from an addition, or a multiplication with one, to another one of its result."""

    fork: float = 3e-6
    """Seconds to start a parallel loop and wait for its threads (probe: hot fork, 0.8 to 1.5 us;
    threads that have just worked are not all as quick)."""

    wake: float = 10e-6
    """Seconds until threads run that have gone to sleep since the program ran last (probe: idle
    fork, from 10 us on)."""


_SPEEDS = {
    256: Speeds(hertz=3.2e9, bandwidths={1: 100e9, 2: 50e9, 3: 17e9}, streams=8, memory=34e9),
}
"""By the bits of a vector: a server CPU with AVX2 (Zen 3; probes: 3.2 GHz; 98 to 102, 47 to 71, 17
to 23 GB/s; sums of the elements of one, two and four large arrays: 18, 24 and 26 GB/s on one core,
28, 33 and 36 on two)."""


def speeds_of(vector_bits: int) -> Speeds:
    """Those of a usual machine with such vectors."""
    return _SPEEDS.get(vector_bits, Speeds())


@dataclass(frozen=True)
class Target:
    """What code generation and cost models need to know about a machine.

    `features` are the names that Linux uses (`avx512f`). `caches` has the bytes per level: those
    of one core for levels of its own, the whole of a shared one. `cores` are those that this
    process may use. `speeds` are those of a usual machine with such vectors. `vector_functions` are
    the functions of the C library (`exp`) that it has for vectors as well.
    """

    name: str
    features: frozenset[str]
    vector_bits: int
    vector_registers: int
    caches: Mapping[int, int]
    cores: int
    speeds: Speeds = field(default_factory=Speeds)
    vector_functions: frozenset[str] = frozenset()

    NAMES: ClassVar[tuple[str, ...]] = ("host", *_FEATURES)

    @classmethod
    def host(cls) -> Target:
        """This machine, as far as the system tells."""
        return _host()

    @classmethod
    def named(cls, name: str) -> Target:
        """The target of one of `NAMES`; raises ValueError on others, and where it cannot be."""
        if name == "host":
            return cls.host()
        if name not in _FEATURES:
            raise ValueError(f"unknown target {name!r}; there are {', '.join(cls.NAMES)}")
        if platform.machine() not in ("x86_64", "AMD64"):
            raise ValueError(f"no code for {name} can be made on {platform.machine()}; use host")
        return _make(name, _FEATURES[name], _USUAL_CACHES, _cores())

    def room(self, level: int) -> float:
        """Bytes that data of one loop can be expected to keep in a cache; 0 without that level."""
        return self.caches.get(level, 0) * _FILL

    def lanes(self, element_type: Attribute) -> int:
        """How many elements of the type one vector register holds; `index` has 64 bits."""
        bits = element_type.bitwidth if isinstance(element_type, FixedBitwidthType) else 64
        return max(1, self.vector_bits // max(8, bits))


def _make(name: str, features: frozenset[str], caches: Mapping[int, int], cores: int) -> Target:
    wide = "avx512f" in features
    bits = 512 if wide else 256 if "avx2" in features else 128
    speeds = speeds_of(bits)
    return Target(name, features, bits, 32 if wide else 16, dict(caches), cores, speeds)


def detect() -> Target:
    """What the system tells about this machine now."""
    target = _make("host", _features(), {**_USUAL_CACHES, **_cache_sizes()}, _cores())
    known = _vector_functions() if "sse2" in target.features else frozenset[str]()
    return replace(target, vector_functions=known)


_host = functools.cache(detect)


def _features() -> frozenset[str]:
    flags = re.search(r"^(?:flags|Features)\s*:(.*)$", _read(_CPUINFO), re.MULTILINE)
    return frozenset(flags[1].split()) if flags else frozenset()


def _vector_functions() -> frozenset[str]:
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


def _cache_sizes() -> dict[int, int]:
    sizes: dict[int, int] = {}
    for index in sorted(_CACHES.glob("index*")):
        level, kind, size = (_read(index / name).strip() for name in ("level", "type", "size"))
        amount = re.fullmatch(r"(\d+)([KM]?)", size)
        if level.isdigit() and amount and kind != "Instruction":
            sizes[int(level)] = int(amount[1]) << {"": 0, "K": 10, "M": 20}[amount[2]]
    return sizes


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
