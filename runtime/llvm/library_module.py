"""A module in the shared library of LLVM.

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

from .library import Library, find_library
from .module import Machine

_OPTIMISATION, _RELOCATION, _CODE_MODEL = 3, 2, 3
"""LLVMCodeGenLevelAggressive, LLVMRelocPIC, LLVMCodeModelSmall."""

_KINDS = {"assembly": 0, "object": 1}
"""LLVMCodeGenFileType."""

_RETURN_STATUS = 2
"""LLVMVerifierFailureAction: do not end the process."""

_ERROR = 0
"""LLVMDSError."""

_OPTIMISE = "default<O3>"

# What the pipeline of -O2 does with each function, as `opt -print-pipeline-passes` of LLVM 22
# prints it, without what concerns coroutines. Options that are the default are left out.
_INSTCOMBINE = "instcombine<no-verify-fixpoint>"
_SIMPLIFYCFG = "simplifycfg<switch-range-to-icmp>"
_SIMPLIFY = (
    *("sroa<modify-cfg>", "early-cse<memssa>", "speculative-execution<only-if-divergent-target>"),
    *("jump-threading", "correlated-propagation", _SIMPLIFYCFG, _INSTCOMBINE),
    *("aggressive-instcombine", "libcalls-shrinkwrap", "tailcallelim", _SIMPLIFYCFG),
    *("reassociate", "constraint-elimination"),
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,"
    "loop-rotate<header-duplication;no-prepare-for-lto>,licm<allowspeculation>,"
    "simple-loop-unswitch<no-nontrivial;trivial>)",
    *(_SIMPLIFYCFG, _INSTCOMBINE),
    "loop(loop-idiom,indvars,extra-simple-loop-unswitch-passes,loop-deletion,loop-unroll-full)",
    *("sroa<modify-cfg>", "vector-combine", "mldst-motion<no-split-footer-bb>", "gvn", "sccp"),
    *("bdce", _INSTCOMBINE, "jump-threading", "correlated-propagation", "adce", "memcpyopt"),
    *("dse", "move-auto-init", "loop-mssa(licm<allowspeculation>)"),
    "simplifycfg<switch-range-to-icmp;switch-to-arithmetic;hoist-common-insts;sink-common-insts>",
    _INSTCOMBINE,
)
_UNROLL = ("loop-unroll", _INSTCOMBINE, "simplifycfg")

_DiagnosticHandler = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class LibraryModule:
    """A module in the library's LLVM; what its methods do is said in `module.Module`."""

    def __init__(self, text: str, machine: Machine) -> None:
        library = find_library()
        assert library is not None, "there is a library"
        self._library = library
        self._llvm = library.functions
        self._machine = machine
        self._errors: list[str] = []
        self._context = self._llvm.LLVMContextCreate()
        weakref.finalize(self, self._llvm.LLVMContextDispose, self._context)
        # Without it, LLVM would print what it has to say, and end the process after an error.
        self._handler = _DiagnosticHandler(_recorder(library, self._errors))
        handler = ctypes.cast(self._handler, c_void_p)
        self._llvm.LLVMContextSetDiagnosticHandler(self._context, handler, None)
        self._module = self._parsed(text)

    def _parsed(self, text: str) -> int:
        encoded = text.encode()
        buffer = self._llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(encoded, len(encoded), b"")
        message, module = c_void_p(), c_void_p()
        if self._llvm.LLVMParseIRInContext(self._context, buffer, byref(module), byref(message)):
            raise RuntimeError(f"LLVM IR parsing error\n{self._library.text(message.value)}")
        assert module.value is not None, "what has no error is a module"
        with _target_machine(self._library, self._machine) as machine:
            layout = self._llvm.LLVMCreateTargetDataLayout(machine)
        self._llvm.LLVMSetTarget(module, self._library.triple)
        self._llvm.LLVMSetModuleDataLayout(module, layout)
        self._llvm.LLVMDisposeTargetData(layout)
        is_wrong = self._llvm.LLVMVerifyModule(module, _RETURN_STATUS, byref(message))
        complaint = self._library.text(message.value)
        if is_wrong:
            raise RuntimeError(complaint)
        return module.value

    def optimise(self, *, unrolls: bool) -> None:
        self._run(_OPTIMISE, unrolls=unrolls)

    def simplify(self, *, unrolls: bool) -> None:
        self._run(f"function({','.join(_SIMPLIFY)})", unrolls=True)
        if unrolls:
            self._run(f"function({','.join(_UNROLL)})", unrolls=True)

    def _run(self, passes: str, *, unrolls: bool) -> None:
        options = self._llvm.LLVMCreatePassBuilderOptions()
        for part in ("LoopVectorization", "SLPVectorization", "LoopInterleaving"):
            getattr(self._llvm, f"LLVMPassBuilderOptionsSet{part}")(options, True)
        self._llvm.LLVMPassBuilderOptionsSetLoopUnrolling(options, unrolls)
        with _target_machine(self._library, self._machine) as machine:
            error = self._llvm.LLVMRunPasses(self._module, passes.encode(), machine, options)
        self._llvm.LLVMDisposePassBuilderOptions(options)
        if error:
            raise RuntimeError(ctypes.string_at(self._llvm.LLVMGetErrorMessage(error)).decode())
        self._check()

    @property
    def size(self) -> int:
        return len(self._taken(self._llvm.LLVMWriteBitcodeToMemoryBuffer(self._module)))

    def link(self, other: LibraryModule) -> None:
        # Modules of two contexts cannot be linked.
        is_wrong = self._llvm.LLVMLinkModules2(self._module, self._parsed(str(other)))
        self._check()
        assert not is_wrong, "an error has a message"

    def emit(self, machine: Machine, kind: Literal["assembly", "object"]) -> bytes:
        message, buffer = c_void_p(), c_void_p()
        with _target_machine(self._library, machine) as emitter:
            is_wrong = self._llvm.LLVMTargetMachineEmitToMemoryBuffer(
                emitter, self._module, _KINDS[kind], byref(message), byref(buffer)
            )
        if is_wrong:
            raise RuntimeError(self._library.text(message.value))
        code = self._taken(buffer.value)
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
        if self._errors:
            raise RuntimeError("\n".join(self._errors))

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
    return library.functions.LLVMCreateTargetMachine(
        target,
        library.triple,
        machine.processor.encode(),
        machine.features.encode(),
        _OPTIMISATION,
        _RELOCATION,
        _CODE_MODEL,
    )
