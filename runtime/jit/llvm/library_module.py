"""LLVM modules in the shared library.

Each has a context of its own, and Python's lock is not held meanwhile: threads compile at once.
"""

from __future__ import annotations

import ctypes
import weakref
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from ctypes import byref, c_void_p
from typing import Any, Literal

from .library import Library
from .module_protocol import Machine

_OPTIMISATION, _RELOCATION, _CODE_MODEL = 3, 2, 3
"""LLVMCodeGenLevelAggressive, LLVMRelocPIC, LLVMCodeModelSmall."""

_KINDS = {"assembly": 0, "object": 1}
"""LLVMCodeGenFileType."""

_RETURN_STATUS = 2
"""LLVMVerifierFailureAction: do not end the process."""

_ERROR = 0
"""LLVMDSError."""

_OPTIMISE = "default<O3>"
_SIMPLIFY = "always-inline,function(function-simplification<O2>)"
_UNROLL = "function(loop-unroll,instcombine<no-verify-fixpoint>,simplifycfg)"

_DiagnosticHandler = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class LibraryModule:
    """A module in the shared library's LLVM; see `module_protocol.Module`."""

    def __init__(self, text: str, machine: Machine, library: Library) -> None:
        self._library = library
        self._llvm = library.functions
        self._machine = machine
        self._errors: list[str] = []
        self._context = self._llvm.LLVMContextCreate()
        # When the interpreter ends, another thread may still be compiling.
        weakref.finalize(self, self._llvm.LLVMContextDispose, self._context).atexit = False
        # Without it, LLVM would print what it has to say, and end the process after an error.
        self._handler = _DiagnosticHandler(_recorder(library, self._errors))
        handler = ctypes.cast(self._handler, c_void_p)
        self._llvm.LLVMContextSetDiagnosticHandler(self._context, handler, None)
        self._module = self._parsed(text.encode())

    def _parsed(self, contents: bytes) -> int:
        """A module of this context: from text or bitcode."""
        # What parses takes over the buffer.
        buffer = self._llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(contents, len(contents), b"")
        message, module = c_void_p(), c_void_p()
        if self._llvm.LLVMParseIRInContext(self._context, buffer, byref(module), byref(message)):
            raise RuntimeError(f"LLVM IR parsing error\n{self._library.text(message.value)}")
        assert module.value is not None, "what has no error is a module"
        with _target_machine(self._library, self._machine) as machine:
            layout = self._llvm.LLVMCreateTargetDataLayout(machine)
        self._llvm.LLVMSetTarget(module, self._library.triple)
        self._llvm.LLVMSetModuleDataLayout(module, layout)
        self._llvm.LLVMDisposeTargetData(layout)
        if complaint := self._complaint(module.value):
            raise RuntimeError(complaint)
        return module.value

    def _complaint(self, module: int) -> str | None:
        """What LLVM's verifier finds wrong with a module, if anything."""
        message = c_void_p()
        is_wrong = self._llvm.LLVMVerifyModule(module, _RETURN_STATUS, byref(message))
        complaint = self._library.text(message.value)
        return (complaint or "invalid") if is_wrong else None

    def optimise(self, *, unrolls: bool) -> None:
        self._run(_OPTIMISE, unrolls=unrolls)

    def simplify(self, *, unrolls: bool) -> None:
        # Full unrolling is a part of the simplification.
        self._run(_SIMPLIFY, unrolls=True)
        if unrolls:
            self._run(_UNROLL, unrolls=True)

    def _run(self, passes: str, *, unrolls: bool) -> None:
        with _target_machine(self._library, self._machine) as machine:
            options = self._llvm.LLVMCreatePassBuilderOptions()
            for part in ("LoopVectorization", "SLPVectorization", "LoopInterleaving"):
                getattr(self._llvm, f"LLVMPassBuilderOptionsSet{part}")(options, True)
            self._llvm.LLVMPassBuilderOptionsSetLoopUnrolling(options, unrolls)
            error = self._llvm.LLVMRunPasses(self._module, passes.encode(), machine, options)
            self._llvm.LLVMDisposePassBuilderOptions(options)
        if error:
            message = self._llvm.LLVMGetErrorMessage(error)
            complaint = ctypes.string_at(message).decode(errors="replace")
            self._llvm.LLVMDisposeErrorMessage(message)
            raise RuntimeError(complaint)
        self._check()

    @property
    def is_valid(self) -> bool:
        return self._complaint(self._module) is None

    @property
    def size(self) -> int:
        return len(self._bitcode())

    def _bitcode(self) -> bytes:
        return self._taken(self._llvm.LLVMWriteBitcodeToMemoryBuffer(self._module))

    def link(self, other: LibraryModule) -> None:
        # Modules of two contexts cannot be linked.
        is_wrong = self._llvm.LLVMLinkModules2(self._module, self._parsed(other._bitcode()))
        self._check()
        assert not is_wrong, "an error has a message"

    def emit(self, machine: Machine, kind: Literal["assembly", "object"]) -> bytes:
        message, buffer = c_void_p(), c_void_p()
        with _target_machine(self._library, machine) as emitter:
            is_wrong = self._llvm.LLVMTargetMachineEmitToMemoryBuffer(
                emitter, self._module, _KINDS[kind], byref(message), byref(buffer)
            )
        code = self._taken(buffer.value)
        if is_wrong:
            raise RuntimeError(self._library.text(message.value))
        self._check()
        return code

    def _taken(self, buffer: int | None) -> bytes:
        """The contents of a buffer of the library, which is freed."""
        contents = ctypes.string_at(
            self._llvm.LLVMGetBufferStart(buffer), self._llvm.LLVMGetBufferSize(buffer)
        )
        self._llvm.LLVMDisposeMemoryBuffer(buffer)
        return contents

    def _check(self) -> None:
        """Raises RuntimeError for what was said since the last time."""
        complaints = self._errors[:]
        self._errors.clear()
        if complaints:
            raise RuntimeError("\n".join(complaints))

    def __str__(self) -> str:
        return self._library.text(self._llvm.LLVMPrintModuleToString(self._module))


def _recorder(library: Library, errors: list[str]) -> Any:
    def record(diagnostic: int, _: int) -> None:
        if library.functions.LLVMGetDiagInfoSeverity(diagnostic) == _ERROR:
            errors.append(library.text(library.functions.LLVMGetDiagInfoDescription(diagnostic)))

    return record


_idle: dict[Machine, list[int]] = defaultdict(list)
"""Target machines in no use: making one takes a millisecond, and threads cannot share one."""


@contextmanager
def _target_machine(library: Library, machine: Machine) -> Generator[int]:
    try:
        found = _idle[machine].pop()
    except IndexError:
        found = _new_target_machine(library, machine)
    try:
        yield found
    finally:
        _idle[machine].append(found)


def _new_target_machine(library: Library, machine: Machine) -> int:
    target, message = c_void_p(), c_void_p()
    if library.functions.LLVMGetTargetFromTriple(library.triple, byref(target), byref(message)):
        raise RuntimeError(library.text(message.value))
    found = library.functions.LLVMCreateTargetMachine(
        target,
        library.triple,
        machine.processor.encode(),
        machine.features.encode(),
        _OPTIMISATION,
        _RELOCATION,
        _CODE_MODEL,
    )
    assert found is not None, "a target has machines"
    return found
