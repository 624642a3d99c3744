"""The optimised loops of regions as our own machine code, in assembly statements of C.

    extern void loopwright_f_loops(int64_t, void *, int64_t) __attribute__((visibility("hidden")));
    __asm__(".pushsection .text\\n"
            "loopwright_f_loops:\\n"
            ...
            ".popsection\\n");

It has the vectors that the schedule asks for, whatever the C compiler makes of loops.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr

from ...lowering.generate import generate
from ...lowering.llvm import Options as TranslationOptions
from ...lowering.llvm import translate
from ...lowering.llvm.names import FAILED_ALLOCATIONS, symbol
from ...lowering.loops.index_magnitudes import SizeLimits
from ...passes.machine.target import Target
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...runtime.choosing.schedule_names import DEFAULT
from ...runtime.jit.object_code import emit_assembly
from ...runtime.jit.size_limits import generated_limits
from ...runtime.program import Function
from .optimised import PREFIX, Options, given_sizes, schedule_of

_LEFT_OUT = (".file", ".ident", ".addrsig", ".globl", '.section\t".note.GNU-stack"')
"""Directives for a whole file, and those that would make symbols known in others."""


@dataclass(frozen=True)
class MachineCode:
    """The code of a function as C, and the sizes that it is for.

    `failures` is what counts allocations that have failed.
    """

    text: str
    failures: str | None
    limits: SizeLimits


def machine_code(function: Function, options: Options, name: str) -> MachineCode | None:
    """The loops of a region as a function of this name; None where they stay as written.

    Raises SourceError and others.
    """
    target = options.target or Target.host()
    schedule = schedule_of(function, options, DEFAULT)
    if schedule is None:
        return None
    with ISL_LOCK:
        given = given_sizes(function, options)
        loops = generate(schedule, given, trusted=True)
        limits = generated_limits(function.function, loops, function.scop, given)
        loops.properties["sym_name"] = StringAttr(name.removeprefix(PREFIX))
        chosen = TranslationOptions(
            options.threads or 0, contract=options.fuses_products, fast_math=options.fast_math
        )
        llvm_ir = str(translate(loops, target=target, options=chosen))
    assert symbol(name.removeprefix(PREFIX)) == name
    failures = f"{name}_failures" if FAILED_ALLOCATIONS in llvm_ir else None
    assembly = _with_own_names(emit_assembly(llvm_ir, target=target), name)
    return MachineCode(_statement(assembly), failures, limits)


def _with_own_names(assembly: str, name: str) -> str:
    """The assembly with names that no other code of the file has, the function's but for."""
    defined = dict.fromkeys(re.findall(r"^([\w.$]+):", assembly, flags=re.MULTILINE))
    defined |= dict.fromkeys(re.findall(r"^\s*\.l?comm\s+([\w.$]+)", assembly, flags=re.MULTILINE))
    names: dict[str, str] = {}
    for each in defined:
        local = each.startswith(".L")
        names[each] = f".L{name}{each[2:]}" if local else f"{name}.{each}"
    names |= {name: name, FAILED_ALLOCATIONS: f"{name}_failures"}
    return re.sub(r"[\w.$]+", lambda found: names.get(found[0], found[0]), assembly)


def _statement(assembly: str) -> str:
    """Assembly as a statement of C."""
    kept = [
        line
        for line in assembly.splitlines()
        if line.strip() and not line.strip().startswith(_LEFT_OUT)
    ]
    lines = [".pushsection .text", *kept, ".popsection"]
    quoted = [line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", " ") for line in lines]
    return "__asm__(" + "\n        ".join(f'"{line}\\n"' for line in quoted) + ");\n"
