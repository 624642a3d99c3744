"""Which LLVM makes the code."""

from __future__ import annotations

import os
from functools import cache

from .library import find_library
from .library_module import LibraryModule
from .llvmlite_module import VERSION, LlvmliteModule
from .module import Machine, Module

VARIABLE = "LOOPWRIGHT_LLVM"
"""Environment variable: `llvmlite` takes that LLVM though there is a shared library.

The library is built without assertions, and takes three fifths of the time. llvmlite's has them: it
ends the process where something goes wrong inside of it, and says what.
"""


def parse(text: str, machine: Machine) -> Module:
    """Reads and verifies LLVM IR; its passes will know of the machine. Raises RuntimeError."""
    return LibraryModule(text, machine) if _is_library() else LlvmliteModule(text, machine)


@cache
def version() -> str:
    """Which LLVM it is, as `22.1.8` or `22.1.0 (llvmlite)`."""
    library = find_library() if _is_library() else None
    return f"{VERSION} (llvmlite)" if library is None else library.version


@cache
def _is_library() -> bool:
    return os.environ.get(VARIABLE) != "llvmlite" and find_library() is not None
