"""LLVM modules in llvmlite."""

from __future__ import annotations

import importlib.metadata
from functools import cache
from typing import Literal

from llvmlite import binding

from .module_protocol import OPTIONS, Machine

VERSION = (
    f"{'.'.join(map(str, binding.llvm_version_info))} "
    f"(llvmlite {importlib.metadata.version('llvmlite')})"
)


class LlvmliteModule:
    """A module in llvmlite's LLVM; see `module_protocol.Module`."""

    def __init__(self, text: str, machine: Machine) -> None:
        self._machine = target_machine(machine)
        self._module = binding.parse_assembly(text)
        self._module.triple = self._machine.triple
        self._module.data_layout = str(self._machine.target_data)
        self._module.verify()

    def optimise(self, *, unrolls: bool) -> None:
        passes = self._passes(3, vectors=True, unrolls=unrolls)
        passes.getModulePassManager().run(self._module, passes)

    def simplify(self, *, unrolls: bool) -> None:
        # Full unrolling is a part of the simplification.
        inlining = binding.create_new_module_pass_manager()
        inlining.add_always_inliner_pass()
        passes = self._passes(2, vectors=False, unrolls=True)
        inlining.run(self._module, passes)
        simplification = passes.getFunctionPassManager()
        for function in self._module.functions:
            if not function.is_declaration:
                simplification.run(function, passes)
        if unrolls:
            cleanup = binding.create_new_module_pass_manager()
            cleanup.add_loop_unroll_pass()
            cleanup.add_instruction_combine_pass()
            cleanup.add_simplify_cfg_pass()
            cleanup.run(self._module, passes)

    def _passes(self, level: int, *, vectors: bool, unrolls: bool) -> binding.PassBuilder:
        tuning = binding.create_pipeline_tuning_options(speed_level=level)
        tuning.loop_vectorization = vectors
        tuning.slp_vectorization = vectors
        tuning.loop_interleaving = vectors
        tuning.loop_unrolling = unrolls
        return binding.create_pass_builder(self._machine, tuning)

    @property
    def is_valid(self) -> bool:
        try:
            self._module.verify()
        except RuntimeError:
            return False
        return True

    @property
    def size(self) -> int:
        return len(self._module.as_bitcode())

    def link(self, other: LlvmliteModule) -> None:
        self._module.link_in(other._module)

    def emit(self, machine: Machine, kind: Literal["assembly", "object"]) -> bytes:
        emitter = target_machine(machine)
        if kind == "assembly":
            return emitter.emit_assembly(self._module).encode()
        return emitter.emit_object(self._module)

    def __str__(self) -> str:
        return str(self._module)


def target_machine(machine: Machine) -> binding.TargetMachine:
    """Code for a machine, at the highest level."""
    initialise()
    if machine.triple:
        _initialise_all()
    triple = machine.triple or binding.get_process_triple()
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=machine.processor, features=machine.features, opt=3, reloc="pic", codemodel="small"
    )


@cache
def initialise() -> None:
    """Before llvmlite makes or loads machine code."""
    for option in OPTIONS:
        binding.set_option("", option)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()


@cache
def _initialise_all() -> None:
    """Before llvmlite makes machine code for other architectures."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
