"""Object code of one function, compiled in one process, loaded and run in another."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import c_int64
from dataclasses import dataclass, field

from ...lowering.llvm import symbol
from ...lowering.llvm.heap import FAILED_ALLOCATIONS
from ...passes.machine.target import Target
from ..jit import object_code as jit
from ..jit.openmp import imports


@dataclass(frozen=True)
class ObjectCode:
    """A compiled function: object file, symbols, number of threads."""

    code: bytes = field(repr=False)
    exports: tuple[str, ...]
    is_parallel: bool


def object_code(llvm_ir: str, function: str, target: Target) -> ObjectCode:
    """Compiles a module; it exports the function and, where it allocates, the count of failures."""
    code = jit.compile_module(llvm_ir, target=target)
    allocates = FAILED_ALLOCATIONS in llvm_ir
    exports = (symbol(function), *([FAILED_ALLOCATIONS] if allocates else []))
    return ObjectCode(code, exports, "GOMP_parallel" in llvm_ir)


class LoadedCandidate:
    """Object code in this process's memory, for the lifetime of this object."""

    def __init__(self, code: ObjectCode) -> None:
        linked: Mapping[str, int] = imports() if code.is_parallel else {}
        self._loaded = jit.load_object(code.code, code.exports, linked)
        self._allocates = len(code.exports) > 1
        self.address = self._loaded[code.exports[0]]
        """Where the function starts."""

    @property
    def has_failed_to_allocate(self) -> bool:
        """Whether local arrays of a run did not fit in memory."""
        if not self._allocates:
            return False
        return bool(c_int64.from_address(self._loaded[FAILED_ALLOCATIONS]).value)
