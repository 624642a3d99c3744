"""LLVM IR -> object code -> callable addresses."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from llvmlite import binding, ir

from ...lowering.llvm.llvm_target import features, processor, triple, vectoriser_features
from ...lowering.llvm.names import EXPLICIT_VECTORS
from ...passes.machine.detection import VECTOR_LIBRARY
from ...support.fork_safety import held_in_forks
from ...support.stage_times import stage
from . import llvm
from .llvm.llvmlite_module import initialise
from .loaded_object import LoadedObject
from .masked_accesses import with_sound_masks

if TYPE_CHECKING:
    from ...passes.machine.target import Target


@dataclass(frozen=True)
class CompileOptions:
    """LLVM's optimisation options.

    `vectorise`: run the whole -O3 pipeline with LLVM's own loop and SLP vectorisers, and not the
    light one for code that has explicit vectors; by default, as the translation has marked it.
    """

    vectorise: bool | None = None


DEFAULT_OPTIONS = CompileOptions()

_SHARING = 16
"""Libraries in one LLJIT."""

LARGEST, LARGEST_GROWTH = 1 << 15, 4
"""Bytes of optimised bitcode, at least and per byte of LLVM IR, beyond which nothing is unrolled.

Now and then LLVM unrolls loops around loops that it has unrolled, and takes 16 seconds for 3 KiB.
"""


def optimise(module: ir.Module | str, target: Target, options: CompileOptions) -> llvm.Module:
    """Parses, verifies and optimises a module, or the text of one."""
    text = str(module)
    optimised = _optimised(text, target, options)
    if "llvm.masked." in text:
        before = str(optimised)
        after = with_sound_masks(before)
        if after != before:
            return llvm.parse(after, _machine(target))
    return optimised


def _optimised(text: str, target: Target, options: CompileOptions) -> llvm.Module:
    """With LLVM's vectorisers if wanted, else simplified, or as it is.

    LLVM 22 replaces a local array by vectors that are used before they are there, now and then
    (SROA, where vectors of different blocks fill the array).
    """
    vectorise = options.vectorise
    if vectorise is None:
        vectorise = EXPLICIT_VECTORS not in text
    for attempt in (_vectorised, _simplified) if vectorise else (_simplified,):
        optimised = attempt(text, target)
        if optimised.is_valid:
            return optimised
    return llvm.parse(text, _machine(target))


def _vectorised(text: str, target: Target) -> llvm.Module:
    machine = llvm.Machine(processor(target), vectoriser_features(target), triple(target))
    optimised = llvm.parse(text, machine)
    optimised.optimise(unrolls=True)
    if optimised.size > max(LARGEST, LARGEST_GROWTH * len(text)):
        optimised = llvm.parse(text, machine)
        optimised.optimise(unrolls=False)
    return optimised


def _simplified(text: str, target: Target) -> llvm.Module:
    optimised = llvm.parse(text, _machine(target))
    optimised.simplify(unrolls="llvm.loop.unroll.count" in text)
    return optimised


def _machine(target: Target) -> llvm.Machine:
    return llvm.Machine(processor(target), features(target), triple(target))


def compile_module(
    module: ir.Module | str, *, target: Target, options: CompileOptions = DEFAULT_OPTIONS
) -> bytes:
    """Compiles a module, or the text of one, to a relocatable object file for the target."""
    with stage("optimise"):
        optimised = optimise(module, target, options)
    with stage("codegen"):
        return optimised.emit(_machine(target), "object")


def compile_together(modules: Iterable[str], *, target: Target) -> bytes:
    """Compiles the texts of several modules to one object file; each is optimised by itself."""
    with stage("optimise"):
        first, *others = [optimise(module, target, DEFAULT_OPTIONS) for module in modules]
        for other in others:
            first.link(other)
    with stage("codegen"):
        return first.emit(_machine(target), "object")


def emit_assembly(
    module: ir.Module | str, *, target: Target, options: CompileOptions = DEFAULT_OPTIONS
) -> str:
    """The assembly text of what `compile_module` makes."""
    return optimise(module, target, options).emit(_machine(target), "assembly").decode()


def optimised_ir(
    module: ir.Module | str, *, target: Target, options: CompileOptions = DEFAULT_OPTIONS
) -> str:
    """The LLVM IR text that `compile_module` generates code from."""
    return str(optimise(module, target, options))


class _Memory:
    """A library of machine code, and the linker that it must go before."""

    def __init__(self, jit: object, tracker: binding.ResourceTracker) -> None:
        self._jit = jit
        self._tracker = tracker

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # When the interpreter ends, llvmlite may be gone already; the memory goes with the process.
        if not is_finalizing():
            self._tracker.close()


class _Linker:
    """The process's linker: one library per object, some of them in each LLJIT.

    An LLJIT keeps what it knows of a library when that is gone, 9 KiB and the object, and goes when
    all its libraries are gone. It takes a millisecond and 150 KiB, which its libraries share.
    """

    def __init__(self) -> None:
        initialise()
        # Symbols are looked up in the process, where the C mathematics library need not be yet.
        for library in ("libm.so.6", VECTOR_LIBRARY):
            with contextlib.suppress(OSError):
                ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self._lock = threading.Lock()
        held_in_forks(self._lock)
        self._numbers = itertools.count()
        self._jit: Any = None

    def link(self, code: bytes, exports: Iterable[str], imports: Mapping[str, int]) -> LoadedObject:
        library = binding.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name, address in imports.items():
            library.import_symbol(name, address)
        exports = tuple(exports)
        for name in exports:
            library.export_symbol(name)
        with self._lock:
            number = next(self._numbers)
            if number % _SHARING == 0:
                # All sections of an object lie in one piece: none is out of another's reach.
                self._jit = binding.create_lljit_compiler(use_jit_link=True, suppress_errors=True)
            tracker = library.link(self._jit, f"loopwright{number}")
            memory = _Memory(self._jit, tracker)
        return LoadedObject({name: tracker[name] for name in exports}, memory)


@cache
def _linker() -> _Linker:
    return _Linker()


def load_object(
    code: bytes, exports: Iterable[str], imports: Mapping[str, int] | None = None
) -> LoadedObject:
    """Loads an object file; `exports` are the symbols whose addresses are wanted.

    `imports` gives the addresses of symbols that the object needs and the process does not have.
    The result keeps the code alive. Raises RuntimeError when a symbol cannot be resolved.
    """
    return _linker().link(code, exports, imports or {})
