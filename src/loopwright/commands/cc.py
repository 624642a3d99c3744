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
from pathlib import Path

from ..dialects.errors import SourceError
from . import UsageError

VERBATIM = True
"""Options of this command are those of a C compiler."""

COMPILERS = ("gcc", "clang", "cc")

_WITH_VALUE = ("-I", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-imacros")
_OTHER_FLAGS = ("-std=", "-ansi", "-funsigned-char", "-fsigned-char", "-pthread", "-m32")
_WITH_OTHER_VALUE = ("-o", "-x", "-MF", "-MT", "-MQ", "-L", "-l", "-Xlinker", "-T", "-u", "-z")
_NO_CODE = ("-E", "-M", "-MM", "-fsyntax-only", "--version", "-v", "-dumpversion", "-dumpmachine")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loopwright cc`."""
    parser.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="those of the C compiler")


def run(arguments: argparse.Namespace) -> int:
    """Calls the C compiler."""
    given: list[str] = arguments.arguments
    compiler = c_compiler()
    if not set(given).isdisjoint(_NO_CODE):
        return subprocess.run([*compiler, *given], check=False).returncode
    command = [*compiler, "-fopenmp-simd"]
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        written: dict[int, Path] = {}
        for position in _sources(given):
            found = _optimised(given[position], given, Path(folder) / str(position))
            if found is not None:
                written[position] = found
        if written and _compiles([*command, *_with_drop_ins(given, written)]):
            return 0
    if written:
        # Whatever is wrong with the program, the compiler says of its own text.
        _report("all as written: the compiler refuses the drop-in sources, or the program")
    return subprocess.run([*command, *given], check=False).returncode


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


def _optimised(source: str, given: Sequence[str], folder: Path) -> Path | None:
    """The drop-in source of a file; None where it stays as it is."""
    from .. import drop_in  # takes an extra

    folder.mkdir()
    output = folder / Path(source).name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            threads = None if "-fopenmp" in given else 1
            made = drop_in(source, output, threads=threads, cflags=flags_of(given))
    except (SourceError, OSError) as error:
        # The compiler says it where it is a mistake.
        _report(f"{source}: as written: {str(error).splitlines()[0]}")
        return None
    for error in made.left_out:
        _report(f"{error.location}: left out: {error.message}")
    for name in made.replaced:
        _report(f"{source}: replaced: {name}")
    return output if made.replaced else None


def _report(text: str) -> None:
    if os.environ.get("LOOPWRIGHT_CC_REPORT") == "1":
        print(f"loopwright: {text}", file=sys.stderr)
