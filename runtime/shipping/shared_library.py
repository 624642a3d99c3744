"""Shared libraries with code for several microarchitecture levels, and their C header.

Functions -> object code for each level -> with a dispatcher and an OpenMP lookup, one library
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...lowering.llvm import Options
from ...lowering.validation.verdict import Verdict
from ...passes.machine.target import Target
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.typical_sizes import typical_sizes
from ..calling.errors import BuildError
from ..choosing.schedule_names import DEFAULT
from ..jit import object_code as jit
from ..jit.source import Source
from ..library.entries import (
    CompiledEntry,
    check_sizes,
    check_symbols,
    check_tile_sizes,
    compile_entry,
    known_sizes,
)
from ..library.header import Entry, header_text
from ..library.interface import Interface
from ..library.link import link
from ..program import Function
from .dispatch import dispatch_ir
from .levels import Level
from .openmp_lookup import openmp_ir
from .symbol_versions import with_oldest_versions


@dataclass(frozen=True)
class Export:
    """A function of a library: the text of its schedule (None: as written), and fixed sizes."""

    function: Function
    schedule: str | None
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class SharedLibrary:
    """A library `lib{name}.so`: machine code, the C header, and what they are made of.

    `verdicts` is what the validation of each function has said, for each level.
    """

    name: str
    architecture: str
    levels: tuple[Level, ...]
    interfaces: tuple[Interface, ...]
    parallel: bool
    code: bytes
    header: str
    verdicts: Mapping[str, Sequence[Verdict | None]]

    @property
    def file_name(self) -> str:
        """What programs look for."""
        return f"lib{self.name}.so"


def level_function(name: str) -> str:
    """The C function that tells which level's code runs."""
    return f"{name}_level"


def openmp_function(name: str) -> str:
    """The C function that takes the functions of an OpenMP runtime."""
    return f"{name}_use_openmp"


def build_shared_library(
    name: str,
    exports: Sequence[Export],
    levels: Sequence[Level],
    options: Options,
    *,
    prefix: str = "",
    verify: bool = False,
    progress: Callable[[str, int, int], None] = lambda text, completed, total: None,
) -> SharedLibrary:
    """Compiles functions for all levels, each with the schedule that is chosen for it.

    `progress` is told what is compiled next, how many are done and how many there are.

    A default schedule is chosen for typical sizes where some are passed. Raises BuildError,
    SourceError, TransformationError, ValidationError, BoundsError.
    """
    targets = [Target.named(level.target) for level in levels]
    interfaces = [_interface(export, prefix) for export in exports]
    check_symbols(interfaces)
    for interface in interfaces:
        if interface.symbol in (level_function(name), openmp_function(name)):
            raise BuildError(
                f"a library {name} has a function '{interface.symbol}' of its own; "
                "build with a prefix, or under another name"
            )
    objects: list[bytes] = []
    compiled: list[list[CompiledEntry]] = []
    for level, target in zip(levels, targets, strict=True):
        entries: list[CompiledEntry] = []
        for export, interface in zip(exports, interfaces, strict=True):
            done = len(compiled) * len(exports) + len(entries)
            progress(f"{interface.symbol} for {level.name}", done, len(levels) * len(exports))
            entries.append(_compile(export, interface, options, level, target, verify))
        objects.append(jit.compile_together([entry.llvm_ir for entry in entries], target=target))
        compiled.append(entries)
    first, architecture = targets[0], targets[0].architecture
    types = {
        interface.symbol: entry.type
        for interface, entry in zip(interfaces, compiled[0], strict=True)
    }
    parallel = any(entry.parallel for entries in compiled for entry in entries)
    helpers = [dispatch_ir(architecture, types, levels, level_function(name))]
    visible = [*types, level_function(name)]
    if parallel:
        helpers.append(openmp_ir(openmp_function(name)))
        visible.append(openmp_function(name))
    objects += [jit.compile_module(text, target=first) for text in helpers]
    header = _header(name, levels, interfaces, compiled, options)
    verdicts = {
        level.name: [entry.verdict for entry in entries]
        for level, entries in zip(levels, compiled, strict=True)
    }
    code = _linked(name, objects, visible, architecture)
    return SharedLibrary(
        name, architecture, tuple(levels), tuple(interfaces), parallel, code, header, verdicts
    )


def _interface(export: Export, prefix: str) -> Interface:
    source = export.function.source(None)
    check_sizes([source], export.sizes)
    sizes = known_sizes(source, export.sizes)
    return Interface.of(source.scop, sizes, export.sizes.keys(), prefix)


def _compile(
    export: Export,
    interface: Interface,
    options: Options,
    level: Level,
    target: Target,
    verify: bool,
) -> CompiledEntry:
    source: Source = export.function.source(
        export.schedule,
        threads=options.num_threads or None,
        fast_math=options.fast_math,
        target=target,
        verify=verify,
    )
    check_tile_sizes(source)
    typical = None
    if export.schedule == DEFAULT:
        with ISL_LOCK:
            typical = typical_sizes(source.scop, interface.sizes)
    return compile_entry(source, interface, options, target, suffix=level.suffix, typical=typical)


def _linked(
    name: str, objects: Sequence[bytes], visible: Sequence[str], architecture: str
) -> bytes:
    """The shared library; nothing in it depends on where or when it was made."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.o" for number in range(len(objects))]
        for file, code in zip(files, objects, strict=True):
            file.write_bytes(with_oldest_versions(code, architecture))
        script = Path(folder) / "visible"
        symbols = " ".join(f'"{symbol}";' for symbol in visible)
        script.write_text(f"{{ global: {symbols} local: *; }};\n")
        library = Path(folder) / f"lib{name}.so"
        # Threads of an OpenMP runtime may come back to it at any time: it is never unloaded.
        options = ["-z,now", "-z,nodelete", "--build-id=none", "-s", f"--version-script={script}"]
        inputs = [str(file) for file in files] + [f"-Wl,{option}" for option in options]
        libraries = ["-nostartfiles", "-nodefaultlibs", "-l:libm.so.6", "-l:libc.so.6"]
        link([*inputs, *libraries], library, architecture)
        return library.read_bytes()


def _header(
    name: str,
    levels: Sequence[Level],
    interfaces: Sequence[Interface],
    compiled: Sequence[Sequence[CompiledEntry]],
    options: Options,
) -> str:
    entries = [
        Entry(
            interface,
            {
                level.name: entries[position].schedule
                for level, entries in zip(levels, compiled, strict=True)
            },
            any(entries[position].parallel for entries in compiled),
        )
        for position, interface in enumerate(interfaces)
    ]
    names = ", ".join(level.name for level in levels)
    others = [
        "/** The kind of processors whose code runs here, or NULL where there is none for it.\n"
        f" * One of: {names}. The environment variable LOOPWRIGHT_LEVEL, read when the library is\n"
        " * loaded, allows that one at most. */\n"
        f"const char *{level_function(name)}(void);",
    ]
    if any(entry.parallel for entry in entries):
        others.append(
            "/** Parallel loops run on the OpenMP runtime with these functions (NULL: in the\n"
            " * calling thread); without a call, on one that the first of the loops finds. */\n"
            f"void {openmp_function(name)}(\n"
            "    void (*GOMP_parallel_)(void (*)(void *), void *, unsigned, unsigned),\n"
            "    int (*omp_get_thread_num_)(void), int (*omp_get_num_threads_)(void));"
        )
    line = f"cc main.c $(pkg-config --cflags --libs {name}) -o main"
    return header_text(name, entries, line, options, others)
