"""Prints a program, scheduled or as written, as loops, C, LLVM IR or assembly.

With all sizes known the code is made for them, as it is when a program runs; extents of arrays
that are not given are the smallest that the program needs. A schedule needs the sizes.

examples:
  loopwright emit polybench/gemm --c --size MINI
  loopwright emit gemm.mlir --c
  loopwright emit gemm.mlir --c -s ni=1000 -s nj=1100 -s nk=1200 -p 'tile{loops=S1.i,k sizes=32,32}'
  loopwright emit gemm.mlir --asm -s ni=64 -s nj=64 -s nk=64
  loopwright emit polybench/gemm --asm --size SMALL -p default --target neoverse-v1
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from ..passes.machine.target import Target
from ..support.json_records import Document, Record
from ..support.progress import ProgressLine
from . import UsageError
from .common import (
    VERDICT,
    add_fast_math_argument,
    add_program_arguments,
    add_quiet_argument,
    add_schedule_arguments,
    add_target_argument,
    add_verify_argument,
    check_threads,
    functions,
    named_target,
    read_schedule,
    tell_verdict,
)
from .json_output import emit
from .shipped import (
    add_size_arguments,
    check_size_names,
    given_sizes,
    with_standard_extents,
)

if TYPE_CHECKING:
    from xdsl.dialects import func

    from ..lowering.validation.verdict import Verdict
    from ..passes.schedules.schedule import Schedule
    from ..runtime.program import Function

FORMATS = {
    "mlir": "the loops after the schedule, as MLIR",
    "c": "C99, with OpenMP pragmas",
    "llvm": "LLVM IR, before LLVM optimises it",
    "asm": "assembly",
}


@dataclass(frozen=True)
class EmittedFunction(Record):
    """The code of a function."""

    name: Annotated[str, "its name"]
    text: Annotated[str, "the code"]
    verdict: Annotated[str | None, VERDICT]


@dataclass(frozen=True)
class EmitDocument(Document):
    """Result of `loopwright emit`."""

    document: ClassVar[str] = "emit"

    form: Annotated[str, "mlir, c, llvm or asm"]
    functions: Annotated[tuple[EmittedFunction, ...], "the functions that were chosen"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright emit`."""
    add_program_arguments(parser)
    formats = parser.add_mutually_exclusive_group(required=True)
    for name, text in FORMATS.items():
        formats.add_argument(
            f"--{name}", dest="format", action="store_const", const=name, help=text
        )
    add_schedule_arguments(parser)
    add_verify_argument(parser)
    add_size_arguments(parser)
    parser.add_argument("-t", "--threads", type=int, metavar="T", help="threads (--llvm and --asm)")
    add_fast_math_argument(parser)
    add_target_argument(parser)
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the functions that were chosen."""
    check_threads(arguments.threads)
    target = named_target(arguments)
    sizes = given_sizes(arguments)
    chosen = functions(arguments)
    check_size_names(arguments, (size.name for each in chosen for size in each.scop.sizes))
    emitted: list[EmittedFunction] = []
    for each in chosen:
        with ProgressLine() as line:
            line.update(f"generating code of {each.name}")
            schedule = read_schedule(
                arguments,
                each,
                sizes,
                threads=arguments.threads,
                target=target,
                fast_math=arguments.fast_math,
            )
            known = with_standard_extents(arguments.file, each, sizes)
            loops, verdict = _loops(arguments, each, known, schedule)
            text = _emit(arguments, loops, target).rstrip()
        tell_verdict(each.name, verdict)
        print(text)
        emitted.append(EmittedFunction(each.name, text, verdict and str(verdict)))
    emit(EmitDocument(arguments.format, tuple(emitted)))
    return 0


def _loops(
    arguments: argparse.Namespace,
    function: Function,
    given: dict[str, int],
    schedule: Schedule | None,
) -> tuple[func.FuncOp, Verdict | None]:
    """The loop IR of a function for the given sizes, symbolic in those that are not known."""
    # The compiler takes long to load: wrong arguments are told without it.
    from ..passes.polyhedral.bounds import check_bounds
    from ..passes.polyhedral.extents import infer_extents
    from ..runtime.jit.generated_code import verified_loops

    scop = function.scop
    if schedule is None and not given:
        return function.function, None
    names = {parameter.name for parameter in scop.sizes}
    known = infer_extents(scop, {name: size for name, size in given.items() if name in names})
    missing = [p.name for p in scop.sizes if p.name not in known]
    if missing and schedule is not None:
        parameters = [p.name for p in scop.parameters if p.name in missing] or missing
        options = " ".join(f"--set {name}=..." for name in parameters)
        raise UsageError(f"the schedule of {function.name} needs all sizes; add {options}")
    if not missing:
        check_bounds(scop, known)
    source = function.source(schedule, verify=arguments.verify)
    is_c, is_program = (arguments.format == each for each in ("c", "mlir"))
    return verified_loops(source, schedule, known, vectors=not is_c, ahead=not is_program)


def _emit(arguments: argparse.Namespace, loops: func.FuncOp, target: Target) -> str:
    from ..dialects.opaque import opaque_regions
    from ..lowering.c import emit_c
    from ..lowering.llvm import Options, translate
    from ..runtime.jit import object_code as jit

    regions = opaque_regions(loops)
    if arguments.format == "mlir":
        return "\n".join(map(str, [loops, *regions]))
    if arguments.format == "c":
        # Without --func, all functions are printed, one by one.
        return emit_c(loops, callees=arguments.func is not None or bool(regions))
    options = Options(num_threads=arguments.threads or 0, fast_math=arguments.fast_math)
    llvm_ir = str(translate(loops, target=target, options=options))
    return llvm_ir if arguments.format == "llvm" else jit.emit_assembly(llvm_ir, target=target)
