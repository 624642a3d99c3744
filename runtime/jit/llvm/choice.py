"""Choice of the LLVM back end.

The library is built without assertions, and takes three fifths of the time. llvmlite's has them: it
ends the process where something goes wrong inside of it, and says what.
"""

from __future__ import annotations

import os
from functools import cache

from ..code_versions import LLVM_VARIABLE
from .library import Library, find_library
from .library_module import LibraryModule
from .llvmlite_module import VERSION, LlvmliteModule
from .module_protocol import Machine, Module


def parse(text: str, machine: Machine) -> Module:
    """Reads and verifies LLVM IR; its passes will know of the machine. Raises RuntimeError.

    Code for other architectures is made by llvmlite's LLVM: the shared library knows x86-64 alone.
    """
    library = _chosen()
    if library is None or machine.triple:
        return LlvmliteModule(text, machine)
    return LibraryModule(text, machine, library)


def version() -> str:
    """Which LLVM it is, and of which package: `22.1.8 (karellen-llvm-core 22.1.8)`."""
    library = _chosen()
    return VERSION if library is None else library.version


@cache
def _chosen() -> Library | None:
    """The library; None where it is to be the LLVM inside of llvmlite."""
    return None if os.environ.get(LLVM_VARIABLE) == "llvmlite" else find_library()
