"""The OpenMP runtime that parallel code is linked with; without any, the calling thread."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache

from ...lowering.llvm.names import RUNTIME_FUNCTIONS
from ...passes.machine.target import Target
from ...support.fork_safety import after_fork_in_child
from ..calling.openmp_runtime import find_runtime, function_addresses
from .loaded_object import LoadedObject
from .machine_code import load_code
from .parallel_after_forks import PARALLEL_AFTER_FORKS

_STAND_IN = """
define void @GOMP_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags) nounwind {
  call void %function(ptr %data)
  ret void
}
define i32 @omp_get_thread_num() nounwind {
  ret i32 0
}
define i32 @omp_get_num_threads() nounwind {
  ret i32 1
}
"""


@cache
def library() -> ctypes.CDLL | None:
    """The OpenMP runtime, loaded; None when there is none."""
    return find_runtime(RUNTIME_FUNCTIONS)


@cache
def imports() -> Mapping[str, int]:
    """The addresses of the runtime's functions, by name, for parallel code to be linked with."""
    found = library()
    if found is None:
        return stubs()
    addresses = function_addresses(found, RUNTIME_FUNCTIONS)
    return {**addresses, "GOMP_parallel": _parallel_after_forks(addresses["GOMP_parallel"])}


def _parallel_after_forks(parallel: int) -> int:
    """The address of a GOMP_parallel that works in children of forks as well."""
    names = ("loopwright_parallel", "loopwright_forked")
    needed = {"real_parallel": parallel}
    _loaded.append(load_code(PARALLEL_AFTER_FORKS, Target.host(), names, needed))
    addresses = _loaded[-1].addresses
    after_fork_in_child(ctypes.CFUNCTYPE(None)(addresses["loopwright_forked"]))
    return addresses["loopwright_parallel"]


@cache
def stubs() -> Mapping[str, int]:
    """The addresses of functions that take the runtime's place and run all in one thread."""
    _loaded.append(load_code(_STAND_IN, Target.host(), RUNTIME_FUNCTIONS, {}))
    return dict(_loaded[-1].addresses)


# These stay in memory for as long as the process.
_loaded: list[LoadedObject] = []
