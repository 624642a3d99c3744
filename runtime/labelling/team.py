"""The team of threads that runs parallel loops: waking it up."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CFUNCTYPE, c_int
from functools import cache

from ...passes.target import Target
from .. import jit
from ..openmp import imports

_CODE = """
declare void @GOMP_parallel(ptr, ptr, i32, i32)

define internal void @nothing(ptr %data) {
  ret void
}

define void @wake(i32 %threads) {
  call void @GOMP_parallel(ptr @nothing, ptr null, i32 %threads, i32 0)
  ret void
}
"""


def wake(threads: int) -> None:
    """Runs an empty parallel region, after which its threads wait actively for the next one.

    What starts a thread that sleeps takes 10 to 50 microseconds, now more and now less.
    """
    _function()(threads)


@cache
def _function() -> Callable[[int], None]:
    return CFUNCTYPE(None, c_int)(_loaded()["wake"])


@cache
def _loaded() -> jit.LoadedObject:
    code = jit.compile_module(_CODE, target=Target.host())
    return jit.load_object(code, ("wake",), imports())
