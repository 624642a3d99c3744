"""Arguments of the program that a command runs, from its options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..runtime.calling.inputs import Settings, given_arguments, load_array, make_arguments
from ..runtime.program import Function
from .common import pairs
from .shipped import kernel_settings, sized_kernel

if TYPE_CHECKING:
    from .shipped import Array


def load_inputs(arguments: argparse.Namespace) -> dict[str, Array]:
    """The arrays that `--input` gives, by name; raises InputError."""
    return {
        name: load_array(Path(path)) for name, path in pairs("--input", arguments.input).items()
    }


def argument_values(
    arguments: argparse.Namespace, function: Function, inputs: Mapping[str, Array]
) -> list[object]:
    """A value for each argument of the function; raises UsageError, InputError."""
    settings = Settings(pairs("--set", arguments.set), inputs, arguments.seed)
    entry = sized_kernel(arguments)
    if entry is not None:
        settings = kernel_settings(entry, function, arguments.size, settings)
    given = given_arguments(function.signature, settings)
    return make_arguments(function.scop, function.signature, settings) if given is None else given
