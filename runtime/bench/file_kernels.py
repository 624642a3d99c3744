"""Functions of a user's file as kernels of the harness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.catalogue import ELEMENT_TYPES, TOLERANCES, Array, KernelArray, Size
from ..calling.arguments import ArrayArgument
from ..calling.elements import dtype_name
from ..calling.inputs import InputError, Settings, make_arguments
from ..measuring.work import operations, traffic
from ..program import Function, Program, load
from .stored_results import with_stored_results

_NAMES = {np.dtype(kind): name for name, kind in ELEMENT_TYPES.items()}


@dataclass(frozen=True)
class FileKernel:
    """A function of a file, for the sizes and inputs of `settings`.

    Its arrays have constant shapes. `work` is its arithmetic operations and bytes moved. Nothing
    says which of its loops a C programmer would mark, nor do libraries know it.
    """

    name: str
    text: str
    function: str
    element_type: str
    arrays: tuple[KernelArray, ...]
    argument_names: tuple[str, ...]
    settings: Settings
    work: tuple[int, int]
    parallel: tuple[str, ...] = ()
    simd: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Its own name, which is none of the catalogue."""
        return self.name

    @property
    def tolerance(self) -> float:
        """The relative difference that rounding explains."""
        return TOLERANCES[self.element_type]

    def parameter_values(self, size: Size) -> Mapping[str, int]:
        """Nothing: the sizes are those of `settings`."""
        return {}

    def arguments(self, size: Size) -> list[Any]:
        """New arguments, the same each time."""
        function = load(self.text)[self.function]
        return make_arguments(function.scop, function.signature, self.settings)

    def array_bytes(self, size: Size) -> int:
        """Bytes of all array arguments."""
        return sum(array.nbytes({}) for array in self.arrays)

    def output_arrays(self, arguments: list[Any]) -> dict[str, Array]:
        """The result arrays among the arguments of a call, by name."""
        values = dict(zip(self.argument_names, arguments, strict=True))
        return {array.name: np.asarray(values[array.name]) for array in self.arrays if array.output}

    def flops(self, size: Size) -> int:
        """Floating-point operations of one call; 0 where they cannot be counted."""
        return self.work[0]

    def traffic(self, size: Size) -> int:
        """Bytes of the elements that are read and of those that are written."""
        return self.work[1]


def file_kernel(name: str, function: Function, settings: Settings) -> FileKernel:
    """The kernel `name` that a function is with these settings; raises InputError.

    What it returns is an output as well. The element type that its limits are taken from is that of
    the first array that it writes.
    """
    function = with_stored_results(function)
    values: list[Any] = make_arguments(function.scop, function.signature, settings)
    arrays: list[KernelArray] = []
    for argument, value in zip(function.signature.arguments, values, strict=True):
        if isinstance(argument, ArrayArgument):
            element = _NAMES.get(value.dtype)
            if element is None:
                known = ", ".join(sorted({dtype_name(each) for each in _NAMES}))
                raise InputError(
                    f"{function.name}: bench has no limits for the elements of "
                    f"'{argument.place.name}', {dtype_name(value.dtype)}; it has them for {known}"
                )
            shape = tuple(str(extent) for extent in value.shape)
            arrays.append(KernelArray(argument.place.name, shape, element, output=argument.writes))
    written = [array.element_type for array in arrays if array.output]
    if not written:
        raise InputError(
            f"{function.name} writes no array and returns nothing: there is nothing to measure"
        )
    sizes = function.signature.sizes_of(values).of(function.scop)
    return FileKernel(
        name=name,
        text=f"{Program(function.module)}\n",
        function=function.name,
        element_type=written[0],
        arrays=tuple(arrays),
        argument_names=tuple(argument.place.name for argument in function.signature.arguments),
        settings=settings,
        work=(
            operations(function.scop, sizes) or 0,
            traffic(function.scop, function.signature, sizes)
            or sum(value.nbytes for value in values if isinstance(value, np.ndarray)),
        ),
    )
