"""Lookup of the OpenMP runtime (libgomp), without a compiler.

Taken, in this order: a copy that is already in the process (one pool of threads is enough), the one
that comes with torch (found by its path; torch itself is not imported), the system's. Without any,
parallel loops run in the calling thread.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from ...lowering.llvm.outlining import RUNTIME_FUNCTIONS
from ...passes.machine.target import Target
from ...support.fork_safety import after_fork_in_child
from . import object_code as jit
from .stored_objects import object_code

SPINS = 3000
"""How often a thread that waits looks before it sleeps: 60 us on a Zen 3."""

_SPINS = "GOMP_SPINCOUNT"
_WAITING = (_SPINS, "OMP_WAIT_POLICY")
_LIBRARY = "libgomp.so.1"
_MAPS = Path("/proc/self/maps")

# libgomp keeps a pool of threads for each thread that begins a parallel region. That of a forking
# thread has threads that the child does not have, and its next region would wait for them for ever:
# in the child, a new thread begins each of its regions, with a pool of its own.
_AFTER_FORK = """
@forked = global i64 0
declare i64 @pthread_self()
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare void @real_parallel(ptr, ptr, i32, i32)
define void @loopwright_forked() {
  %self = call i64 @pthread_self()
  store i64 %self, ptr @forked
  ret void
}
define internal ptr @begin(ptr %region) {
  %function = load ptr, ptr %region
  %second = getelementptr i8, ptr %region, i64 8
  %data = load ptr, ptr %second
  %third = getelementptr i8, ptr %region, i64 16
  %threads = load i32, ptr %third
  %fourth = getelementptr i8, ptr %region, i64 20
  %flags = load i32, ptr %fourth
  call void @real_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags)
  ret ptr null
}
define void @loopwright_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags) {
  %fork = load i64, ptr @forked
  %no_fork = icmp eq i64 %fork, 0
  br i1 %no_fork, label %here, label %ask
ask:
  %self = call i64 @pthread_self()
  %is_forked = icmp eq i64 %fork, %self
  br i1 %is_forked, label %other, label %here
here:
  call void @real_parallel(ptr %function, ptr %data, i32 %threads, i32 %flags)
  ret void
other:
  %region = alloca [24 x i8], align 8
  %thread = alloca i64
  store ptr %function, ptr %region
  %second = getelementptr i8, ptr %region, i64 8
  store ptr %data, ptr %second
  %third = getelementptr i8, ptr %region, i64 16
  store i32 %threads, ptr %third
  %fourth = getelementptr i8, ptr %region, i64 20
  store i32 %flags, ptr %fourth
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @begin, ptr %region)
  %has_failed = icmp ne i32 %failed, 0
  br i1 %has_failed, label %alone, label %wait
wait:
  %id = load i64, ptr %thread
  call i32 @pthread_join(i64 %id, ptr null)
  ret void
alone:
  call void @real_parallel(ptr %function, ptr %data, i32 1, i32 %flags)
  ret void
}
"""

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
            with _short_waits():
                found = ctypes.CDLL(name, mode=mode)
        except OSError:
            continue
        if all(hasattr(found, function) for function in RUNTIME_FUNCTIONS):
            return found
    return None


@contextmanager
def _short_waits() -> Generator[None]:
    """Lets threads of a libgomp that is loaded here look for work for some 60 us, then sleep.

    Its own choice is some milliseconds. Where another program has one of the cores, a parallel loop
    then takes a time slice of the system, because the thread that waits keeps the other core.
    What the user asks for stays.
    """
    if any(variable in os.environ for variable in _WAITING):
        yield
        return
    os.environ[_SPINS] = str(SPINS)
    try:
        yield
    finally:
        os.environ.pop(_SPINS, None)


@cache
def imports() -> Mapping[str, int]:
    """The addresses of the runtime's functions, by name, for parallel code to be linked with."""
    found = library()
    if found is None:
        return stubs()
    addresses = {name: _address(getattr(found, name)) for name in RUNTIME_FUNCTIONS}
    return {**addresses, "GOMP_parallel": _parallel_after_forks(addresses["GOMP_parallel"])}


def _parallel_after_forks(parallel: int) -> int:
    """The address of a GOMP_parallel that works in children of forks as well."""
    code = object_code(_AFTER_FORK, Target.host())
    names = ("loopwright_parallel", "loopwright_forked")
    _loaded.append(jit.load_object(code, names, {"real_parallel": parallel}))
    addresses = _loaded[-1].addresses
    after_fork_in_child(ctypes.CFUNCTYPE(None)(addresses["loopwright_forked"]))
    return addresses["loopwright_parallel"]


@cache
def stubs() -> Mapping[str, int]:
    """The addresses of functions that take the runtime's place and run all in one thread."""
    code = object_code(_STAND_IN, Target.host())
    _loaded.append(jit.load_object(code, RUNTIME_FUNCTIONS))
    return dict(_loaded[-1].addresses)


# These stay in memory for as long as the process.
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
