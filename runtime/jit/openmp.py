"""Lookup of the OpenMP runtime (libgomp), without a compiler.

Taken, in this order: a copy that is already in the process (one pool of threads is enough), the one
that comes with torch (found by its path; torch itself is not imported), the system's. Without any,
parallel loops run in the calling thread.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from ...lowering.llvm.outlining import RUNTIME_FUNCTIONS
from ...passes.machine.target import Target
from . import object_code as jit

_LIBRARY = "libgomp.so.1"
_MAPS = Path("/proc/self/maps")

_STAND_IN = """
define void @GOMP_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags) {
  call void %function(ptr %data)
  ret void
}
define i32 @omp_get_thread_num() {
  ret i32 0
}
define i32 @omp_get_num_threads() {
  ret i32 1
}
"""


@cache
def library() -> ctypes.CDLL | None:
    """The OpenMP runtime, loaded; None when there is none."""
    for name, mode in _candidates():
        try:
            found = ctypes.CDLL(name, mode=mode)
        except OSError:
            continue
        if all(hasattr(found, function) for function in RUNTIME_FUNCTIONS):
            return found
    return None


@cache
def imports() -> Mapping[str, int]:
    """The addresses of the runtime's functions, by name, for parallel code to be linked with."""
    found = library()
    if found is None:
        return stubs()
    return {name: _address(getattr(found, name)) for name in RUNTIME_FUNCTIONS}


@cache
def stubs() -> Mapping[str, int]:
    """The addresses of functions that take the runtime's place and run all in one thread."""
    code = jit.compile_module(_STAND_IN, target=Target.host())
    _loaded.append(jit.load_object(code, RUNTIME_FUNCTIONS))
    return dict(_loaded[-1].addresses)


# Stand-ins stay in memory for as long as the process.
_loaded: list[jit.LoadedObject] = []


def _candidates() -> Iterator[tuple[str, int]]:
    yield _LIBRARY, os.RTLD_NOW | os.RTLD_NOLOAD
    for path in sorted({*_mapped()}):
        yield path, os.RTLD_NOW | os.RTLD_NOLOAD
    for path in _bundled_with_torch():
        yield str(path), os.RTLD_NOW
    yield _LIBRARY, os.RTLD_NOW


def _mapped() -> Iterator[str]:
    """Paths of copies in this process; wheels rename theirs, so that the usual name finds none."""
    try:
        lines = _MAPS.read_text(errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        _, slash, path = line.partition("/")
        if Path(path).name.startswith("libgomp"):
            yield slash + path


def _bundled_with_torch() -> Iterator[Path]:
    spec = importlib.util.find_spec("torch")
    for location in (spec.submodule_search_locations or []) if spec is not None else []:
        package = Path(location)
        for folder in (package / "lib", package.with_name("torch.libs")):
            yield from sorted(folder.glob("libgomp*.so*"))


def _address(function: object) -> int:
    pointer = ctypes.cast(function, ctypes.c_void_p).value  # pyright: ignore[reportArgumentType]
    assert pointer is not None
    return pointer
