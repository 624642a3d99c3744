"""Lookup of the OpenMP runtime (libgomp), without a compiler.

Taken, in this order: a copy that is already in the process (one pool of threads is enough), the one
that comes with torch (found by its path; torch itself is not imported), the system's.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SPINS = 9000
"""How often a thread that waits looks before it sleeps: 180 us on a Zen 3, 100 on Granite Rapids.

Between two calls, others take half of that to write a megabyte of arguments."""

_SPINS = "GOMP_SPINCOUNT"
_WAITING = (_SPINS, "OMP_WAIT_POLICY")
_LIBRARY = "libgomp.so.1"
_MAPS = Path("/proc/self/maps")


def find_runtime(functions: Sequence[str]) -> ctypes.CDLL | None:
    """The OpenMP runtime that has these functions, loaded; None when there is none."""
    for name, mode in _candidates():
        try:
            with _short_waits():
                found = ctypes.CDLL(name, mode=mode)
        except OSError:
            continue
        if all(hasattr(found, function) for function in functions):
            return found
    return None


@contextmanager
def _short_waits() -> Generator[None]:
    """Lets threads of a libgomp that is loaded here look for work for 100 to 200 us, then sleep.

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


def function_addresses(runtime: ctypes.CDLL, functions: Sequence[str]) -> dict[str, int]:
    """The addresses of the runtime's functions by name."""
    return {name: _address(getattr(runtime, name)) for name in functions}


def _address(function: object) -> int:
    pointer = ctypes.cast(function, ctypes.c_void_p).value  # pyright: ignore[reportArgumentType]
    assert pointer is not None
    return pointer
