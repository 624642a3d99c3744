"""Linking of shared libraries, by the system's compiler or linker."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..calling.errors import BuildError

COMPILERS = ("cc", "gcc", "clang")
LINKER = "ld"

# The library itself: the names that compilers link by come with the compilers only.
OPENMP = "-l:libgomp.so.1"
_MATHEMATICS = "-lm"


def link_shared(code: Path, library: Path, *, parallel: bool) -> None:
    """Links an object file to a shared library, which brings what it needs; raises BuildError."""
    command = [*_linker(library), "-shared", "-o", str(library), str(code)]
    command += [OPENMP] * parallel + [_MATHEMATICS]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode != 0:
        reason = next(iter(run.stderr.strip().splitlines()), f"exit code {run.returncode}")
        hint = "is libgomp installed? or build for one thread; " if OPENMP[2:] in run.stderr else ""
        raise BuildError(
            f"{command[0]} cannot link {library.name}: {reason}; {hint}"
            "an object file (.o) needs no linker"
        )


def _linker(library: Path) -> Sequence[str]:
    """A command that links, with the name under which programs will look for the library."""
    for name in COMPILERS:
        if shutil.which(name):
            return name, f"-Wl,-soname,{library.name}"
    if shutil.which(LINKER):
        return LINKER, "-soname", library.name
    raise BuildError(
        f"{library.name} needs a linker, and there is none of {', '.join(COMPILERS)}, {LINKER}; "
        "install gcc or clang, or build an object file (.o) and link it elsewhere"
    )


def link_line(file: Path, *, parallel: bool) -> str:
    """The command that links a program with an object file or shared library."""
    if file.suffix == ".so":
        needs = [f"-Wl,-rpath,{file.parent.resolve()}"]
    else:
        needs = ["-lgomp"] * parallel + ["-lm"]
    return shlex.join(["cc", "main.c", str(file), *needs, "-o", "main"])
