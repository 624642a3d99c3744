"""A scheduled program as text: schedule tree, MLIR, C, LLVM IR, assembly."""

from __future__ import annotations

from typing import Literal, get_args

from ..lowering.c import emit_c
from ..lowering.llvm import Options, translate
from ..passes.polyhedral.bounds import check_bounds
from ..passes.polyhedral.descriptions import describe_tree
from ..passes.polyhedral.isl_context import ISL_LOCK
from ..passes.schedules.schedule import Schedule
from ..passes.syntax.schedule_ops import to_sequence
from ..runtime.jit import object_code
from ..runtime.jit.generated_code import loops_of
from .loaded_program import LoadedProgram
from .problems import CallError

Form = Literal["tree", "schedule", "mlir", "c", "llvm", "asm"]
"""Schedule tree, operations of the `schedule` dialect, loops as MLIR, C99, LLVM IR, assembly."""


def text_of(program: LoadedProgram, schedule: Schedule, form: Form) -> str:
    """The text; raises SourceError, BoundsError, CallError where a size is not known."""
    if form not in get_args(Form):
        raise CallError("type", f"no form '{form}'; there are {', '.join(get_args(Form))}")
    with ISL_LOCK:
        if form == "tree":
            return describe_tree(schedule.scop, schedule.tree)
        if form == "schedule":
            return str(to_sequence(schedule))
        function, sizes = program.function, program.context.sizes
        check_bounds(function.scop, sizes)
        source = function.source(schedule, threads=program.threads, fast_math=program.fast_math)
        scheduled = schedule if schedule.transformations else None
        is_program = form == "mlir"
        loops = loops_of(source, scheduled, sizes, vectors=form != "c", ahead=not is_program)
        if is_program:
            return str(loops)
        if form == "c":
            return emit_c(loops, callees=True)
        options = Options(num_threads=program.threads, fast_math=program.fast_math)
        llvm_ir = str(translate(loops, target=schedule.target, options=options))
    if form == "llvm":
        return llvm_ir
    return object_code.emit_assembly(llvm_ir, target=schedule.target)
