"""Compilation driver: function, schedule and sizes -> machine code at an address.

text -> module -> Scop -> (Schedule) -> loop IR -> LLVM IR -> object code -> address
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp

from ...dialects.parse import parse_file, parse_module
from ...lowering.generate import Inspect, generate
from ...lowering.llvm import Options, symbol, translate
from ...lowering.llvm.bounds_checks import BOUNDS_VIOLATION
from ...lowering.llvm.heap import FAILED_ALLOCATIONS
from ...lowering.loops.narrow_arithmetic import narrow_arithmetic
from ...lowering.specialise import specialise
from ...lowering.validation.validate import Validator
from ...lowering.validation.verdict import Verdict
from ...passes.machine.target import Target
from ...passes.polyhedral.bounds import check_bounds
from ...passes.polyhedral.inspections import inspections
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.raising.narrow_floats import widen_narrow_floats
from ...passes.polyhedral.raising.raise_function import raise_function
from ...passes.polyhedral.scop import Scop
from ...passes.schedules.schedule import Schedule, dependences_of
from ...passes.syntax.formats import apply_text
from ...support.cached_property import cached_property
from ...support.garbage_collection import garbage_collected_seldom
from ...support.stage_times import stage
from ...support.summaries import summary
from ..calling.signature import Sizes
from . import object_code as jit
from .external_functions import check_external_functions, external_functions
from .kept_code import KeptCode, find_code, keep_code, kept_key
from .openmp import imports
from .size_limits import arithmetic_limits, fit, loop_limits
from .stored_objects import object_code
from .threads import check_threads, default_threads


class Subject:
    """A function of a module, with its polyhedral model."""

    def __init__(self, module: ModuleOp, function: func.FuncOp) -> None:
        self._parsed = (module, function)

    @property
    def module(self) -> ModuleOp:
        """The module that it is of."""
        return self._parsed[0]

    @property
    def function(self) -> func.FuncOp:
        """The function in the module."""
        return self._parsed[1]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.sym_name.data

    @property
    def text(self) -> str:
        """What the module is made of."""
        return str(self.module)

    @cached_property
    def scop(self) -> Scop:
        """The polyhedral model; raises SourceError where the function has none."""
        return model(self.function)


@dataclass(frozen=True, eq=False)
class Source:
    """Compilation input: a function, and its schedule (None: as written).

    The schedule may be chosen when the sizes are known, by a function of their values by name; if
    `kept_as` tells how it is chosen, what is generated is kept on disk. With `verify`, what is
    generated for a schedule is proved to be the program.
    """

    subject: Subject
    schedule: Schedule | Callable[[Mapping[str, int]], Schedule] | None
    verify: bool = False
    kept_as: str | None = None

    @property
    def module(self) -> ModuleOp:
        """The module that the function is of."""
        return self.subject.module

    @property
    def function(self) -> func.FuncOp:
        """The function."""
        return self.subject.function

    @property
    def scop(self) -> Scop:
        """The polyhedral model of the function."""
        return self.subject.scop

    def schedule_for(self, sizes: Mapping[str, int]) -> Schedule | None:
        """The schedule for these sizes; None where the program runs as written."""
        if self.schedule is None or isinstance(self.schedule, Schedule):
            return self.schedule
        with stage("choose schedule"):
            chosen = self.schedule(sizes)
        return chosen if chosen.transformations else None

    def __repr__(self) -> str:
        return summary(self, f"of {self.subject.name}")


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code of a function for fixed sizes, with its source.

    `loop_ir` is MLIR text, `llvm_ir` the LLVM IR before LLVM's own optimisations. `address` is
    where the function starts, `failures` where a 64-bit counter of its failed allocations is (None
    when it allocates nothing), `violation` where the record of accesses outside of arrays is (None
    when they are not checked). `threads` run it (1 without parallel loops). `verdict` is what the
    validation of the loops has said, if there was one. The code stays in memory as long as this
    object does.
    """

    loop_ir: str
    llvm_ir: str
    address: int
    failures: int | None
    violation: int | None
    threads: int
    verdict: Verdict | None
    loaded: jit.LoadedObject = field(repr=False)
    target: Target = field(repr=False)
    find_schedule: Callable[[], Schedule | None] = field(repr=False)

    @cached_property
    def schedule(self) -> Schedule | None:
        """The schedule; None where the program runs as written."""
        return self.find_schedule()

    @cached_property
    def assembly(self) -> str:
        """The machine code as assembly text."""
        return jit.emit_assembly(self.llvm_ir, target=self.target)

    def __repr__(self) -> str:
        return summary(self, f"{self.threads} threads, {len(self.loop_ir)} characters of loop IR")


def read(source: str | Path) -> ModuleOp:
    """Parses a file, or a program's text (a string with a line break or a brace).

    Raises SourceError.
    """
    with stage("parse"):
        if isinstance(source, str) and ("\n" in source or "{" in source):
            return parse_module(source)
        return parse_file(source)


def model(function: func.FuncOp) -> Scop:
    """The polyhedral model of a function; raises SourceError."""
    with stage("raise"), ISL_LOCK:
        return raise_function(function)


def schedule_from(scop: Scop, text: str, target: Target, *, reassociate: bool = False) -> Schedule:
    """The schedule of `scop` that a text describes; raises SourceError, TransformationError."""
    with ISL_LOCK:
        with stage("dependences"):
            dependences_of(scop)
        with stage("legality"):
            original = Schedule.original(scop, target, reassociate=reassociate)
            return apply_text(text, original)


def compile_source(source: Source, sizes: Sizes, options: Options, target: Target) -> Code:
    """Machine code for one value of every size.

    Raises BoundsError where the program would leave an array, SourceError for what cannot be
    compiled, ValidationError where it would not be the program, TooManyThreads where the system
    does not give as many.
    """
    with garbage_collected_seldom(), ISL_LOCK:
        generated = _generated(source, sizes, options, target)
    llvm_ir = generated.llvm_ir
    code = object_code(llvm_ir, target)
    parallel = "GOMP_parallel" in llvm_ir
    threads = (options.num_threads or default_threads()) if parallel else 1
    check_threads(threads)
    name = symbol(source.subject.name)
    records = [each for each in (FAILED_ALLOCATIONS, BOUNDS_VIOLATION) if each in llvm_ir]
    with stage("load"):
        needed = {} if generated.is_alone else {**external_functions(source.module)}
        needed |= imports() if parallel else {}
        loaded = jit.load_object(code, [name, *records], needed)
    return Code(
        generated.loop_ir,
        llvm_ir,
        loaded[name],
        loaded.addresses.get(FAILED_ALLOCATIONS),
        loaded.addresses.get(BOUNDS_VIOLATION),
        threads,
        generated.verdict,
        loaded,
        target,
        generated.find_schedule,
    )


@dataclass(frozen=True)
class _Generated:
    """What is generated for sizes, what finds the schedule, and the verdict on the loops.

    `is_alone` tells that the program declares no functions.
    """

    find_schedule: Callable[[], Schedule | None]
    verdict: Verdict | None
    loop_ir: str
    llvm_ir: str
    is_alone: bool


def _generated(source: Source, sizes: Sizes, options: Options, target: Target) -> _Generated:
    """What is generated for sizes, from disk where it is kept there; raises as compile_source.

    What is kept has passed all checks, and is found without a look at the program.
    """
    if source.kept_as is None:
        return _checked(source, sizes, options, target)
    with stage("cache"):
        known = (sorted(sizes.shapes.items()), sorted(sizes.integers.items()))
        key = kept_key(source.subject.text, known, source.kept_as, options, target)
        kept = find_code(key)
    if kept is None:
        generated = _checked(source, sizes, options, target)
        schedule = generated.find_schedule()
        with stage("cache"):
            text = None if schedule is None else str(schedule)
            code = KeptCode(generated.is_alone, text, generated.loop_ir, generated.llvm_ir)
            keep_code(key, code)
        return generated
    if not kept.is_alone:
        check_external_functions(source.module)

    def replayed() -> Schedule | None:
        if kept.schedule is None:
            return None
        return schedule_from(source.scop, kept.schedule, target, reassociate=options.fast_math)

    return _Generated(replayed, None, kept.loop_ir, kept.llvm_ir, kept.is_alone)


def _checked(source: Source, sizes: Sizes, options: Options, target: Target) -> _Generated:
    """Generates code for a program whose accesses are inside its arrays; raises as above."""
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
    return _Generated(lambda: schedule, verdict, loop_ir, llvm_ir, is_alone)


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
        known = Sizes.named(source.scop, sizes)
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
