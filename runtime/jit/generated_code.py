"""Function, schedule and sizes -> loop IR and LLVM IR.

module -> Scop -> (Schedule) -> loop IR -> LLVM IR
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp

from ...lowering.generate import Inspect, generate
from ...lowering.llvm import Options, translate
from ...lowering.loops.narrow_arithmetic import narrow_arithmetic
from ...lowering.specialise import specialise
from ...lowering.validation.validate import Validator
from ...lowering.validation.verdict import Verdict
from ...passes.machine.target import Target
from ...passes.polyhedral.bounds import check_bounds
from ...passes.polyhedral.inspections import inspections
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.raising.narrow_floats import widen_narrow_floats
from ...passes.schedules.schedule import Schedule
from ...support.garbage_collection import garbage_collected_seldom
from ...support.stage_times import stage
from ..calling.derived_signature import named_sizes
from ..calling.signature import Sizes
from .external_functions import check_external_functions, external_functions
from .size_limits import arithmetic_limits, fit, loop_limits
from .source import Source


@dataclass(frozen=True)
class GeneratedCode:
    """What is generated for sizes; `is_alone` tells that the program declares no functions."""

    schedule: Schedule | None
    verdict: Verdict | None
    loop_ir: str
    llvm_ir: str
    is_alone: bool


def generated_code(source: Source, sizes: Sizes, options: Options, target: Target) -> GeneratedCode:
    """Generates code for a program whose accesses are inside its arrays.

    Raises BoundsError where the program would leave an array, SourceError for what cannot be
    compiled, ValidationError where it would not be the program.
    """
    with garbage_collected_seldom(), ISL_LOCK:
        check_external_functions(source.module)
        names = sizes.of(source.scop)
        with stage("bounds"):
            check_bounds(source.scop, names)
        schedule = source.schedule_for(names)
        with stage("loop IR"):
            loops, verdict = verified_loops(source, schedule, names)
            loop_ir = str(loops)
        with stage("LLVM IR"):
            llvm_ir = str(translate(loops, target=target, options=options))
    is_alone = not external_functions(source.module)
    return GeneratedCode(schedule, verdict, loop_ir, llvm_ir, is_alone)


def loops_of(
    source: Source,
    schedule: Schedule | None,
    sizes: Mapping[str, int],
    *,
    vectors: bool = True,
    ahead: bool = True,
) -> func.FuncOp:
    """The loop IR of a source with a schedule, for the sizes that are known.

    Without `vectors`, vector loops of the schedule stay loops, and integer arithmetic stays as
    written. Without `ahead`, it is a program again: subscripts that depend on data are compared
    with the extents where they are used. Raises SourceError, ValidationError.
    """
    return verified_loops(source, schedule, sizes, vectors=vectors, ahead=ahead)[0]


def verified_loops(
    source: Source,
    schedule: Schedule | None,
    sizes: Mapping[str, int],
    *,
    vectors: bool = True,
    ahead: bool = True,
) -> tuple[func.FuncOp, Verdict | None]:
    """What `loops_of` gives, and the verdict on it where one is asked for; raises the same.

    Affine expressions of extreme sizes are left to isl, whose integers are of any size.
    """
    arithmetic_limits(source.function, source.scop, sizes)
    if schedule is None and (source.scop.opaque_statements or (ahead and _is_inspected(source))):
        # The text has no checks of subscripts that depend on data, or one check for each load.
        schedule = Schedule.original(source.scop)
    if schedule is None:
        known = named_sizes(source.scop, sizes)
        loops = specialise(source.function, known.shapes, known.integers)
        if vectors:
            narrow_arithmetic(loops)
        _add_callees(loops, source)
        if fit(loops):
            return loops, Verdict() if source.verify else None
        schedule = Schedule.original(source.scop)
    validator = Validator(schedule) if source.verify else None
    inspect: Inspect | None = validator
    loops = generate(schedule, sizes, vectors=vectors, ahead=ahead, inspect=inspect)
    loop_limits(loops, source.scop, sizes)
    return loops, None if validator is None else validator.verdict


def _is_inspected(source: Source) -> bool:
    """Whether subscripts can be compared ahead of the loops, and no load of the text is skipped."""
    if any(isinstance(op, scf.IfOp) for op in source.function.walk()):
        return False
    return bool(inspections(source.scop).parts)


def _add_callees(function: func.FuncOp, source: Source) -> None:
    """Puts a copy of a function into a module with the functions that it may call."""
    if any(isinstance(op, func.CallOp) for op in function.walk()):
        others = [op.clone() for op in source.module.ops if op is not source.function]
        for other in others:
            widen_narrow_floats(other)
        ModuleOp([function, *others])
