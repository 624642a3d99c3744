"""LLVM IR to object code, and object code to callable addresses."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from llvmlite import binding, ir

from ..lowering.llvm.target import features, processor, vectoriser_features
from ..lowering.llvm.translate import EXPLICIT_VECTORS
from ..passes.stages import stage
from ..passes.target import VECTOR_LIBRARY

if TYPE_CHECKING:
    from ..passes.target import Target


@dataclass(frozen=True)
class CompileOptions:
    """How LLVM optimises a module.

    `vectorise`: run the whole -O3 pipeline with LLVM's own loop and SLP vectorisers, and not the
    light one for code that has explicit vectors; by default, as the translation has marked it.
    """

    vectorise: bool | None = None


DEFAULT_OPTIONS = CompileOptions()

LARGEST, LARGEST_GROWTH = 1 << 15, 4
"""Bytes of optimised bitcode, at least and per byte of LLVM IR, beyond which nothing is unrolled.

Now and then LLVM unrolls loops around loops that it has unrolled, and takes 16 seconds for 3 KiB.
"""


@cache
def _initialise() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()


def _target_machine(
    target: Target, features: Callable[[Target], str] = features
) -> binding.TargetMachine:
    _initialise()
    return binding.Target.from_triple(binding.get_process_triple()).create_target_machine(
        cpu=processor(target), features=features(target), opt=3, reloc="pic", codemodel="small"
    )


def optimise(module: ir.Module | str, target: Target, options: CompileOptions) -> binding.ModuleRef:
    """Parses, verifies and optimises a module, or the text of one."""
    text = str(module)
    vectorise = options.vectorise
    if vectorise is None:
        vectorise = EXPLICIT_VECTORS not in text
    machine = _target_machine(target, vectoriser_features if vectorise else features)
    parsed = _parse(text, machine)
    if not vectorise:
        _run_light_pipeline(parsed, machine, unrolls="llvm.loop.unroll.count" in text)
        return parsed
    _run_whole_pipeline(parsed, machine, unrolls=True)
    if len(parsed.as_bitcode()) > max(LARGEST, LARGEST_GROWTH * len(text)):
        parsed = _parse(text, machine)
        _run_whole_pipeline(parsed, machine, unrolls=False)
    return parsed


def _parse(text: str, machine: binding.TargetMachine) -> binding.ModuleRef:
    module = binding.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    return module


def _run_whole_pipeline(
    module: binding.ModuleRef, machine: binding.TargetMachine, *, unrolls: bool
) -> None:
    """-O3, with or without unrolling loops that do not ask for it."""
    tuning = binding.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = True
    tuning.slp_vectorization = True
    tuning.loop_interleaving = True
    tuning.loop_unrolling = unrolls
    passes = binding.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)


def _run_light_pipeline(
    module: binding.ModuleRef, machine: binding.TargetMachine, *, unrolls: bool
) -> None:
    """The function simplification of -O2, in which LICM keeps tiles of arrays in registers.

    Its second LICM comes after full unrolling. -O3 would besides unswitch loops, at more than twice
    the time. The loops that ask to be unrolled by a factor still have to be.
    """
    tuning = binding.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = False
    tuning.slp_vectorization = False
    tuning.loop_interleaving = False
    tuning.loop_unrolling = True
    passes = binding.create_pass_builder(machine, tuning)
    simplification = passes.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            simplification.run(function, passes)
    if unrolls:
        cleanup = binding.create_new_module_pass_manager()
        cleanup.add_loop_unroll_pass()
        cleanup.add_instruction_combine_pass()
        cleanup.add_simplify_cfg_pass()
        cleanup.run(module, passes)


def compile_module(
    module: ir.Module | str, *, target: Target, options: CompileOptions = DEFAULT_OPTIONS
) -> bytes:
    """Compiles a module, or the text of one, to a relocatable object file for this machine."""
    machine = _target_machine(target)
    with stage("optimise"):
        optimised = optimise(module, target, options)
    with stage("codegen"):
        return machine.emit_object(optimised)


def compile_together(modules: Iterable[str], *, target: Target) -> bytes:
    """Compiles the texts of several modules to one object file; each is optimised by itself."""
    machine = _target_machine(target)
    with stage("optimise"):
        first, *others = [optimise(module, target, DEFAULT_OPTIONS) for module in modules]
        for other in others:
            first.link_in(other)
    with stage("codegen"):
        return machine.emit_object(first)


def emit_assembly(
    module: ir.Module | str, *, target: Target, options: CompileOptions = DEFAULT_OPTIONS
) -> str:
    """The assembly text of what `compile_module` makes."""
    return _target_machine(target).emit_assembly(optimise(module, target, options))


def optimised_ir(
    module: ir.Module | str, *, target: Target, options: CompileOptions = DEFAULT_OPTIONS
) -> str:
    """The LLVM IR text that `compile_module` generates code from."""
    return str(optimise(module, target, options))


def fingerprint(target: Target, options: CompileOptions = DEFAULT_OPTIONS) -> str:
    """Everything besides the LLVM IR that object code depends on, as text."""
    return "\n".join(
        (
            f"llvm {'.'.join(map(str, binding.llvm_version_info))}",
            binding.get_process_triple(),
            f"{target.name} {binding.get_host_cpu_name()}",
            binding.get_host_cpu_features().flatten(),
            vectoriser_features(target),
            repr(options),
        )
    )


@dataclass(frozen=True)
class LoadedObject:
    """Machine code in memory, for as long as this object lives."""

    addresses: Mapping[str, int]
    _tracker: object = field(repr=False)

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]


class _Linker:
    """The process's linker: one library per object."""

    def __init__(self) -> None:
        _initialise()
        # Symbols are looked up in the process, where the C mathematics library need not be yet.
        for library in ("libm.so.6", VECTOR_LIBRARY):
            with contextlib.suppress(OSError):
                ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        # All sections of an object lie in one piece, so that none is out of another's reach.
        self._jit = binding.create_lljit_compiler(use_jit_link=True, suppress_errors=True)

    def link(self, code: bytes, exports: Iterable[str], imports: Mapping[str, int]) -> LoadedObject:
        library = binding.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name, address in imports.items():
            library.import_symbol(name, address)
        exports = tuple(exports)
        for name in exports:
            library.export_symbol(name)
        with self._lock:
            tracker = library.link(self._jit, f"loopwright{next(self._numbers)}")
        return LoadedObject({name: tracker[name] for name in exports}, tracker)


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
