"""Object code of one function, compiled in one process, loaded and run in another.

It may be in parts, functions of the same arguments that run one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import c_int64
from dataclasses import dataclass, field
from functools import lru_cache

from ...lowering.llvm.names import FAILED_ALLOCATIONS, symbol
from ...passes.machine.target import Target
from ..jit import object_code as jit
from ..jit.openmp import imports


@dataclass(frozen=True)
class ObjectCode:
    """A compiled function: object file, symbols, number of threads.

    `parts` are what it calls, by the names `part0`, `part1` ...
    """

    code: bytes = field(repr=False)
    exports: tuple[str, ...]
    is_parallel: bool
    parts: tuple[ObjectCode, ...] = ()


def object_code(llvm_ir: str, function: str, target: Target) -> ObjectCode:
    """Compiles a module; it exports the function and, where it allocates, the count of failures."""
    code = jit.compile_module(llvm_ir, target=target)
    allocates = FAILED_ALLOCATIONS in llvm_ir
    exports = (symbol(function), *([FAILED_ALLOCATIONS] if allocates else []))
    return ObjectCode(code, exports, "GOMP_parallel" in llvm_ir)


def one_after_the_other(
    parts: Sequence[ObjectCode], function: str, types: tuple[str, ...]
) -> ObjectCode:
    """A function of this machine, of arguments of these LLVM types, that runs parts in order."""
    name = symbol(function)
    code = _caller(name, len(parts), types)
    return ObjectCode(code, (name,), any(part.is_parallel for part in parts), tuple(parts))


@lru_cache(maxsize=64)
def _caller(name: str, count: int, types: tuple[str, ...]) -> bytes:
    arguments = ", ".join(f"{kind} %a{number}" for number, kind in enumerate(types))
    declared = "".join(f"declare void @part{k}({', '.join(types)})\n" for k in range(count))
    calls = "".join(f"  call void @part{k}({arguments})\n" for k in range(count))
    text = f"{declared}define void @{name}({arguments}) {{\n{calls}  ret void\n}}\n"
    return jit.compile_module(text, target=Target.host())


class LoadedCandidate:
    """Object code in this process's memory, for the lifetime of this object."""

    def __init__(self, code: ObjectCode) -> None:
        linked: Mapping[str, int] = imports() if code.is_parallel and not code.parts else {}
        self._parts = [_loaded_part(part) for part in code.parts]
        linked = {**linked, **{f"part{k}": part.address for k, part in enumerate(self._parts)}}
        self._loaded = jit.load_object(code.code, code.exports, linked)
        self._allocates = len(code.exports) > 1
        self._failed_before = self.failed_allocations
        self.address = self._loaded[code.exports[0]]
        """Where the function starts."""

    @property
    def failed_allocations(self) -> int:
        """How often local arrays did not fit in memory, parts that were loaded before included."""
        own = c_int64.from_address(self._loaded[FAILED_ALLOCATIONS]).value if self._allocates else 0
        return own + sum(part.failed_allocations for part in self._parts)

    @property
    def has_failed_to_allocate(self) -> bool:
        """Whether local arrays of a run did not fit in memory."""
        return self.failed_allocations > self._failed_before


@lru_cache(maxsize=64)
def _loaded_part(code: ObjectCode) -> LoadedCandidate:
    """A part, which the next candidate probably has, too."""
    return LoadedCandidate(code)
