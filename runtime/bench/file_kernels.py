"""Functions of a user's file as kernels of the harness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.catalogue import (
    ELEMENT_TYPES,
    TOLERANCES,
    KernelArray,
    KernelEntry,
    Size,
)
from ..calling.arguments import ArrayArgument
from ..calling.elements import dtype_name
from ..calling.inputs import InputError, Settings, make_arguments
from ..measuring.work import operations, traffic
from ..program import Function, Program, load

_NAMES = {np.dtype(kind): name for name, kind in ELEMENT_TYPES.items()}


@dataclass(frozen=True)
class FileKernel(KernelEntry):
    """A function of a file, for the sizes and inputs of `settings`.

    Its arrays have constant shapes. `work` is its arithmetic operations and bytes moved.
    """

    module: str
    names: tuple[str, ...]
    settings: Settings
    work: tuple[int, int]

    @property
    def text(self) -> str:
        """The whole program as text."""
        return self.module

    @property
    def argument_names(self) -> tuple[str, ...]:
        """Names of the function's arguments in its own order."""
        return self.names

    def parameter_values(self, size: Size) -> Mapping[str, int]:
        """Nothing: the sizes are those of `settings`."""
        return {}

    def arguments(self, size: Size) -> list[Any]:
        """New arguments, the same each time."""
        function = load(self.module)[self.function]
        return make_arguments(function.scop, function.signature, self.settings)

    def flops(self, size: Size) -> int:
        """Floating-point operations of one call; 0 where they cannot be counted."""
        return self.work[0]

    def traffic(self, size: Size) -> int:
        """Bytes of the elements that are read and of those that are written."""
        return self.work[1]


def file_kernel(name: str, function: Function, settings: Settings) -> FileKernel:
    """The kernel `name` that a function is with these settings; raises InputError.

    The element type that its limits are taken from is that of the first array that it writes.
    """
    values: list[Any] = make_arguments(function.scop, function.signature, settings)
    arrays: list[KernelArray] = []
    for argument, value in zip(function.signature.arguments, values, strict=True):
        if isinstance(argument, ArrayArgument):
            element = _NAMES.get(value.dtype)
            if element is None:
                known = ", ".join(sorted({str(each) for each in _NAMES}))
                raise InputError(
                    f"{function.name}: bench has no limits for the elements of "
                    f"'{argument.place.name}', {dtype_name(value.dtype)}; it has them for {known}"
                )
            shape = tuple(str(extent) for extent in value.shape)
            arrays.append(KernelArray(argument.place.name, shape, element, output=argument.writes))
    written = [array.element_type for array in arrays if array.output]
    if not written:
        raise InputError(f"{function.name} writes no array: there is nothing to measure")
    sizes = function.signature.sizes_of(values).of(function.scop)
    return FileKernel(
        name=name,
        table="",
        source=name,
        function=function.name,
        element_type=written[0],
        parameters=(),
        scalars={},
        arrays=tuple(arrays),
        sizes={},
        flops_expression="0",
        traffic_expression=None,
        tolerance=TOLERANCES[written[0]],
        parallel=(),
        simd=(),
        module=f"{Program(function.module)}\n",
        names=tuple(argument.place.name for argument in function.signature.arguments),
        settings=settings,
        work=(
            operations(function.scop, sizes) or 0,
            traffic(function.scop, function.signature, sizes)
            or sum(value.nbytes for value in values if isinstance(value, np.ndarray)),
        ),
    )
