"""Builds an object file or shared library with a C header.

Source -> loop IR -> LLVM IR with an entry point for C -> object code -> (shared library), header
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...lowering.llvm import EntryPoint, Options, translate
from ...lowering.loops.bounds_check import bounds_check
from ...lowering.validation.verdict import Verdict
from ...passes.machine.target import Target
from ...passes.polyhedral.bounds import check_bounds
from ...passes.polyhedral.extents import infer_extents
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.schedules.schedule import Schedule
from ...support.output_files import write_output
from ..calling.arguments import ArrayArgument
from ..calling.errors import BuildError
from ..jit import object_code as jit
from ..jit.compile import Source, verified_loops
from .header import Entry, header_text
from .interface import Interface
from .link import link_line, link_shared

SUFFIXES = (".o", ".so")
_LARGEST = (1 << 63) - 1


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
        schedule = source.schedule
        if isinstance(schedule, Schedule) and schedule.run_time_sizes:
            raise BuildError(
                f"{source.scop.name}: a library has no arguments for the tile sizes "
                f"{', '.join(schedule.run_time_sizes)}; give them as numbers"
            )
    file = _file(Path(path))
    _check_sizes(sources, sizes)
    interfaces = [
        Interface.of(source.scop, _known_sizes(source, sizes), sizes.keys(), prefix)
        for source in sources
    ]
    _check_symbols(interfaces)
    entries: list[Entry] = []
    modules: list[str] = []
    verdicts: list[Verdict | None] = []
    for source, interface in zip(sources, interfaces, strict=True):
        schedule = _schedule(source, interface)
        llvm_ir, verdict = _llvm_ir(source, schedule, interface, options, target)
        modules.append(llvm_ir)
        verdicts.append(verdict)
        entries.append(Entry(interface, schedule, "GOMP_parallel" in modules[-1]))
    code = jit.compile_together(modules, target=target)
    is_parallel = any(entry.parallel for entry in entries)
    link = link_line(file, parallel=is_parallel)
    header = file.with_suffix(".h")
    text = header_text(file.stem, entries, link, options, target)
    if file.suffix == ".so":
        with tempfile.TemporaryDirectory() as folder:
            code_file = Path(folder) / f"{file.stem}.o"
            write_output(code_file, code)
            linked = Path(folder) / file.name  # the name that programs will look for
            link_shared(code_file, linked, parallel=is_parallel)
            write_output(file, linked.read_bytes())
    else:
        write_output(file, code)
    write_output(header, text)
    symbols = tuple(interface.symbol for interface in interfaces)
    return Library(file, header, symbols, link, tuple(verdicts))


def _file(path: Path) -> Path:
    if path.suffix in SUFFIXES:
        return path
    if path.suffix or not path.name:
        raise BuildError(
            f"cannot build '{path}': its name ends in .o (an object file) or .so (a shared library)"
        )
    return path.with_suffix(".o")


def _check_sizes(sources: Sequence[Source], sizes: Mapping[str, int]) -> None:
    parameters = [size for source in sources for size in source.scop.sizes]
    known = list(dict.fromkeys(parameter.name for parameter in parameters))
    extents = {parameter.name for parameter in parameters if parameter.dimension is not None}
    for name, size in sizes.items():
        if name not in known:
            raise BuildError(f"there is no size '{name}'; there are {', '.join(known) or 'none'}")
        if not (0 if name in extents else -_LARGEST) <= size <= _LARGEST:
            raise BuildError(f"{name} = {size} is no possible size")


def _known_sizes(source: Source, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes that are given; once all integers are, with the extents that follow from them."""
    scop = source.scop
    given = {size.name: sizes[size.name] for size in scop.sizes if size.name in sizes}
    integers = [size.name for size in scop.sizes if size.dimension is None]
    is_complete = given and all(name in given for name in integers)
    return infer_extents(scop, given) if is_complete else given


def _check_symbols(interfaces: Sequence[Interface]) -> None:
    seen: dict[str, str] = {}
    for interface in interfaces:
        function = interface.signature.kernel
        other = seen.setdefault(interface.symbol, function)
        if other != function:
            raise BuildError(
                f"@{other} and @{function} would both be called '{interface.symbol}' in C; "
                "rename one, or build them apart"
            )


def _schedule(source: Source, interface: Interface) -> Schedule | None:
    """The schedule for the sizes that are fixed; one that is chosen for them needs all."""
    sizes = interface.sizes
    if all(size.name in sizes for size in source.scop.sizes):
        with ISL_LOCK:
            check_bounds(source.scop, sizes)
            return source.schedule_for(sizes)
    return source.schedule if isinstance(source.schedule, Schedule) else None


def _llvm_ir(
    source: Source,
    schedule: Schedule | None,
    interface: Interface,
    options: Options,
    target: Target,
) -> tuple[str, Verdict | None]:
    scop, sizes = source.scop, interface.sizes
    with ISL_LOCK:
        fits = bounds_check(scop, sizes)
        entry = EntryPoint(
            interface.symbol,
            scop.name,
            interface.fixed_integers,
            interface.checked_extents,
            fits,
            tuple((s.argument, s.dimension) for s in scop.sizes if s.name not in sizes),
            interface.signature.pairs,
            tuple(
                position
                for position, argument in enumerate(interface.signature.arguments)
                if isinstance(argument, ArrayArgument) and (argument.reads or argument.writes)
            ),
        )
        loops, verdict = verified_loops(source, schedule, sizes)
        return str(translate(loops, target=target, options=options, entry=entry)), verdict
