"""Builds an object file or shared library with a C header.

Source -> loop IR -> LLVM IR with an entry point for C -> object code -> (shared library), header
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...lowering.llvm import Options
from ...lowering.llvm.llvm_target import processor
from ...lowering.validation.verdict import Verdict
from ...passes.machine.target import Target
from ...support.markup import MOST_COLUMNS, notebook, table
from ...support.output_files import write_output
from ...support.summaries import shortened
from ..calling.errors import BuildError
from ..jit import object_code as jit
from ..jit.source import Source
from .entries import check_sizes, check_symbols, check_tile_sizes, compile_entry, known_sizes
from .header import Entry, header_text
from .interface import Interface
from .link import link_line, link_shared

SUFFIXES = (".o", ".so")


@dataclass(frozen=True)
class Library:
    """Paths of an object file or shared library, and its header.

    `functions` are the names in C; `link` is the command that links a program with them, and
    `verdicts` what the validation of each function has said, where one was asked for.
    """

    file: Path
    header: Path
    functions: tuple[str, ...]
    link: str
    verdicts: tuple[Verdict | None, ...] = ()

    def _repr_html_(self) -> str:
        """Files, functions, and how to link them, for notebooks."""
        facts = {
            "file": str(self.file),
            "header": str(self.header),
            "functions": ", ".join(self.functions),
            "link": self.link,
        }
        rows = [[name, shortened(text, 4 * MOST_COLUMNS)] for name, text in facts.items()]
        return notebook(f"Library {self.file.name}", table([["", ""], *rows]))


def build(
    sources: Sequence[Source],
    path: str | Path,
    sizes: Mapping[str, int],
    options: Options,
    target: Target,
    prefix: str = "",
) -> Library:
    """Writes the functions as the object file `path`.o or the shared library `path`.so.

    The header lies beside it. `sizes` fixes some or all sizes of the functions by name; all others
    are passed by the caller. Where all integers are fixed, the code is made for the smallest arrays
    that the program needs, and checks that these are what it gets. Names in C begin with `prefix`.

    Raises BuildError, SourceError, ValidationError, BoundsError, OSError.
    """
    for source in sources:
        check_tile_sizes(source)
    file = _file(Path(path))
    check_sizes(sources, sizes)
    interfaces = [
        Interface.of(source.scop, known_sizes(source, sizes), sizes.keys(), prefix)
        for source in sources
    ]
    check_symbols(interfaces)
    compiled = [
        compile_entry(source, interface, options, target)
        for source, interface in zip(sources, interfaces, strict=True)
    ]
    entries = [
        Entry(each.interface, {processor(target): each.schedule}, each.parallel)
        for each in compiled
    ]
    code = jit.compile_together([each.llvm_ir for each in compiled], target=target)
    is_parallel = any(entry.parallel for entry in entries)
    link = link_line(file, parallel=is_parallel)
    header = file.with_suffix(".h")
    text = header_text(file.stem, entries, link, options)
    if file.suffix == ".so":
        with tempfile.TemporaryDirectory() as folder:
            code_file = Path(folder) / f"{file.stem}.o"
            write_output(code_file, code)
            linked = Path(folder) / file.name  # the name that programs will look for
            link_shared(code_file, linked, target.architecture, parallel=is_parallel)
            write_output(file, linked.read_bytes())
    else:
        write_output(file, code)
    write_output(header, text)
    symbols = tuple(interface.symbol for interface in interfaces)
    return Library(file, header, symbols, link, tuple(each.verdict for each in compiled))


def _file(path: Path) -> Path:
    if path.suffix in SUFFIXES:
        return path
    if path.suffix or not path.name:
        raise BuildError(
            f"cannot build '{path}': its name ends in .o (an object file) or .so (a shared library)"
        )
    return path.with_suffix(".o")
