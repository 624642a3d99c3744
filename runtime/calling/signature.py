"""Signature of a function: arguments and results in Python and C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Complex
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex

from ...support.summaries import summary
from .arguments import Argument, ArrayArgument, IntegerArgument, Key
from .elements import Element
from .errors import ArgumentTypeError, ArgumentValueError

if TYPE_CHECKING:
    from ...passes.polyhedral.scop import Scop

LARGEST_TILE = 2**62
"""The largest size of a tile that a call may give."""

WHOLE_LOOP = 2**48
"""The size that larger ones stand for: no loop has as many iterations, and steps of loops times
this size can still be added in 64 bits."""

Value = int | float | complex | bool
CValue = int | float
ForeignFunction = Callable[..., Any]


@dataclass(frozen=True)
class Sizes:
    """Specialisation key: shapes of arrays and values of integers, by position.

    An extent that is not known is that of xDSL (DYNAMIC_INDEX); an integer that is not known is
    missing.
    """

    shapes: Mapping[int, tuple[int, ...]]
    integers: Mapping[int, int]

    def of(self, scop: Scop) -> dict[str, int]:
        """The sizes by name: every parameter, and every dynamic extent of an array argument."""
        names = {
            extent: self.shapes[array.argument][dimension]
            for array in scop.arrays
            if array.argument is not None
            for dimension, extent in enumerate(array.shape)
            if isinstance(extent, str)
        }
        for parameter in scop.parameters:
            if parameter.dimension is None:
                names[parameter.name] = self.integers[parameter.argument]
            else:
                names[parameter.name] = self.shapes[parameter.argument][parameter.dimension]
        return names


@dataclass(frozen=True)
class Signature:
    """The arguments, in order, and the element types of the results.

    Behind the arguments, code takes `tile_sizes`, which calls give by name. `complex_arguments` and
    `complex_results` are the positions of real parts, whose imaginary parts are the last arguments
    and results.
    """

    kernel: str
    arguments: tuple[Argument, ...]
    results: tuple[Element, ...]
    tile_sizes: tuple[str, ...] = ()
    complex_arguments: tuple[int, ...] = ()
    complex_results: tuple[int, ...] = ()

    def __str__(self) -> str:
        returned = [result.name for result in self.results]
        taken = list(map(str, self.arguments))
        for position in self.complex_results:
            returned[position] = f"complex<{returned[position]}>"
        for position in self.complex_arguments:
            name, _, kind = taken[position].partition(": ")
            taken[position] = f"{name}: complex<{kind}>"
        results = ", ".join(returned[: len(returned) - len(self.complex_results)])
        sizes = (f"{name}=..." for name in self.tile_sizes)
        count = len(taken) - len(self.complex_arguments)
        arguments = ", ".join((*taken[:count], *sizes))
        return f"{self.kernel}({arguments})" + (f" -> {results}" if results else "")

    def split(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Values of a call, with complex numbers as their parts; raises ArgumentTypeError."""
        positions = self.complex_arguments
        if not positions or len(values) + len(positions) != len(self.arguments):
            return tuple(values)
        split = list(values)
        for position in positions:
            number = split[position]
            if not isinstance(number, Complex) and getattr(number, "shape", None) != ():
                raise ArgumentTypeError(
                    f"{self.arguments[position].place}: expected a complex number, "
                    f"got {type(number).__name__}"
                )
            try:
                number = complex(number)
            except OverflowError:
                raise ArgumentValueError(
                    f"{self.arguments[position].place}: the integer does not fit into its parts"
                ) from None
            split[position] = number.real
            split.append(number.imag)
        return tuple(split)

    def _joined(self, results: Sequence[Value]) -> Value | tuple[Value, ...]:
        """Results with complex numbers in place of their parts."""
        positions = self.complex_results
        if not positions:
            return tuple(results)
        count = len(results) - len(positions)
        joined = list(results[:count])
        for position, imaginary in zip(positions, results[count:], strict=True):
            joined[position] = complex(joined[position], imaginary)
        return tuple(joined) if len(joined) > 1 else joined[0]

    def sizes_of(self, values: Sequence[object]) -> Sizes:
        """What Python arguments say; raises ArgumentTypeError, ArgumentValueError."""
        key: Key = []
        for argument, value in zip(self.arguments, self.split(values), strict=True):
            argument.bind(value, key)
        return self.sizes(tuple(key))

    def sizes(self, key: tuple[tuple[int, ...] | int, ...]) -> Sizes:
        """What a key of bound arguments says; raises ArgumentTypeError, ArgumentValueError."""
        entries = iter(key)
        shapes: dict[int, tuple[int, ...]] = {}
        integers: dict[int, int] = {}
        for position, argument in enumerate(self.arguments):
            if isinstance(argument, ArrayArgument):
                shape = next(entries)
                assert isinstance(shape, tuple)
                argument.check_shape(shape)
                shapes[position] = tuple(shape)  # torch has a class of its own
            elif isinstance(argument, IntegerArgument) and argument.is_size:
                number = next(entries)
                assert isinstance(number, int)
                integers[position] = number
        return Sizes(shapes, integers)

    @property
    def static_key(self) -> tuple[tuple[int, ...], ...] | None:
        """The only key that there is; None when shapes or integers are left open."""
        key: list[tuple[int, ...]] = []
        for argument in self.arguments:
            if isinstance(argument, ArrayArgument):
                shape = tuple(extent for extent in argument.shape if extent is not None)
                if len(shape) != len(argument.shape):
                    return None
                key.append(shape)
            elif isinstance(argument, IntegerArgument) and argument.is_size:
                return None
        return tuple(key)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of arrays, by position, of which one is written and the other used."""
        used = [
            (position, argument.writes)
            for position, argument in enumerate(self.arguments)
            if isinstance(argument, ArrayArgument) and (argument.reads or argument.writes)
        ]
        return tuple(
            (first, second)
            for (first, writes), (second, other_writes) in combinations(used, 2)
            if writes or other_writes
        )

    def conflicts(self, sizes: Sizes) -> tuple[tuple[int, int, int, int], ...]:
        """The pairs of arrays that must not overlap: `(position, bytes, position, bytes)`.

        One of them is written, the other read or written, and neither is empty.
        """
        found = [
            (first, self._bytes(first, sizes), second, self._bytes(second, sizes))
            for first, second in self.pairs
        ]
        return tuple(conflict for conflict in found if conflict[1] and conflict[3])

    def _bytes(self, position: int, sizes: Sizes) -> int:
        argument = self.arguments[position]
        assert isinstance(argument, ArrayArgument)
        return argument.bytes(sizes.shapes[position])

    def bind_tile_sizes(self, sizes: Mapping[str, object]) -> list[int]:
        """The values of `tile_sizes`; raises ArgumentTypeError, ArgumentValueError."""
        for name in sizes:
            if name not in self.tile_sizes:
                known = ", ".join(self.tile_sizes) or "none: its schedule has constant sizes"
                raise ArgumentTypeError(
                    f"{self.kernel}: there is no tile size '{name}'; there are {known}"
                )
        values: list[int] = []
        for name in self.tile_sizes:
            if name not in sizes:
                raise ArgumentTypeError(
                    f"{self.kernel}: the tile size '{name}' is missing; pass {name}=..."
                )
            value = sizes[name]
            if isinstance(value, bool) or not isinstance(value, SupportsIndex):
                raise ArgumentTypeError(
                    f"{self.kernel}: the tile size '{name}' is an integer, got {value!r}"
                )
            size = index(value)
            if not 1 <= size <= LARGEST_TILE:
                raise ArgumentValueError(
                    f"{self.kernel}: the tile size '{name}' must be at least 1 and at most 2^62, "
                    f"got {size}"
                )
            values.append(min(size, WHOLE_LOOP))
        return values

    def foreign_function(self, address: int) -> ForeignFunction:
        """The machine code at `address` as a Python callable that releases the GIL."""
        parameters: list[Any] = [
            ctypes.c_void_p if isinstance(argument, ArrayArgument) else argument.element.ctype
            for argument in self.arguments
        ]
        parameters += [ctypes.c_int64] * len(self.tile_sizes)
        if len(self.results) > 1:
            parameters += [ctypes.c_void_p] * len(self.results)
        result = self.results[0].ctype if len(self.results) == 1 else None
        return ctypes.CFUNCTYPE(result, *parameters)(address)

    @property
    def llvm_types(self) -> tuple[str, ...]:
        """What C passes: the LLVM types of the arguments, and of pointers to several results."""
        values = [
            "ptr" if isinstance(argument, ArrayArgument) else argument.element.llvm
            for argument in self.arguments
        ]
        return (*values, *(["ptr"] * len(self.results) if len(self.results) > 1 else []))

    def call(
        self, function: ForeignFunction, values: Sequence[CValue]
    ) -> Value | tuple[Value, ...] | None:
        """Calls `function` and returns its results as Python values."""
        if not self.results:
            return function(*values)
        if len(self.results) == 1:
            return self.results[0].to_python(function(*values))
        cells = [result.ctype() for result in self.results]
        function(*values, *(ctypes.addressof(cell) for cell in cells))
        pairs = zip(self.results, cells, strict=True)
        return self._joined([result.to_python(cell.value) for result, cell in pairs])

    def __repr__(self) -> str:
        return summary(self, str(self))
