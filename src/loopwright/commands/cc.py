"""Compiles C files whose affine regions are replaced by optimised code, in place of a C compiler.

All arguments are those of the C compiler, which is called with the drop-in source of each file: see
'loopwright build'. It is gcc, clang or cc, or what LOOPWRIGHT_CC names. Files without an affine
region are compiled as they are, and all files are where the compiler refuses a drop-in source. With
-fopenmp, regions may run on several threads. With LOOPWRIGHT_CC_REPORT=1 in the environment,
standard error says what is replaced, and what is not and why.

examples:
  loopwright cc -O3 -march=native -c stencil.c -o stencil.o
  make CC='loopwright cc'
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..dialects.errors import SourceError
from ..passes.machine.target import Target
from ..support.json_records import Document, Record
from ..support.progress import ProgressLine
from . import UsageError
from .json_output import emit, is_alone

VERBATIM = True
"""Options of this command are those of a C compiler."""

COMPILERS = ("gcc", "clang", "cc")

_WITH_VALUE = ("-I", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-imacros")
_OTHER_FLAGS = (
    *("-std=", "-ansi", "-ffp-contract=", "-funsigned-char", "-fsigned-char", "-pthread", "-m32"),
    *("-fallow-store-data-races", "-fno-allow-store-data-races", "-Ofast", "-fno-fast-math"),
    *("-fcx-", "-fno-cx-"),
)
_WITH_OTHER_VALUE = ("-o", "-x", "-MF", "-MT", "-MQ", "-L", "-l", "-Xlinker", "-T", "-u", "-z")
_OF_CODE = (
    *("-mno-", "-m32", "-mx32", "-masm=", "-mcmodel=", "-mavx", "-msse", "-mprefer-vector-width"),
    *("-flto", "-fsanitize", "-pg", "-Xassembler", "-Wa,"),
)
"""Options that ask for other code than ours is."""

_NO_CODE = ("-E", "-M", "-MM", "-fsyntax-only", "--version", "-v", "-dumpversion", "-dumpmachine")


@dataclass(frozen=True)
class CompiledFile(Record):
    """A C file that was compiled."""

    source: Annotated[str, "the file"]
    replaced: Annotated[tuple[str, ...], "its regions that were replaced"]
    remarks: Annotated[tuple[str, ...], "why others, or all, are as written"]


@dataclass(frozen=True)
class CcDocument(Document):
    """Result of `loopwright cc`."""

    document: ClassVar[str] = "cc"

    files: Annotated[tuple[CompiledFile, ...], "the C files"]
    exit_code: Annotated[int, "of the compiler"]
    uses_drop_ins: Annotated[bool, "whether the compiler has taken the drop-in sources"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright cc`."""
    parser.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="those of the C compiler")


def run(arguments: argparse.Namespace) -> int:
    """Calls the C compiler."""
    given: list[str] = arguments.arguments
    compiler = c_compiler()
    if not set(given).isdisjoint(_NO_CODE):
        code = _call([*compiler, *given])
        emit(CcDocument((), code, False))
        return code
    command = [*compiler, "-fopenmp-simd"]
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        written: dict[int, Path] = {}
        files: list[CompiledFile] = []
        for position in _sources(given):
            found, file = _optimised(given[position], given, Path(folder) / str(position))
            files.append(file)
            if found is not None:
                written[position] = found
        if written and _compiles([*command, *_with_drop_ins(given, written)]):
            emit(CcDocument(tuple(files), 0, True))
            return 0
    if written:
        # Whatever is wrong with the program, the compiler says of its own text.
        _report("all as written: the compiler refuses the drop-in sources, or the program")
    code = _call([*command, *given])
    emit(CcDocument(tuple(files), code, False))
    return code


def _call(command: Sequence[str]) -> int:
    """Calls the compiler; standard output is its own, unless it is for documents."""
    return subprocess.run(
        command, check=False, stdout=sys.stderr if is_alone() else None
    ).returncode


def _with_drop_ins(given: Sequence[str], written: Mapping[int, Path]) -> Iterator[str]:
    """The arguments with drop-in sources, which find the headers beside the files."""
    for position, argument in enumerate(given):
        if position in written:
            yield from ("-iquote", str(Path(argument).parent))
        yield str(written.get(position, argument))


def _compiles(command: Sequence[str]) -> bool:
    """Calls the compiler, which is heard only if it succeeds."""
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        return False
    for stream, text in ((sys.stdout, done.stdout), (sys.stderr, done.stderr)):
        stream.write(text.decode(errors="replace"))
        stream.flush()
    return True


def c_compiler() -> list[str]:
    """The command of the C compiler; raises UsageError."""
    chosen = os.environ.get("LOOPWRIGHT_CC")
    if chosen:
        return chosen.split()
    for name in COMPILERS:
        if shutil.which(name):
            return [name]
    raise UsageError(f"there is no C compiler: {', '.join(COMPILERS)}, or LOOPWRIGHT_CC")


def _sources(given: Sequence[str]) -> Iterator[int]:
    """The positions of C files."""
    for position, argument in enumerate(given):
        before = given[position - 1] if position else ""
        if before in _WITH_OTHER_VALUE or before in _WITH_VALUE:
            continue
        if argument.endswith(".c") and not argument.startswith("-"):
            yield position


def flags_of(given: Sequence[str]) -> list[str]:
    """The arguments that matter for what a file means."""
    found: list[str] = []
    position = 0
    while position < len(given):
        argument = given[position]
        if argument in _WITH_VALUE and position + 1 < len(given):
            found += given[position : position + 2]
            position += 1
        elif argument.startswith((*_WITH_VALUE[:3], *_OTHER_FLAGS)):
            found.append(argument)
        position += 1
    return found


def target_of(given: Sequence[str]) -> Target | None:
    """The processor that the arguments name; None where other options say more about the code."""
    named = [each.removeprefix("-march=") for each in given if each.startswith("-march=")]
    if not named or sys.platform != "linux" or any(each.startswith(_OF_CODE) for each in given):
        return None
    try:
        target = Target.named({"native": Target.HOST}.get(named[-1], named[-1]))
    except ValueError:
        return None
    return target if target.runs_here else None


def _optimised(source: str, given: Sequence[str], folder: Path) -> tuple[Path | None, CompiledFile]:
    """The drop-in source of a file (None where it stays as it is), and what it replaces."""
    from .. import drop_in  # takes an extra
    from ..frontends.c.flags import in_force, is_fast

    folder.mkdir()
    output = folder / Path(source).name
    try:
        with warnings.catch_warnings(), ProgressLine() as line:
            warnings.simplefilter("ignore")
            line.update(f"optimising {source}")
            threads = None if "-fopenmp" in given else 1
            flags = flags_of(in_force(given))
            target = target_of(given)
            made = drop_in(
                source,
                output,
                threads=threads,
                fast_math=is_fast(given),
                target=target,
                cflags=flags,
                machine_code=target is not None,
            )
    except (SourceError, OSError) as error:
        # The compiler says it where it is a mistake.
        reason = str(error).splitlines()[0]
        _report(f"{source}: as written: {reason}")
        return None, CompiledFile(source, (), (reason,))
    except Exception as error:  # a build goes on, whatever fails in here
        reason = " ".join(f"internal error: {type(error).__name__}: {error}".split())
        print(f"loopwright: warning: {source}: compiled as written: {reason}", file=sys.stderr)
        return None, CompiledFile(source, (), (reason,))
    remarks = tuple(f"{error.location}: left out: {error.message}" for error in made.left_out)
    for remark in remarks:
        _report(remark)
    for name in made.replaced:
        _report(f"{source}: replaced: {name}")
    return output if made.replaced else None, CompiledFile(source, made.replaced, remarks)


def _report(text: str) -> None:
    if os.environ.get("LOOPWRIGHT_CC_REPORT") == "1":
        print(f"loopwright: {text}", file=sys.stderr)
