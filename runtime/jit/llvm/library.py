"""C bindings of LLVM's shared library.

See LLVM's headers in `llvm-c`: `Analysis.h`, `BitWriter.h`, `Core.h`, `Error.h`, `IRReader.h`,
`Linker.h`, `Target.h`, `TargetMachine.h` and `Transforms/PassBuilder.h`.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import threading
import warnings
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ....support.fork_safety import held_in_forks
from ..code_versions import LLVM_PACKAGE
from .module_protocol import OPTIONS

FILE = "libLLVM.so.22.1"

_FOLDERS = ("../..", "../../../lib")
"""Where a wheel's shared libraries are, seen from its packages (`lib`, or `lib64` beside it)."""

_TEXT_OUT = POINTER(c_void_p)
"""A pointer to a text that the library makes, and that `LLVMDisposeMessage` frees."""

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "LLVMGetVersion": (None, [POINTER(c_uint)] * 3),
    "LLVMDisposeMessage": (None, [c_void_p]),
    "LLVMParseCommandLineOptions": (None, [c_int, POINTER(c_char_p), c_char_p]),
    "LLVMContextCreate": (c_void_p, []),
    "LLVMContextDispose": (None, [c_void_p]),
    "LLVMContextSetDiagnosticHandler": (None, [c_void_p, c_void_p, c_void_p]),
    "LLVMGetDiagInfoSeverity": (c_int, [c_void_p]),
    "LLVMGetDiagInfoDescription": (c_void_p, [c_void_p]),
    "LLVMCreateMemoryBufferWithMemoryRangeCopy": (c_void_p, [c_char_p, c_size_t, c_char_p]),
    "LLVMGetBufferStart": (c_void_p, [c_void_p]),
    "LLVMGetBufferSize": (c_size_t, [c_void_p]),
    "LLVMDisposeMemoryBuffer": (None, [c_void_p]),
    "LLVMParseIRInContext": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), _TEXT_OUT]),
    "LLVMVerifyModule": (c_int, [c_void_p, c_int, _TEXT_OUT]),
    "LLVMPrintModuleToString": (c_void_p, [c_void_p]),
    "LLVMWriteBitcodeToMemoryBuffer": (c_void_p, [c_void_p]),
    "LLVMLinkModules2": (c_int, [c_void_p, c_void_p]),
    "LLVMSetTarget": (None, [c_void_p, c_char_p]),
    "LLVMSetModuleDataLayout": (None, [c_void_p, c_void_p]),
    "LLVMGetDefaultTargetTriple": (c_void_p, []),
    "LLVMGetTargetFromTriple": (c_int, [c_char_p, POINTER(c_void_p), _TEXT_OUT]),
    "LLVMCreateTargetMachine": (
        c_void_p,
        [c_void_p, c_char_p, c_char_p, c_char_p, c_int, c_int, c_int],
    ),
    "LLVMCreateTargetDataLayout": (c_void_p, [c_void_p]),
    "LLVMDisposeTargetData": (None, [c_void_p]),
    "LLVMTargetMachineEmitToMemoryBuffer": (
        c_int,
        [c_void_p, c_void_p, c_int, _TEXT_OUT, POINTER(c_void_p)],
    ),
    "LLVMCreatePassBuilderOptions": (c_void_p, []),
    "LLVMDisposePassBuilderOptions": (None, [c_void_p]),
    "LLVMPassBuilderOptionsSetLoopInterleaving": (None, [c_void_p, c_int]),
    "LLVMPassBuilderOptionsSetLoopVectorization": (None, [c_void_p, c_int]),
    "LLVMPassBuilderOptionsSetSLPVectorization": (None, [c_void_p, c_int]),
    "LLVMPassBuilderOptionsSetLoopUnrolling": (None, [c_void_p, c_int]),
    "LLVMRunPasses": (c_void_p, [c_void_p, c_char_p, c_void_p, c_void_p]),
    "LLVMGetErrorMessage": (c_void_p, [c_void_p]),
    "LLVMDisposeErrorMessage": (None, [c_void_p]),
}

_INITIALISERS = tuple(
    f"LLVMInitializeX86{part}"
    for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser")
)

_lock = threading.Lock()
"""Targets must not be initialised twice at once."""
held_in_forks(_lock)


@dataclass(frozen=True)
class Library:
    """The bound functions, with package and version of LLVM."""

    functions: ctypes.CDLL
    version: str
    triple: bytes

    def text(self, address: int | None) -> str:
        """A text that the library made; it is freed."""
        if not address:
            return ""
        text = ctypes.string_at(address).decode(errors="replace")
        self.functions.LLVMDisposeMessage(address)
        return text


def find_library() -> Library | None:
    """The library, ready to make code for x86-64; None where it is not installed.

    Warns where it is, and cannot be used.
    """
    with _lock:
        return _find()


@cache
def _find() -> Library | None:
    try:
        distribution = importlib.metadata.distribution(LLVM_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None
    reason = f"there is no {FILE}"
    for folder in _FOLDERS:
        path = Path(str(distribution.locate_file(f"{folder}/{FILE}")))
        try:
            return _open(path, distribution.version)
        except (OSError, AttributeError) as error:
            reason = str(error) if path.exists() else reason
    warnings.warn(
        f"the LLVM of {LLVM_PACKAGE} {distribution.version} cannot be used ({reason}): llvmlite's "
        "makes the same code, and takes longer",
        RuntimeWarning,
        stacklevel=4,
    )
    return None


def _open(path: Path, package: str) -> Library:
    """Raises OSError where it cannot be loaded, AttributeError where it lacks a function."""
    functions = ctypes.CDLL(str(path))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(functions, name)
        function.restype, function.argtypes = result, arguments
    for initialise in [getattr(functions, name) for name in _INITIALISERS]:
        initialise()
    options = (c_char_p * (1 + len(OPTIONS)))(b"", *(option.encode() for option in OPTIONS))
    functions.LLVMParseCommandLineOptions(len(options), options, b"")
    numbers = (c_uint(), c_uint(), c_uint())
    functions.LLVMGetVersion(*map(byref, numbers))
    triple = functions.LLVMGetDefaultTargetTriple()
    version = ".".join(str(number.value) for number in numbers)
    library = Library(functions, f"{version} ({LLVM_PACKAGE} {package})", ctypes.string_at(triple))
    functions.LLVMDisposeMessage(triple)
    return library
