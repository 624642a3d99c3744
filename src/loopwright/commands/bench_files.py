"""Files among the kernels of `loopwright bench`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..runtime.bench.file_kernels import FileKernel, file_kernel
from ..runtime.calling.arguments import ArrayArgument
from ..runtime.calling.inputs import Settings, settable
from ..runtime.program import Function
from . import UsageError
from .common import functions, pairs
from .program_inputs import load_inputs

if TYPE_CHECKING:
    from .shipped import Array


def file_cases(arguments: argparse.Namespace, files: Sequence[str]) -> list[tuple[FileKernel, str]]:
    """The functions of files, each with what it is given as its size.

    Raises UsageError, SourceError, InputError.
    """
    if not files and (arguments.set or arguments.input or arguments.func):
        raise UsageError("--set, --input and --func are for files: shipped kernels have --size")
    values, arrays = pairs("--set", arguments.set), load_inputs(arguments)
    chosen: list[tuple[str, Function]] = []
    for name in files:
        given = argparse.Namespace(file=name, func=arguments.func, cflags=arguments.cflags)
        found = functions(given)
        for function in found:
            label = name if len(found) == 1 else f"{name}:{function.name}"
            chosen.append((Path(label).name, function))
    _check_names([function for _, function in chosen], values, arrays)
    return [_case(label, function, values, arrays) for label, function in chosen]


def _case(
    label: str, function: Function, values: Mapping[str, str], arrays: Mapping[str, Array]
) -> tuple[FileKernel, str]:
    """A function with those of the settings that it has, and these in short; raises InputError."""
    known, mine = _names(function)
    settings = Settings(
        {name: value for name, value in values.items() if name in known},
        {name: array for name, array in arrays.items() if name in mine},
    )
    size = ",".join(f"{name}={value}" for name, value in settings.values.items())
    return file_kernel(label, function, settings), size or "as declared"


def _check_names(
    functions: Sequence[Function], values: Iterable[str], arrays: Iterable[str]
) -> None:
    """Whether each setting is of some function; raises UsageError."""
    names = [_names(function) for function in functions]
    for option, given, known in (
        ("--set", values, sorted({name for scalars, _ in names for name in scalars})),
        ("--input", arrays, sorted({name for _, own in names for name in own})),
    ):
        for name in given:
            if name not in known:
                raise UsageError(f"{option}: no '{name}'; there are {', '.join(known) or 'none'}")


def _names(function: Function) -> tuple[list[str], list[str]]:
    """Names of what `--set` and `--input` can give."""
    arrays = [
        argument.place.name
        for argument in function.signature.arguments
        if isinstance(argument, ArrayArgument)
    ]
    return settable(function.scop, function.signature), arrays
