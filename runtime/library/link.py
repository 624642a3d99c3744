"""Linking of shared libraries, by the system's compiler or linker."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ...passes.machine.detection import host_architecture
from ..calling.errors import BuildError

COMPILERS = ("cc", "gcc", "clang")
LINKER = "ld"

# The library itself: the names that compilers link by come with the compilers only.
OPENMP = "-l:libgomp.so.1"
_MATHEMATICS = "-lm"


def link_shared(code: Path, library: Path, architecture: str, *, parallel: bool) -> None:
    """Links an object file to a shared library, which brings what it needs; raises BuildError."""
    link([str(code), *[OPENMP] * parallel, _MATHEMATICS], library, architecture)


def link(inputs: Sequence[str], library: Path, architecture: str) -> None:
    """Links to a shared library for an architecture; raises BuildError.

    `inputs` are files and options, those of the linker itself as for `-Wl`.
    """
    driver, is_compiler = _linker(library, architecture)
    options = [f"-Wl,-soname,{library.name}", *inputs]
    if not is_compiler:
        options = [part for each in options for part in _linker_options(each)]
    command = [driver, "-shared", "-o", str(library), *options]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode != 0:
        reason = next(iter(run.stderr.strip().splitlines()), f"exit code {run.returncode}")
        hint = "is libgomp installed? or build for one thread; " if OPENMP[2:] in run.stderr else ""
        raise BuildError(
            f"{driver} cannot link {library.name}: {reason}; {hint}"
            "an object file (.o) needs no linker"
        )


def _linker_options(option: str) -> Sequence[str]:
    """An option of a compiler as the linker itself takes it."""
    if option.startswith("-Wl,"):
        return option.split(",")[1:]
    return () if option in ("-nostartfiles", "-nodefaultlibs") else (option,)


def _linker(library: Path, architecture: str) -> tuple[str, bool]:
    """A command that links for an architecture, and whether it is a compiler."""
    is_here = architecture == host_architecture()
    prefix = "" if is_here else f"{architecture}-linux-gnu-"
    compilers = [prefix + name for name in COMPILERS if is_here or name == "gcc"]
    for name in compilers:
        if shutil.which(name):
            return name, True
    if shutil.which(prefix + LINKER):
        return prefix + LINKER, False
    package = f"gcc-{architecture.replace('_', '-')}-linux-gnu"
    advice = "gcc or clang" if is_here else f"Debian's {package}"
    raise BuildError(
        f"{library.name} needs a linker, and there is none of {', '.join(compilers)}, "
        f"{prefix}{LINKER}; install {advice}, or build an object file (.o) and link it elsewhere"
    )


def link_line(file: Path, *, parallel: bool) -> str:
    """The command that links a program with an object file or shared library."""
    if file.suffix == ".so":
        needs = [f"-Wl,-rpath,{file.parent.resolve()}"]
    else:
        needs = ["-lgomp"] * parallel + ["-lm"]
    return shlex.join(["cc", "main.c", str(file), *needs, "-o", "main"])
