"""Compilation driver: function, schedule and sizes -> machine code at an address.

    text -> module -> Scop -> (Schedule) -> loop IR -> LLVM IR -> object code -> address

What was generated before for the same source is found on disk, without the compiler: it is imported
where there is something to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...lowering.llvm.names import BOUNDS_VIOLATION, FAILED_ALLOCATIONS, symbol
from ...lowering.llvm.options import Options
from ...passes.machine.target import Target
from ...support.cached_property import cached_property
from ...support.stage_times import stage
from ...support.summaries import summary
from ..calling.signature import Sizes
from .kept_code import KeptCode, find_code, keep_code, kept_key
from .loaded_object import LoadedObject
from .machine_code import load_code
from .openmp import imports
from .source import Source
from .threads import check_threads, default_threads

if TYPE_CHECKING:
    from ...lowering.validation.verdict import Verdict
    from ...passes.schedules.schedule import Schedule


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code of a function for fixed sizes, with its source.

    `loop_ir` is MLIR text, `llvm_ir` the LLVM IR before LLVM's own optimisations. `address` is
    where the function starts, `failures` where a 64-bit counter of its failed allocations is (None
    when it allocates nothing), `violation` where the record of accesses outside of arrays is (None
    when they are not checked). `threads` run it (1 without parallel loops). `schedule_text` is the
    schedule as text, None where none was asked for. `verdict` is what the validation of
    the loops has said, if there was one. The code stays in memory as long as this object does.
    """

    loop_ir: str
    llvm_ir: str
    address: int
    failures: int | None
    violation: int | None
    threads: int
    schedule_text: str | None
    verdict: Verdict | None
    loaded: LoadedObject = field(repr=False)
    target: Target = field(repr=False)
    find_schedule: Callable[[], Schedule | None] = field(repr=False)

    @cached_property
    def schedule(self) -> Schedule | None:
        """The schedule; None where the program runs as written."""
        return self.find_schedule()

    @cached_property
    def assembly(self) -> str:
        """The machine code as assembly text."""
        from .object_code import emit_assembly  # LLVM

        return emit_assembly(self.llvm_ir, target=self.target)

    def __repr__(self) -> str:
        return summary(self, f"{self.threads} threads, {len(self.loop_ir)} characters of loop IR")


def compile_source(source: Source, sizes: Sizes, options: Options, target: Target) -> Code:
    """Machine code for one value of every size.

    Raises BoundsError where the program would leave an array, SourceError for what cannot be
    compiled, ValidationError where it would not be the program, TooManyThreads where the system
    does not give as many.
    """
    generated = _generated(source, sizes, options, target)
    llvm_ir = generated.llvm_ir
    parallel = "GOMP_parallel" in llvm_ir
    threads = (options.num_threads or default_threads()) if parallel else 1
    check_threads(threads)
    name = symbol(source.subject.name)
    records = [each for each in (FAILED_ALLOCATIONS, BOUNDS_VIOLATION) if each in llvm_ir]
    needed = {} if generated.is_alone else {**_external_functions(source)}
    needed |= imports() if parallel else {}
    loaded = load_code(llvm_ir, target, [name, *records], needed)
    return Code(
        generated.loop_ir,
        llvm_ir,
        loaded[name],
        loaded.addresses.get(FAILED_ALLOCATIONS),
        loaded.addresses.get(BOUNDS_VIOLATION),
        threads,
        generated.schedule_text,
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
    schedule_text: str | None
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
        with stage("cache"):
            code = KeptCode(
                generated.is_alone, generated.schedule_text, generated.loop_ir, generated.llvm_ir
            )
            keep_code(key, code)
        return generated
    if not kept.is_alone:
        _check_external_functions(source)

    def replayed() -> Schedule | None:
        if kept.schedule is None:
            return None
        from .reading import schedule_from  # the compiler

        return schedule_from(source.scop, kept.schedule, target, reassociate=options.fast_math)

    return _Generated(replayed, kept.schedule, None, kept.loop_ir, kept.llvm_ir, kept.is_alone)


def _checked(source: Source, sizes: Sizes, options: Options, target: Target) -> _Generated:
    """Generates code for a program whose accesses are inside its arrays; raises as above."""
    from .generated_code import generated_code  # the compiler

    new = generated_code(source, sizes, options, target)
    text = None if new.schedule is None else str(new.schedule)
    return _Generated(
        lambda: new.schedule, text, new.verdict, new.loop_ir, new.llvm_ir, new.is_alone
    )


def _check_external_functions(source: Source) -> None:
    from .external_functions import check_external_functions  # of operations, which need xDSL

    check_external_functions(source.module)


def _external_functions(source: Source) -> Mapping[str, int]:
    from .external_functions import external_functions  # as above

    return external_functions(source.module)
