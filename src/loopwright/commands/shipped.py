"""Shipped kernels as programs of the command line: `loopwright run polybench/gemm`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..runtime.calling.ranges import INDICES
from ..session.shipped_kernels import (
    DEFAULT_SIZE,
    sizes_of,
    standard_arguments,
    standard_extents,
    standard_size,
)
from ..support.bounded_files import read_bounded, read_stream
from ..support.summaries import shortened
from . import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..kernels.catalogue import KernelEntry
    from ..runtime.calling.inputs import Settings
    from ..runtime.program import Function, Program

    Array = NDArray[np.generic]

# NumPy and what loads it are imported where there is a program: wrong arguments are told without.

_MOST_DIGITS = 400

STANDARD_INPUT = "-"
"""In place of the name of a file."""


def shown(name: str) -> str:
    """The name of a file in messages."""
    return "<stdin>" if name == STANDARD_INPUT else name


def read_standard_input() -> str:
    """All of the text; raises UsageError."""
    stdin: TextIO | None = sys.stdin  # None where the process was started without
    if stdin is None:
        raise UsageError("there is no standard input to read")
    try:
        return _contents(stdin).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("cannot read standard input: it is not UTF-8 text") from None


@lru_cache(maxsize=1)
def _contents(stream: TextIO) -> bytes:
    """What a stream has, which may be asked for once for each function."""
    return read_stream(stream.buffer, "standard input")


def find_kernel(name: str) -> KernelEntry | None:
    """The shipped kernel of this name; None when it is a file, or neither.

    Raises UsageError for what is likely a mistake in a kernel's name.
    """
    from ..kernels.catalogue import catalogue

    entry = catalogue().get(name) or _kernel_of_file(name)
    if entry is not None or name == STANDARD_INPUT or Path(name).exists():
        return entry
    import difflib  # for the message alone

    close = difflib.get_close_matches(name, catalogue(), 1)
    if close and not name.endswith((".mlir", ".c")):
        raise UsageError(f"no file or shipped kernel '{name}' (did you mean {close[0]}?)")
    return None


def _kernel_of_file(name: str) -> KernelEntry | None:
    """The shipped kernel whose file this is, in a checkout, or is called where there is none."""
    from ..kernels.catalogue import catalogue

    path = Path(name)
    if path.suffix != ".mlir":
        return None
    entry = catalogue().get("/".join(path.with_suffix("").parts[-2:]))
    if entry is None:
        return None
    if path.exists():
        is_own = path.is_file() and read_bounded(path) == read_bounded(entry.file)
    else:
        is_own = path.parts[:-2] == ("kernels",)
    return entry if is_own else None


def sized_kernel(arguments: argparse.Namespace) -> KernelEntry | None:
    """The shipped kernel that is given; raises UsageError for `--size` of another file."""
    entry = find_kernel(arguments.file)
    if entry is None and arguments.size is not None:
        raise not_sized(arguments.file)
    return entry


def not_sized(file: str) -> UsageError:
    """The error for `--size` of a file."""
    return UsageError(f"--size is for shipped kernels: give {shown(file)} sizes with --set")


def load_program(name: str, cflags: str = "") -> Program:
    """The program in a file or on standard input, or a shipped kernel.

    `cflags` are what a C compiler needs for a C file. Raises SourceError, UsageError.
    """
    from .. import load
    from ..runtime.program import Program

    if name == STANDARD_INPUT:
        from ..dialects.parse import parse_module  # the compiler

        return Program(parse_module(read_standard_input(), shown(name)))
    entry = find_kernel(name)
    if entry is not None:
        return load(entry.text)
    return load(Path(name), cflags=split_flags(cflags))


def split_flags(text: str) -> list[str]:
    """The flags in the value of `--cflags`; raises UsageError."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--cflags: {error}") from None


def add_cflags_argument(parser: argparse.ArgumentParser) -> None:
    """The argument `--cflags`."""
    parser.add_argument(
        "--cflags",
        metavar="FLAGS",
        default="",
        help="what a C compiler needs for a C file: '-I include -DN=100'",
    )


def add_size_argument(parser: argparse.ArgumentParser, default: str | None = DEFAULT_SIZE) -> None:
    """The argument `--size`; `default` is what a command takes without it."""
    usual = f" (default: {default})" if default is not None else ""
    parser.add_argument(
        "--size",
        metavar="CLASS",
        help=f"size of a shipped kernel, such as MINI or LARGE, in any case{usual}",
    )


def add_size_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments `--size` and `--set`, where the sizes alone matter."""
    parser.add_argument(
        "-s",
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a size (n=1000) or an extent of an array (A_dim0=64)",
    )
    add_size_argument(parser, default=None)


def given_sizes(arguments: argparse.Namespace) -> dict[str, int]:
    """The values of sizes that `--size` and `--set` give; raises UsageError."""
    entry = sized_kernel(arguments)
    sizes: dict[str, int] = {}
    if entry is not None and arguments.size is not None:
        sizes = standard_size(entry, arguments.size)
    for text in arguments.set:
        name, equals, value = text.partition("=")
        if not name or not equals or not value.removeprefix("-").isdecimal():
            raise UsageError(f"--set expects NAME=INTEGER, got '{shortened(text)}'")
        sizes[name] = size_value(name, value)
    return sizes


def size_value(name: str, text: str) -> int:
    """The value that `--set` gives a size; raises UsageError."""
    try:
        # Python reads no numbers of thousands of digits.
        value = int(text) if len(text) <= _MOST_DIGITS else INDICES.stop
    except ValueError:
        raise UsageError(f"--set {name}: '{shortened(text)}' is not an integer") from None
    if value not in INDICES:
        raise UsageError(
            f"--set {name}: {shortened(text)} does not fit into index, which has 64 bits"
        )
    return value


def check_size_names(
    arguments: argparse.Namespace, sizes: Iterable[str], scalars: Iterable[str] = ()
) -> None:
    """Whether what `--set` names are sizes, or scalars where these are given; raises UsageError."""
    known = sorted(set(sizes))
    for text in arguments.set:
        name = text.partition("=")[0]
        if name not in (*known, *scalars):
            raise UsageError(f"there is no size '{name}'; there are {', '.join(known) or 'none'}")


def with_standard_extents(
    file: str, function: Function, sizes: Mapping[str, int]
) -> dict[str, int]:
    """The sizes and, for a shipped kernel with all parameters among them, its arrays' extents."""
    entry = find_kernel(file)
    if entry is None or any(name not in sizes for name in entry.parameters):
        return dict(sizes)
    return standard_extents(entry, function, sizes)


def kernel_settings(
    entry: KernelEntry, function: Function, size: str | None, settings: Settings
) -> Settings:
    """The standard arguments of a shipped kernel, with what the user sets in their place.

    Raises UsageError, InputError.
    """
    import numpy as np

    from ..runtime.calling.inputs import Settings

    sizes = standard_size(entry, size)
    for name in entry.parameters:
        if name in settings.values:
            sizes[name] = _integer(name, settings.values[name])
    values: dict[str, str] = {}
    arrays: dict[str, Array] = {}
    for argument, value in zip(
        function.signature.arguments, standard_arguments(entry, sizes), strict=True
    ):
        if isinstance(value, np.ndarray):
            arrays[argument.place.name] = value
        else:
            values[argument.place.name] = repr(value)
    return Settings({**values, **settings.values}, {**arrays, **settings.arrays}, settings.seed)


def determined(
    entry: KernelEntry, function: Function, values: Sequence[object], results: Mapping[str, Array]
) -> dict[str, Array]:
    """The results of a shipped kernel that can be compared, each as a row of elements."""
    sizes = sizes_of(entry, values)
    found: dict[str, Array] = {}
    arguments = function.signature.arguments[-len(entry.arrays) :]
    for array, argument in zip(entry.arrays, arguments, strict=True):
        result = results.get(argument.place.name)
        if array.output and result is not None:
            found[argument.place.name] = result[array.determined_mask(result.shape, sizes)]
    return found


def _integer(name: str, text: str) -> int:
    value = size_value(name, text)
    if value < 0:
        raise UsageError(f"--set {name}: the size must not be negative, got {value}")
    return value
