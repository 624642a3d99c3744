"""The target of code generation."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

from ...support.summaries import summary
from .cpuinfo import CpuInfo
from .detection import available_cores, cache_sizes, host_architecture, vector_functions
from .machine import Machine
from .target_files import TargetFile, nearest_file, target_file, target_names

_ROOT_OPERATIONS = 20
"""What a square root by products takes: 10 products and sums, an estimate, a look at the range."""


@dataclass(frozen=True, kw_only=True)
class Target(Machine):
    """A machine with its instruction set.

    `name` is that of a file in `targets/`, or `HOST`, `processor` is LLVM's name, `architecture`
    Linux's (`x86_64`). `features` are the names that Linux uses (`avx512f`). `cores` are those that
    this process may use. `vector_functions` are the functions of the C library (`exp`) that it has
    for vectors as well. What `is_loaded` runs in this process, without the instructions that this
    machine lacks, whatever the processor's name promises (AMD's SSE4a on an Intel).
    """

    HOST: ClassVar[str] = "host"

    name: str
    processor: str
    architecture: str
    features: frozenset[str]
    cores: int
    vector_functions: frozenset[str] = frozenset()
    is_loaded: bool = False

    @property
    def is_host(self) -> bool:
        """Whether code is for this machine: LLVM then knows more of it than a name."""
        return self.name == self.HOST

    @property
    def runs_here(self) -> bool:
        """Whether this machine is of its architecture."""
        return self.architecture == host_architecture()

    def has_masked_loads(self, element_bytes: int) -> bool:
        """Whether one instruction loads a vector of such elements under a mask."""
        return self._has_masks(element_bytes, "avx2", "avx512f")

    def has_masked_stores(self, element_bytes: int) -> bool:
        """The same for stores; that of AVX2 takes longer than two others on processors of AMD."""
        return self._has_masks(element_bytes, "avx512f")

    def _has_masks(self, element_bytes: int, *of_words: str) -> bool:
        sets = ("avx512bw", *of_words) if element_bytes >= 4 else ("avx512bw",)
        return not self.features.isdisjoint(sets)

    @property
    def fuses_multiply_adds(self) -> bool:
        """Whether fused multiply-adds are instructions, which elementary functions are made of."""
        return not self.features.isdisjoint(("fma", "asimd"))

    @property
    def root_by_products(self) -> float:
        """Cycles for square roots of eight doubles by products; 0: no half of its instruction's."""
        cycles = _ROOT_OPERATIONS * self.cycles["multiplications"]
        is_wide = self.vector_bits == 512 and "avx512f" in self.features
        return cycles if is_wide and self.cycles["square_roots"] > 2 * cycles else 0.0

    def permutes_lanes(self, element_bytes: int) -> bool:
        """Whether one instruction moves such elements of two registers of 512 bits anywhere."""
        sets = {1: "avx512vbmi", 2: "avx512bw"}
        return self.vector_bits == 512 and sets.get(element_bytes, "avx512f") in self.features

    @property
    def adds_products_in_pairs(self) -> bool:
        """Whether one operation multiplies 16-bit integers and adds pairs of the products."""
        return "sse2" in self.features

    @classmethod
    def host(cls) -> Target:
        """This machine: figures of the nearest file, and what the system tells."""
        return _host()

    @classmethod
    def named(cls, name: str) -> Target:
        """The target of one of `names()`, or of LLVM's name of its processor (`znver4`).

        It may be one of another architecture, whose code does not run here (`runs_here`). Raises
        ValueError on others.
        """
        if not isinstance(cast(object, name), str):
            raise TypeError(f"a target's name is one of {', '.join(cls.names())}, not {name!r}")
        if name == cls.HOST:
            return cls.host()
        return cls.of(_find(name))

    @classmethod
    def of(cls, file: TargetFile, **changes: Any) -> Target:
        """The target that a file describes, with some fields changed."""
        known: dict[str, Any] = {
            **{field.name: getattr(file.machine, field.name) for field in fields(Machine)},
            "name": file.name,
            "processor": file.processor,
            "architecture": file.architecture,
            "features": file.features,
            "cores": available_cores(),
        }
        return cls(**(known | changes))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """What `named` knows, besides LLVM's names."""
        return (cls.HOST, *target_names())

    def __repr__(self) -> str:
        return summary(
            self,
            f"{self.name}: {self.processor}, {self.vector_bits}-bit vectors, {self.cores} cores",
        )


def detect() -> Target:
    """What the system tells about this machine now."""
    info = CpuInfo.read()
    file = nearest_file(info)
    return Target.of(
        file,
        name=Target.HOST,
        architecture=host_architecture(),
        features=info.features,
        caches={**file.machine.caches, **cache_sizes()},
        vector_functions=vector_functions() if "sse2" in info.features else frozenset(),
    )


_host = functools.cache(detect)


def _find(name: str) -> TargetFile:
    """The file of a target. Raises ValueError where there is none."""
    files = {file: target_file(file) for file in target_names()}
    by_processor = {file.processor: file for file in files.values()}
    found = files.get(name) or by_processor.get(name)
    if found is None:
        import difflib  # for the message alone

        close = difflib.get_close_matches(name, (*Target.names(), *by_processor), 1)
        hint = f"did you mean {close[0]}? There" if close else "there"
        raise ValueError(f"unknown target {name!r}; {hint} are {', '.join(Target.names())}")
    return found
