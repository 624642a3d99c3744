"""`loopwright build --wheel`: kernels as a wheel with code for several kinds of processors."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from ..lowering.llvm import Options
from ..passes.machine.detection import host_architecture
from ..runtime.calling.errors import BuildError
from ..runtime.choosing.schedule_names import DEFAULT
from ..runtime.program import Function
from ..runtime.shipping.bill_of_materials import bill_of_materials
from ..runtime.shipping.levels import DEFAULTS, LEVELS, levels_named
from ..runtime.shipping.shared_library import Export, build_shared_library
from ..runtime.shipping.wheel import check_name, check_version, write_wheel
from ..support.json_records import Document
from ..support.progress import ProgressLine
from . import UsageError
from .common import VERDICT, read_schedule, tell_verdict
from .json_output import emit
from .shipped import check_size_names, given_sizes, load_program, shown, with_standard_extents


@dataclass(frozen=True)
class WheelDocument(Document):
    """Result of `loopwright build --wheel`."""

    document: ClassVar[str] = "build-wheel"

    file: Annotated[Path, "the wheel"]
    functions: Annotated[tuple[str, ...], "its functions"]
    levels: Annotated[tuple[str, ...], "the kinds of processors that it has code for"]
    verdicts: Annotated[Mapping[str, tuple[str | None, ...]], f"by level: {VERDICT}"]


def add_wheel_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of wheels."""
    parser.add_argument(
        "--wheel",
        metavar="NAME",
        help="write a wheel with a Python module NAME, which needs NumPy alone, into the folder "
        "--output (default: here)",
    )
    parser.add_argument(
        "--levels",
        metavar="LEVEL,...",
        help=f"the kinds of processors that a wheel has code for, of {', '.join(LEVELS)} (default: "
        f"{','.join(DEFAULTS['x86_64'])}, or {','.join(DEFAULTS['aarch64'])} on Arm)",
    )
    parser.add_argument(
        "--wheel-version",
        metavar="VERSION",
        default="0.1.0",
        help="the version of the wheel (default: 0.1.0)",
    )


def write(arguments: argparse.Namespace) -> int:
    """Builds the wheel and says what is in it."""
    if arguments.target != "host" or arguments.shared:
        raise UsageError("a wheel has code for --levels; --target and --shared are for libraries")
    check_name(arguments.wheel)
    check_version(arguments.wheel_version)
    folder = Path(arguments.output or ".")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} for the wheel is no directory")
    if not folder.parent.is_dir():
        raise UsageError(f"there is no directory {folder.parent} for the wheel")
    exports = list(_exports(arguments))
    if not exports:
        files = ", ".join(shown(file) for file in arguments.files)
        raise UsageError(f"{files} has no function with a body")
    names = arguments.levels.split(",") if arguments.levels else _default_levels()
    options = Options(num_threads=arguments.threads or 0, fast_math=arguments.fast_math)
    levels = levels_named(names)
    with ProgressLine(total=len(levels) * len(exports)) as line:
        library = build_shared_library(
            arguments.wheel,
            exports,
            levels,
            options,
            prefix=arguments.prefix,
            verify=arguments.verify,
            progress=line.update,
        )
    for level, verdicts in library.verdicts.items():
        for export, verdict in zip(exports, verdicts, strict=True):
            tell_verdict(f"{export.function.name} ({level})", verdict)
    bill = bill_of_materials(library, exports, arguments.wheel_version)
    folder.mkdir(exist_ok=True)
    path = write_wheel(library, folder, arguments.wheel_version, bill)
    functions = ", ".join(interface.symbol for interface in library.interfaces)
    print(f"wrote {path}: {functions} for {', '.join(level.name for level in library.levels)}")
    print(f"install it by\n    pip install {path}")
    emit(
        WheelDocument(
            path,
            tuple(interface.symbol for interface in library.interfaces),
            tuple(level.name for level in library.levels),
            {
                level: tuple(verdict and str(verdict) for verdict in verdicts)
                for level, verdicts in library.verdicts.items()
            },
        )
    )
    return 0


def _default_levels() -> tuple[str, ...]:
    architecture = host_architecture()
    if architecture not in DEFAULTS:
        raise BuildError(f"give --levels: there are none for {architecture}")
    return DEFAULTS[architecture]


def _exports(arguments: argparse.Namespace) -> Iterator[Export]:
    """The functions of all files, each with the sizes that are its own."""
    known: set[str] = set()
    wanted: set[str] = set(arguments.func or ())
    found: set[str] = set()
    for file in arguments.files:
        program = load_program(file, arguments.cflags)
        given = given_sizes(argparse.Namespace(**{**vars(arguments), "file": file}))
        for name, function in program.items():
            if wanted and name not in wanted:
                continue
            if name in found:
                raise UsageError(
                    f"{shown(file)}: a function '{name}' is in another file too; rename one"
                )
            found.add(name)
            names = {size.name for size in function.scop.sizes}
            known |= names
            sizes = {size: value for size, value in given.items() if size in names}
            sizes = with_standard_extents(file, function, sizes)
            yield Export(function, _schedule(arguments, function, sizes), sizes)
    missing = sorted(wanted - found)
    if missing:
        files = ", ".join(shown(file) for file in arguments.files)
        raise UsageError(f"there is no function '{missing[0]}' in {files}")
    check_size_names(arguments, known)


def _schedule(
    arguments: argparse.Namespace, function: Function, sizes: Mapping[str, int]
) -> str | None:
    """The text of the schedule: it is made for each level anew."""
    if arguments.pipeline is None and arguments.schedule_file is None:
        return DEFAULT
    if arguments.pipeline == DEFAULT:
        return DEFAULT
    schedule = read_schedule(arguments, function, sizes, fast_math=arguments.fast_math)
    return None if schedule is None else str(schedule)
