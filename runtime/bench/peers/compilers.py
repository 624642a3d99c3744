"""Peers: C compilers on the printed loops, with common flags."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from ....dialects.errors import SourceError
from ....lowering.c import emit_c
from ....lowering.c.names import function_name
from ....lowering.specialise import specialise
from ....passes.machine.cpuinfo import CpuInfo
from ...jit import openmp
from ...jit.cache import cache_key, default_cache
from ..case import Case, NotApplicable
from ..doall_loops import loops_named, parallel_operations
from ..native import NativeRun
from ..variant import Variant

COMPILE_SECONDS = 300
_NATIVE = ("-O3", "-march=native")
_BUILD = ("-std=gnu11", "-fPIC", "-ffp-contract=fast")
_GOMP_SETTLES, _OMP_SETTLES = 0.01, 0.02


@dataclass(frozen=True)
class Build:
    """Compiler flags, for one thread or (`parallel`) several."""

    peer: str
    name: str
    flags: tuple[str, ...]
    parallel: bool = False
    relaxed: bool = False


BUILDS = (
    Build("clang", "-O3", ()),
    Build("clang", "-O3 -ffast-math", ("-ffast-math",), relaxed=True),
    Build("clang", "-O3 -fopenmp", ("-fopenmp",), parallel=True),
    Build("clang", "-O3 -ffast-math -fopenmp", ("-ffast-math", "-fopenmp"), True, True),
    Build("polly", "-O3 -polly", ("-mllvm", "-polly")),
    Build(
        "polly",
        "-O3 -polly -polly-parallel",
        ("-mllvm", "-polly", "-mllvm", "-polly-parallel"),
        parallel=True,
    ),
    Build("polly", "-O3 -ffast-math -polly", ("-ffast-math", "-mllvm", "-polly"), relaxed=True),
    Build(
        "polly",
        "-O3 -ffast-math -polly -polly-parallel",
        ("-ffast-math", "-mllvm", "-polly", "-mllvm", "-polly-parallel"),
        parallel=True,
        relaxed=True,
    ),
    Build("gcc", "-O3", ()),
    Build("gcc", "-O3 -ffast-math", ("-ffast-math",), relaxed=True),
    Build("gcc", "-O3 -fopenmp", ("-fopenmp",), parallel=True),
    Build("gcc", "-O3 -ffast-math -fopenmp", ("-ffast-math", "-fopenmp"), True, True),
)


@dataclass(frozen=True)
class Compiler:
    """An installed compiler."""

    peer: str
    path: str
    version: str


def variants(peer: str, threads: Sequence[int]) -> Iterator[Variant]:
    """The variants of `clang`, `polly` or `gcc`; none where it is not installed."""
    compiler = find(peer)
    if compiler is None:
        return
    for build in BUILDS:
        counts = [n for n in threads if (n > 1) == build.parallel]
        if build.peer != peer or not counts or not works(compiler, build):
            continue
        for count in counts:
            yield _variant(compiler, build, count)


def _variant(compiler: Compiler, build: Build, threads: int) -> Variant:
    def prepare(case: Case) -> NativeRun:
        library = compile_c(compiler, build, source(case, parallel="-fopenmp" in build.flags))
        address = ctypes.cast(library[function_name(case.entry.function)], ctypes.c_void_p).value
        assert address is not None
        runtime = library if own_threads else openmp.library()
        if not build.parallel or runtime is None:
            return NativeRun(case, address, library)
        set_threads = runtime["omp_set_num_threads"]
        return NativeRun(case, address, library, before=lambda: set_threads(threads))

    own_threads = _links_its_runtime(compiler, build)
    settles = 0.0
    if build.parallel:
        settles = _OMP_SETTLES if own_threads else _GOMP_SETTLES
    return Variant(
        peer=compiler.peer,
        name=f"{Path(compiler.path).name} {build.name}",
        threads=threads,
        version=f"{compiler.version}: {' '.join((*_NATIVE, *build.flags))}",
        prepare=prepare,
        settles=settles,
        pinned=not own_threads,
        relaxed=build.relaxed,
    )


def source(case: Case, *, parallel: bool) -> str:
    """The original loops as C, for the sizes of the case; raises NotApplicable.

    With `parallel`, the loops that the catalogue names have OpenMP pragmas, or else the outermost
    ones that can be parallel.
    """
    scop, function = case.function.scop, case.function
    sizes = function.signature.sizes_of(case.arguments)
    specialised = specialise(function.function, sizes.shapes, sizes.integers)
    marked = set[Operation]()
    if parallel:
        by_hand = loops_named(specialised, case.entry.parallel)
        marked = by_hand or parallel_operations(specialised, scop)
        for loop in loops_named(specialised, case.entry.simd):
            loop.attributes["omp.simd"] = UnitAttr()
    if parallel and not marked:
        raise NotApplicable("no loop of the program can be parallel as it is")
    try:
        return emit_c(specialised, parallel=marked)
    except SourceError as error:
        raise NotApplicable(error.message) from error


@functools.cache
def find(peer: str) -> Compiler | None:
    """The compiler of a peer: `clang` by this name or the newest `clang-NN`; `polly` is clang's."""
    name = "gcc" if peer == "gcc" else "clang"
    path = shutil.which(name) or _newest(name)
    if path is None:
        return None
    run = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = run.stdout.splitlines()[0] if run.returncode == 0 and run.stdout else None
    return None if version is None else Compiler(peer, path, version)


def _newest(name: str) -> str | None:
    found: dict[int, str] = {}
    for directory in os.get_exec_path():
        for path in Path(directory).glob(f"{name}-*"):
            match = re.fullmatch(rf"{name}-(\d+)", path.name)
            if match and os.access(path, os.X_OK):
                found.setdefault(int(match[1]), str(path))
    return found[max(found)] if found else None


@functools.cache
def works(compiler: Compiler, build: Build) -> bool:
    """Whether a compiler knows the flags and has the libraries of a build."""
    text = "void f(double *a, long n) {\n"
    text += "#pragma omp parallel for\n" if "-fopenmp" in build.flags else ""
    text += "for (long i = 0; i < n; i++) a[i] *= 2.0; }\n"
    try:
        compile_c(compiler, build, text)
    except NotApplicable:
        return False
    return True


def compile_c(compiler: Compiler, build: Build, text: str) -> ctypes.CDLL:
    """A C file as a loaded shared library, from the cache when it was built before.

    Raises NotApplicable when the compiler fails.
    """
    cache = default_cache()
    command = [compiler.path, *_NATIVE, *build.flags, *_BUILD]
    key = cache_key(text, compiler.version, CpuInfo.read().model_name, *command)
    code = None if cache is None else cache.get(key)
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        library = Path(folder) / "kernel.so"
        if code is None:
            _compile(command, _links_its_runtime(compiler, build), text, library)
            if cache is not None:
                cache.put(key, library.read_bytes())
        else:
            library.write_bytes(code)
        if build.parallel:
            _share_openmp_runtime()
        try:
            # Which stays in memory although the file goes away.
            return ctypes.CDLL(str(library), mode=os.RTLD_NOW)
        except OSError as error:
            raise NotApplicable(f"the library cannot be loaded: {error}") from error


def _compile(command: list[str], links_runtime: bool, text: str, library: Path) -> None:
    """Compiles in two steps, so that code for libgomp uses the copy that is in this process."""
    folder = library.parent
    (folder / "kernel.c").write_text(text, encoding="utf-8")
    link = [command[0], "-shared", "kernel.o", "-o", library.name, "-lm"]
    for step in (
        [*command, "-c", "kernel.c", "-o", "kernel.o"],
        [*link, "-fopenmp"] if links_runtime else link,
    ):
        try:
            run = subprocess.run(
                step,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=COMPILE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise NotApplicable(f"compiling took more than {COMPILE_SECONDS} s") from error
        if run.returncode != 0:
            lines = run.stderr.splitlines() or [f"exit code {run.returncode}"]
            raise NotApplicable(f"{Path(command[0]).name} failed: {lines[0]}")


def _links_its_runtime(compiler: Compiler, build: Build) -> bool:
    """Whether the code calls LLVM's OpenMP runtime: clang's pragmas do, Polly and gcc do not."""
    return compiler.peer == "clang" and "-fopenmp" in build.flags


def _share_openmp_runtime() -> None:
    """Lets shared libraries see the OpenMP runtime of this process: one pool of threads."""
    library = openmp.library()
    if library is None:
        raise NotApplicable("there is no OpenMP runtime (libgomp)")
    ctypes.CDLL(library._name, mode=os.RTLD_NOW | os.RTLD_NOLOAD | os.RTLD_GLOBAL)
