"""Runs a program on random or given inputs, unscheduled and scheduled, compares and times both.

Without -p or -S, the schedule is the default one for the sizes; '-p none' runs only the program as
it is written. The arrays are allocated in the shapes that the sizes need; shipped kernels have
standard sizes and initial values, which --set and --input replace one by one. Each result of the
scheduled program is compared with the unscheduled one: integers must be equal, floats agree to a
tolerance that grows with the number of operations. Times are medians; every repetition starts from
the same contents.

examples:
  loopwright run gemm.mlir --set ni=1000 --set nj=1100 --set nk=1200
  loopwright run gemm.mlir --set ni=512 --set nj=512 --set nk=512 \\
      -p 'interchange{loops=k,S1.j}' --threads 2 --timing
  loopwright run polybench/gemm --size LARGE -p 'parallel{loops=i}'
  loopwright run polybench/gemm --size LARGE -p 'I(L1,L2)P(L0)V(L2,8)'
  loopwright run gemm.mlir --set ni=99 --set nj=99 --set nk=99 --schedule-file tiled.mlir
  loopwright run polybench/gemm -p 'tile{loops=i sizes=Ti}' --tile Ti=32
  loopwright run blur.mlir --input img=photo.npy --output out=blurred.npy
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from ..runtime.calling.arguments import ArrayArgument
from ..runtime.choosing.schedule_names import CHOSEN, DEFAULT
from ..runtime.jit.kept_facts import kept_fact
from ..runtime.kernel import Kernel
from ..runtime.measuring.compare import Agreement, Array, compare
from ..runtime.measuring.timing import Timing, format_seconds
from ..runtime.program import Function
from ..runtime.verifying.results import results_of
from ..session.shipped_kernels import sizes_of
from ..support.json_records import Document, Record
from ..support.output_files import replacing
from ..support.progress import ProgressLine
from ..support.stage_times import StageTimes, record_stages
from . import UsageError
from .common import (
    VERDICT,
    add_program_arguments,
    add_quiet_argument,
    add_run_arguments,
    add_schedule_arguments,
    add_verify_argument,
    check_seconds,
    check_threads,
    format_table,
    one_function,
    pairs,
    read_schedule,
    tell_verdict,
)
from .file_arguments import WrittenFile
from .json_output import emit
from .program_inputs import argument_values, load_inputs
from .shipped import add_size_argument, determined, find_kernel

if TYPE_CHECKING:
    from ..passes.schedules.schedule import Schedule

_UNSTEADY = "*"


AS_WRITTEN = "none"
"""What `-p` says to run the program as it is written."""


@dataclass(frozen=True)
class TimedVariant(Record):
    """A program that was run and timed."""

    name: Annotated[str, "unscheduled, scheduled, default or auto"]
    timing: Annotated[Timing, "all repetitions"]
    median: Annotated[float, "seconds"]
    speedup: Annotated[float, "over the unscheduled program"]
    flops_per_second: Annotated[float | None, "null where operations cannot be counted"]
    bytes_per_second: Annotated[float | None, "null where accesses cannot be counted"]


@dataclass(frozen=True)
class Compared(Record):
    """How far the results of an array are from those of the unscheduled program."""

    agrees: Annotated[bool, "whether they are equal up to the tolerance"]
    agreement: Annotated[Agreement, "the differences"]


@dataclass(frozen=True)
class RunDocument(Document):
    """Result of `loopwright run`."""

    document: ClassVar[str] = "run"

    function: Annotated[str, "the name of the function"]
    arguments: Annotated[tuple[str, ...], "sizes, scalars and shapes"]
    schedule: Annotated[str | None, "the schedule; null: as written"]
    verdict: Annotated[str | None, VERDICT]
    variants: Annotated[tuple[TimedVariant, ...], "none where results differ"]
    comparisons: Annotated[tuple[Compared, ...], "of the results"]
    stages: Annotated[Mapping[str, float], "seconds of each stage of the compilation"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright run`."""
    add_program_arguments(parser)
    add_size_argument(parser)
    add_run_arguments(parser)
    add_schedule_arguments(parser)
    add_verify_argument(parser)
    parser.add_argument(
        "--tile",
        metavar="NAME=SIZE",
        action="append",
        default=[],
        help="a tile size that the schedule leaves open",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR or NAME=FILE",
        type=WrittenFile,
        action="append",
        default=[],
        help="save the arrays that the program wrote (or one of them) as .npy files",
    )
    parser.add_argument("--cold", action="store_true", help="empty the caches before each call")
    parser.add_argument(
        "--check-bounds",
        action="store_true",
        help="check every access when it runs, and end at the first outside of its array (slow)",
    )
    parser.add_argument("--timing", action="store_true", help="show where compilation time goes")
    parser.add_argument(
        "--seconds", type=float, default=2.0, metavar="S", help="time per measurement (default: 2)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the random inputs (default: 0)"
    )
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs, compares and times a program; 1 when the results differ."""
    check_threads(arguments.threads)
    check_seconds(arguments.seconds, may_be_zero=True)
    inputs = load_inputs(arguments)
    stages = StageTimes()
    with record_stages(stages):
        function = one_function(arguments)
        schedule = _schedule(arguments, function)
        kernel = function.compile(
            schedule,
            threads=arguments.threads,
            fast_math=arguments.fast_math,
            check_bounds=arguments.check_bounds,
            verify=arguments.verify,
        )
    entry = find_kernel(arguments.file)
    values = argument_values(arguments, function, inputs)
    destinations = _destinations(function, arguments.output)
    with ProgressLine() as line, record_stages(stages):
        line.update("compiling")
        kernel.specialise(*values)
    tell_verdict(function.name, kernel.verdict)
    _tell_if_nothing_runs(function, values)
    if arguments.timing:
        print(f"{stages}\n")
    tiles = _tile_sizes(arguments.tile, kernel)
    kernels = {"unscheduled": kernel}
    text = kernel.schedule_text
    if text is not None:
        plain = function.compile(None, threads=arguments.threads, fast_math=arguments.fast_math)
        title = schedule if isinstance(schedule, str) else "scheduled"
        kernels = {"unscheduled": plain, title: kernel}
    with line:
        line.update("running once")
        results = results_of(kernel, values, tiles)
    agreements: list[Agreement] = []
    if text is not None or arguments.fast_math:
        with line:
            line.update("running the program as written, to compare")
            expected = results_of(function.compile(None, threads=arguments.threads), values)
        compared = [results, expected]
        if entry is not None:
            compared = [determined(entry, function, values, each) for each in compared]
        agreements = _compare(function, values, *compared)
    _save(results, destinations)
    variants: tuple[TimedVariant, ...] = ()
    if all(agreement.agrees for agreement in agreements):
        timings: dict[str, Timing] = {}
        for name, each in kernels.items():
            with line:
                line.update(f"measuring {name}, up to {arguments.seconds:g} s")
                timings[name] = each.time(
                    *values,
                    budget=arguments.seconds,
                    cold=arguments.cold,
                    restore=True,
                    **(tiles if each is kernel else {}),
                )
        if entry:
            sizes = sizes_of(entry, values)
            work = entry.flops(sizes), entry.traffic(sizes)
        else:
            work = _operations(function, values), _traffic(function, values)
        _report(function, values, timings, *work)
        variants = tuple(_variants(timings, *work))
    if isinstance(schedule, str):
        print(f"{schedule} schedule: {text or 'as written'}")
    for agreement in agreements:
        print(agreement)
    emit(
        RunDocument(
            function.name,
            tuple(_describe(function, values)),
            text,
            kernel.verdict and str(kernel.verdict),
            variants,
            tuple(Compared(agreement.agrees, agreement) for agreement in agreements),
            stages.seconds,
        )
    )
    wrong = [agreement.name for agreement in agreements if not agreement.agrees]
    if wrong:
        raise UsageError(f"the results differ from those of the program in {', '.join(wrong)}")
    return 0


def _tell_if_nothing_runs(function: Function, values: Sequence[object]) -> None:
    """Warns where the sizes leave nothing to run, such as those that are negative."""
    if _runs_nothing(function, values):
        sizes = function.signature.sizes_of(values).of(function.scop)
        own = [each.name for each in function.scop.sizes if each.dimension is None]
        given = ", ".join(f"{name}={sizes[name]}" for name in own or sizes)
        message = f"no statement of '{function.name}' runs with {given}: the times are of a call"
        print(f"loopwright: warning: {message}", file=sys.stderr)


def _schedule(arguments: argparse.Namespace, function: Function) -> Schedule | str | None:
    """The schedule that the arguments give: `default` where they give none."""
    if arguments.pipeline == AS_WRITTEN:
        return None
    if arguments.schedule_file is None and arguments.pipeline in (None, *CHOSEN):
        return arguments.pipeline or DEFAULT
    return read_schedule(arguments, function, {}, fast_math=arguments.fast_math)


def _written(function: Function) -> list[ArrayArgument]:
    return [
        argument
        for argument in function.signature.arguments
        if isinstance(argument, ArrayArgument) and argument.writes
    ]


def _destinations(function: Function, outputs: Sequence[str]) -> dict[str, Path]:
    """The file for each array that is to be saved; raises UsageError."""
    names = [argument.place.name for argument in _written(function)]
    destinations: dict[str, Path] = {}
    for output in outputs:
        name, equals, path = output.partition("=")
        if not equals:
            destinations.update({name: Path(output) / f"{name}.npy" for name in names})
        elif name in names:
            destinations[name] = Path(path)
        else:
            listing = ", ".join(names) or "none"
            raise UsageError(
                f"--output: {function.name} writes no array '{name}'; it writes {listing}"
            )
    return destinations


def _tile_sizes(texts: Sequence[str], kernel: Kernel) -> dict[str, int]:
    """The tile sizes of `--tile`; raises UsageError, ArgumentTypeError, ArgumentValueError."""
    sizes: dict[str, int] = {}
    for name, text in pairs("--tile", texts).items():
        try:
            sizes[name] = int(text)
        except ValueError:
            raise UsageError(f"--tile expects an integer for {name}, got '{text}'") from None
    kernel.signature.bind_tile_sizes(sizes)
    return sizes


def _compare(
    function: Function,
    values: Sequence[object],
    results: Mapping[str, Array],
    expected: Mapping[str, Array],
) -> list[Agreement]:
    work = _operations(function, values) or 0
    return [
        compare(name, results[name], reference, work / max(1, reference.size))
        for name, reference in expected.items()
    ]


# What the sizes alone tell is kept on disk: code that is there, too, runs without the compiler.


def _fact(function: Function, values: Sequence[object], name: str, make: Callable[[], Any]) -> Any:
    sizes = function.signature.sizes_of(values)
    return kept_fact(make, name, function.name, function.text, repr(sizes))


def _runs_nothing(function: Function, values: Sequence[object]) -> bool:
    def count() -> bool:
        from ..passes.polyhedral.bounds import runs_nothing

        return runs_nothing(function.scop, function.signature.sizes_of(values).of(function.scop))

    return _fact(function, values, "runs nothing", count)


def _operations(function: Function, values: Sequence[object]) -> int | None:
    def count() -> int | None:
        from ..runtime.measuring.work import operations

        return operations(function.scop, function.signature.sizes_of(values).of(function.scop))

    return _fact(function, values, "operations", count)


def _traffic(function: Function, values: Sequence[object]) -> int | None:
    def count() -> int | None:
        from ..runtime.measuring.work import traffic

        sizes = function.signature.sizes_of(values).of(function.scop)
        return traffic(function.scop, function.signature, sizes)

    return _fact(function, values, "traffic", count)


def _save(results: Mapping[str, Array], destinations: Mapping[str, Path]) -> None:
    for name, path in destinations.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside, beside.open("wb") as file:
            np.save(file, results[name])


def _report(
    function: Function,
    values: Sequence[object],
    timings: Mapping[str, Timing],
    work: int | None,
    traffic: int | None,
) -> None:
    rows = [["", "median", "min", "spread", "runs", "threads", "GFLOP/s", "GB/s", "speed-up"]]
    base = timings["unscheduled"].median
    for name, timing in timings.items():
        rows.append(
            [
                name,
                format_seconds(timing.median),
                format_seconds(timing.min),
                f"{timing.spread:.1%}" + ("" if timing.steady else _UNSTEADY),
                str(timing.repetitions),
                f"{timing.threads} {'pinned' if timing.pinned else 'not pinned'}",
                f"{work / timing.median * 1e-9:.3g}" if work else "-",
                f"{traffic / timing.median * 1e-9:.3g}" if traffic else "-",
                f"{base / timing.median:.2f}x",
            ]
        )
    print(f"{function.name}({', '.join(_describe(function, values))})\n")
    print(format_table(rows, numbers=True))
    if not all(timing.steady for timing in timings.values()):
        print(f"{_UNSTEADY} not steady yet: give more --seconds, or let the machine rest")
    print()


def _variants(
    timings: Mapping[str, Timing], work: int | None, traffic: int | None
) -> Iterator[TimedVariant]:
    base = timings["unscheduled"].median
    for name, timing in timings.items():
        rates = (each / timing.median if each else None for each in (work, traffic))
        yield TimedVariant(name, timing, timing.median, base / timing.median, *rates)


def _describe(function: Function, values: Sequence[object]) -> Iterator[str]:
    """`n=5`, `alpha=0.5`, `A: 5x6`."""
    for argument, value in zip(function.signature.arguments, values, strict=True):
        name = argument.place.name
        match value:
            case np.ndarray():
                yield f"{name}: {'x'.join(map(str, np.shape(value))) or 'scalar'}"
            case float():
                yield f"{name}={value:.6g}"
            case _:
                yield f"{name}={value}"
