"""Writes functions as an object file or shared library for programs in C and C++, with a header.

NAME.o is an object file, NAME.so a shared library (which takes a linker); NAME.h, beside it, says
how to call the functions. Sizes are passed by the caller, except for those that --size and --set
fix. Where all are fixed, a schedule is chosen for them (-p '' leaves the loops as written);
otherwise the loops are as written, or as -p says.

For a C file, NAME.c is a drop-in source: the file itself, with calls of optimised code in place of
its affine regions. The calls check sizes and aliasing, and the region as written runs where a check
fails. The default schedule is one for large arrays; --set makes code for one size only. NAME.o is
that source, compiled by the C compiler: an object file to link in place of that of the original.
With --func, --prefix or --target, it is a library with a header, as for other programs.

With --wheel, all files become one Python module in a wheel, which needs NumPy and no compiler: it
has code for several kinds of processors and takes what runs on the one at hand, and the C library,
its headers, CMake and pkg-config files besides. Where sizes are passed, the default schedule is
chosen for large arrays.

examples:
  loopwright build gemm.mlir -o gemm.o
  loopwright build gemm.mlir -o gemm.so -p 'tile{loops=i,j sizes=32,32},parallel{loops=it}'
  loopwright build polybench/gemm --size LARGE -o gemm_large.o --threads 2
  loopwright build gemm.mlir -s nk=64 -o gemm.o --target x86-64-v3
  loopwright build stencil.c -o stencil.loopwright.c --cflags '-I include'
  loopwright build stencil.c -o stencil.o
  loopwright build kernels.mlir -f gemm -f mvt -S schedules.mlir -o kernels.so
  loopwright build polybench/gemm polybench/mvt --wheel algebra -o dist
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..passes.machine.target import Target
from ..passes.schedules.schedule import Schedule
from ..runtime.choosing.schedule_names import DEFAULT
from ..runtime.library.build import SUFFIXES
from ..runtime.program import Function
from ..session.problems import place_of
from ..session.records import Place
from ..support.json_records import Document, Record
from ..support.progress import ProgressLine
from . import UsageError
from .build_wheel import add_wheel_arguments, write
from .cc import c_compiler
from .common import (
    VERDICT,
    add_fast_math_argument,
    add_quiet_argument,
    add_schedule_arguments,
    add_target_argument,
    add_verify_argument,
    check_output,
    check_threads,
    named_target,
    read_schedule,
    tell_verdict,
)
from .file_arguments import ReadFile, WrittenFile
from .json_output import emit
from .shipped import (
    add_cflags_argument,
    add_size_arguments,
    given_sizes,
    load_program,
    split_flags,
    with_standard_extents,
)


@dataclass(frozen=True)
class LeftOut(Record):
    """A region of C that stays as it is."""

    place: Annotated[Place | None, "where it is"]
    message: Annotated[str, "why"]


@dataclass(frozen=True)
class BuildDocument(Document):
    """Result of `loopwright build`."""

    document: ClassVar[str] = "build"

    files: Annotated[tuple[Path, ...], "what was written: library and header, or C source"]
    functions: Annotated[tuple[str, ...], "their names in C"]
    link: Annotated[str | None, "the command that links a program with a library"]
    verdicts: Annotated[tuple[str | None, ...], VERDICT]
    left_out: Annotated[tuple[LeftOut, ...], "regions of a C file that stay as they are"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright build`."""
    parser.add_argument(
        "files",
        metavar="FILE",
        type=ReadFile,
        nargs="+",
        help="a program in affine MLIR (-: standard input), C (.c) or Python (.py), or a shipped "
        "kernel (polybench/gemm); several for a wheel",
    )
    add_cflags_argument(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="NAME",
        type=WrittenFile,
        help="the file to write: NAME.o, NAME.so, NAME.c, or NAME (an object file); or the folder "
        "of a wheel",
    )
    add_wheel_arguments(parser)
    parser.add_argument(
        "--shared", action="store_true", help="write a shared library if NAME has no ending"
    )
    parser.add_argument(
        "-f",
        "--func",
        metavar="NAME",
        action="append",
        help="a function, may be repeated (default: all)",
    )
    add_size_arguments(parser)
    add_schedule_arguments(parser)
    add_verify_argument(parser)
    parser.add_argument(
        "-t",
        "--threads",
        type=int,
        metavar="T",
        help="threads of parallel loops (default: OMP_NUM_THREADS when the program runs, or all)",
    )
    add_fast_math_argument(parser)
    add_target_argument(parser)
    parser.add_argument(
        "--prefix", metavar="TEXT", default="", help="put TEXT before the functions' names in C"
    )
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Builds the library and says how to link it."""
    threads = arguments.threads
    check_threads(threads)
    if arguments.wheel is not None:
        return write(arguments)
    _check_library(arguments)
    target = named_target(arguments)
    if arguments.output.endswith(".c"):
        return _write_drop_in(arguments, arguments.output, target)
    is_library = arguments.func or arguments.prefix
    if arguments.file.endswith(".c") and arguments.output.endswith(".o") and not is_library:
        with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
            source = str(Path(folder) / Path(arguments.file).name)
            return _write_drop_in(arguments, source, target)
    program = load_program(arguments.file, arguments.cflags)
    names = list(arguments.func or program)
    sizes = given_sizes(arguments)
    for name in names:
        sizes = with_standard_extents(arguments.file, program[name], sizes)
    with ProgressLine() as line:
        line.update(f"building {', '.join(names)}")
        library = program.build(
            _path(arguments),
            {name: _schedule(arguments, program[name], sizes, target) for name in names},
            sizes=sizes,
            threads=threads,
            fast_math=arguments.fast_math,
            target=target,
            prefix=arguments.prefix,
            verify=arguments.verify,
        )
    for name, verdict in zip(names, library.verdicts, strict=True):
        tell_verdict(name, verdict)
    print(f"wrote {library.file} and {library.header}: {', '.join(library.functions)}")
    print(f"link a program with it by\n    {library.link}")
    verdicts = tuple(verdict and str(verdict) for verdict in library.verdicts)
    files = (library.file, library.header)
    emit(BuildDocument(files, library.functions, library.link, verdicts, ()))
    return 0


def _check_library(arguments: argparse.Namespace) -> None:
    """Raises UsageError for arguments that only wheels have, or that they can do without."""
    if arguments.output is None:
        raise UsageError("say with --output what to write: NAME.o, NAME.so or NAME.c")
    if len(arguments.files) > 1:
        raise UsageError("several files are for --wheel; a library is made of one")
    if arguments.levels is not None:
        raise UsageError("--levels is for --wheel; a library has code for one --target")
    (arguments.file,) = arguments.files


def _schedule(
    arguments: argparse.Namespace, function: Function, sizes: Mapping[str, int], target: Target
) -> Schedule | str | None:
    if arguments.pipeline is None and arguments.schedule_file is None:
        return DEFAULT
    return read_schedule(
        arguments,
        function,
        sizes,
        threads=arguments.threads,
        target=target,
        fast_math=arguments.fast_math,
    )


def _compile(arguments: argparse.Namespace, source: Path, target: Target) -> None:
    """Compiles a drop-in source; raises UsageError where the C compiler refuses it."""
    command = [*c_compiler(), "-O3", "-fopenmp-simd", *split_flags(arguments.cflags)]
    if not target.is_host:
        command.append(f"-m{'arch' if target.runs_here else 'cpu'}={target.processor}")
    command += ["-fopenmp"] if (arguments.threads or 1) > 1 else []
    # Headers beside the file are found from there.
    command += ["-iquote", str(Path(arguments.file).parent), "-c", str(source)]
    done = subprocess.run([*command, "-o", arguments.output], check=False)
    if done.returncode != 0:
        hint = "" if target.is_host else f"; LOOPWRIGHT_CC names one for {target.processor}"
        raise UsageError(f"the C compiler refuses the drop-in source: {' '.join(command)}{hint}")


def _write_drop_in(arguments: argparse.Namespace, output: str, target: Target) -> int:
    """Writes a drop-in source and says what it replaces; raises SourceError, UsageError."""
    if not arguments.file.endswith(".c"):
        raise UsageError(f"{arguments.output}: a drop-in source is made of a C file")
    for option in ("func", "size", "schedule_file"):
        if getattr(arguments, option) is not None:
            name = option.replace("_", "-")
            raise UsageError(f"--{name} is not for drop-in sources, which have all regions")
    if arguments.prefix or arguments.verify or arguments.shared:
        raise UsageError("--prefix, --verify and --shared are for libraries")
    check_output(Path(arguments.output))
    from .. import drop_in  # takes an extra

    with ProgressLine() as line:
        line.update(f"optimising {arguments.file}")
        made = drop_in(
            arguments.file,
            output,
            schedule=None if arguments.pipeline == DEFAULT else arguments.pipeline,
            sizes=given_sizes(arguments),
            threads=arguments.threads or 1,
            fast_math=arguments.fast_math,
            target=target,
            cflags=split_flags(arguments.cflags),
        )
    for error in made.left_out:
        print(f"{error.location}: left out: {error.message}", file=sys.stderr)
    if output != arguments.output:
        _compile(arguments, Path(output), target)
    print(f"wrote {arguments.output}: {', '.join(made.replaced) or 'no region is replaced'}")
    left_out = tuple(LeftOut(place_of(error), error.message) for error in made.left_out)
    emit(BuildDocument((Path(arguments.output),), made.replaced, None, (), left_out))
    return 0


def _path(arguments: argparse.Namespace) -> str:
    object_file, library = SUFFIXES
    has_ending = arguments.output.endswith(SUFFIXES)
    if arguments.shared and arguments.output.endswith(object_file):
        raise UsageError(f"--shared makes a shared library, but {arguments.output} ends in .o")
    return arguments.output + (library if arguments.shared and not has_ending else "")
