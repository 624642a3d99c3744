"""Conversion and checks of Python arguments.

Each kind of argument *binds* a Python value: it checks the value, returns what goes into the C call
(the address of an array, an integer, a float) and appends what the code is specialised on (shapes,
integers that are sizes) to a key. Checks that depend on the key alone (`check_shape`) run once per
specialisation and not on every call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import addressof, c_char
from dataclasses import dataclass
from numbers import Real
from operator import index
from typing import Any, NoReturn, SupportsFloat, TypeGuard, cast

import numpy as np

from .array_memory import (
    NO_TENSORS,
    READ_ONLY,
    Memory,
    has_its_memory,
    is_tensor,
    memory_of,
    plain_tensors,
)
from .elements import COMPLEX_ELEMENTS, Element, dtype_name
from .errors import ArgumentTypeError, ArgumentValueError, OverlappingArguments

_from_buffer = cast("Callable[[object], c_char]", c_char.from_buffer)
_ndarray = np.ndarray

# Bits of `ndarray.flags.num`: NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE.
_USABLE = 0x0101
_WRITEABLE = 0x0400

# The largest number of each type that is shorter than Python's.
_LARGEST = {
    "f32": float.fromhex("0x1.fffffep127"),
    "f16": 65504.0,
    "bf16": float.fromhex("0x1.fep127"),
}

Key = list[tuple[int, ...] | int]


@dataclass(frozen=True)
class Place:
    """Position of an argument, for messages: `gemm: argument 2 'A'` (counted from 1)."""

    kernel: str
    position: int
    name: str

    def __str__(self) -> str:
        return f"{self.kernel}: argument {self.position + 1} '{self.name}'"


@dataclass(eq=False)
class ArrayArgument:
    """A memref: a contiguous row-major array of `element`; None in `shape` is any extent.

    `reads` and `writes` say what the kernel does with its elements.
    """

    place: Place
    element: Element
    shape: tuple[int | None, ...]
    reads: bool
    writes: bool

    def __post_init__(self) -> None:
        # Every call asks for these.
        self._dtype, self._dtypes = self.element.dtype, self.element.dtypes
        self._misalignment = self._dtype.itemsize - 1
        self._fixed = tuple(
            (n, extent) for n, extent in enumerate(self.shape) if extent is not None
        )
        self._tensor_class, self._tensor_type, self._dense = NO_TENSORS

    def __str__(self) -> str:
        extents = "".join("?x" if extent is None else f"{extent}x" for extent in self.shape)
        return f"{self.place.name}: memref<{extents}{self.element.name}>"

    def bind(self, value: Any, key: Key) -> int:
        """The address of the first element; the shape goes to `key`.

        Raises ArgumentTypeError, ArgumentValueError.
        """
        if type(value) is _ndarray:
            flags, dtype = value.flags.num, value.dtype
            is_of_type = dtype is self._dtype or dtype in self._dtypes
            if is_of_type and flags & _USABLE == _USABLE:
                if flags & _WRITEABLE and value.size:
                    # The quickest way to an address; it needs memory that can be written.
                    key.append(value.shape)
                    return addressof(_from_buffer(value))
                if flags & _WRITEABLE or not self.writes:
                    key.append(value.shape)
                    return value.__array_interface__["data"][0]
        elif (
            type(value) is self._tensor_class
            and value.dtype is self._tensor_type
            and value.layout is self._dense
            and value.is_cpu
            and value.is_contiguous()
            and not value.requires_grad
            and not value.is_neg()
            and not value.is_conj()
        ):
            try:
                address: int = value.data_ptr()
                if address and not address & self._misalignment and has_its_memory(value):
                    key.append(value.shape)
                    return address
            except RuntimeError:  # torch's stand-ins for tensors have no address
                return self._bind_carefully(value, key)
        return self._bind_carefully(value, key)

    def _bind_carefully(self, value: object, key: Key) -> int:
        try:
            memory = memory_of(value)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:200]
            raise ArgumentValueError(
                f"{self.place}: the array does not tell where its elements are ({reason})"
            ) from error
        if memory is None:
            raise ArgumentTypeError(
                f"{self.place}: expected an array of {dtype_name(self.element.dtype)}, "
                f"got {_type_name(value)}"
                f"; pass a NumPy array or a torch tensor{self._zero_dimensional_hint()}"
            )
        address, shape, dtype, contiguous, obstacle, locked = memory
        if (
            dtype not in self.element.dtypes
            or len(shape) != len(self.shape)
            or obstacle is not None
            or not contiguous
            or (locked is not None and self.writes)
            or address & self._misalignment
        ):
            self._refuse(memory)
        if self._tensor_class is None and is_tensor(value):
            self._tensor_class, self._tensor_type, self._dense = plain_tensors(self._dtype)
        key.append(shape)
        return address

    def _zero_dimensional_hint(self) -> str:
        return "" if self.shape else " with zero dimensions, such as numpy.zeros(())"

    def _conversion(self) -> str:
        if self.element.name != "bf16":
            return "convert the array"
        return "pass a torch tensor of bfloat16, or an array of loopwright.bfloat16"

    def _refuse(self, memory: Memory) -> NoReturn:
        """Raises the error that says what is wrong with the memory."""
        if memory.dtype not in self.element.dtypes:
            raise ArgumentTypeError(
                f"{self.place}: expected elements of type {dtype_name(self.element.dtype)}, "
                f"got {dtype_name(memory.dtype)}; {self._conversion()}"
            )
        self.check_shape(memory.shape)
        if memory.obstacle is not None:
            raise ArgumentValueError(f"{self.place}: the array {memory.obstacle}")
        if not memory.contiguous:
            raise ArgumentValueError(
                f"{self.place}: the array is not contiguous in row-major order; pass a contiguous "
                "copy (numpy.ascontiguousarray)"
                + (", which receives the results" if self.writes else "")
            )
        if memory.locked is not None and self.writes:
            raise ArgumentValueError(
                f"{self.place}: the kernel writes to this array, which {memory.locked}"
                + ("; pass a copy" if memory.locked is READ_ONLY else "")
            )
        raise ArgumentValueError(
            f"{self.place}: the elements are not aligned to {self._misalignment + 1} bytes; "
            "pass a copy"
        )

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Compares the rank and the static extents; raises ArgumentTypeError, -ValueError."""
        if len(shape) != len(self.shape):
            raise ArgumentTypeError(
                f"{self.place}: expected {len(self.shape)} dimensions, got {len(shape)} "
                f"(shape {shape}); reshape the array"
            )
        wrong = [dimension for dimension, extent in self._fixed if shape[dimension] != extent]
        if wrong:
            expected = ", ".join("?" if extent is None else str(extent) for extent in self.shape)
            raise ArgumentValueError(
                f"{self.place}: expected shape ({expected}), got {shape}; dimension {wrong[0]} has "
                f"{shape[wrong[0]]} elements instead of {self.shape[wrong[0]]}"
            )

    def bytes(self, shape: tuple[int, ...]) -> int:
        """The size in memory of an array of this shape."""
        return math.prod(shape) * self._dtype.itemsize


@dataclass(eq=False)
class ComplexArrayArgument(ArrayArgument):
    """A memref of the parts of complex numbers, its last dimension.

    It takes arrays of complex numbers and, where it `takes_parts`, those of parts.
    """

    takes_parts: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._numbers = ArrayArgument(
            self.place,
            COMPLEX_ELEMENTS[self.element.name],
            self.shape[:-1],
            self.reads,
            self.writes,
        )

    def __str__(self) -> str:
        return str(self._numbers)

    def bind(self, value: Any, key: Key) -> int:
        """The address of the first part; the shape of the array of parts goes to `key`."""
        shape: tuple[int, ...] = getattr(value, "shape", ())
        is_of_parts = len(shape) == len(self.shape) and shape[-1:] == (2,)
        if is_of_parts and self.takes_parts and not _is_complex(value):
            return super().bind(value, key)
        numbers: Key = []
        address = self._numbers.bind(value, numbers)
        (extents,) = numbers
        assert isinstance(extents, tuple)
        if len(extents) != len(self.shape) - 1:
            self._numbers.check_shape(extents)
        key.append((*extents, 2))
        return address

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Compares the shape of an array of numbers, or of parts; raises as that of others."""
        is_of_parts = len(shape) == len(self.shape)
        self._numbers.check_shape(shape[:-1] if is_of_parts else shape)


def _is_complex(value: Any) -> bool:
    return bool(getattr(value.dtype, "is_complex", getattr(value.dtype, "kind", "") == "c"))


@dataclass(eq=False)
class IntegerArgument:
    """An `index` or `iN` scalar; `is_size` says that the code is specialised on its value."""

    place: Place
    element: Element
    is_size: bool

    def __post_init__(self) -> None:
        # Every call asks for these.
        self._smallest, self._largest = self.element.range

    def __str__(self) -> str:
        return f"{self.place.name}: {self.element.name}"

    def bind(self, value: object, key: Key) -> int:
        """The value as an int; goes to `key` when it is a size.

        Raises ArgumentTypeError, ArgumentValueError.
        """
        number = value if type(value) is int else self._to_int(value)
        if not self._smallest <= number <= self._largest:
            raise ArgumentValueError(
                f"{self.place}: {number} does not fit into {self.element.name}, "
                f"which holds {self._smallest} to {self._largest}"
            )
        if self.is_size:
            key.append(self.element.signed_value(number))
        return number

    def _to_int(self, value: object) -> int:
        try:
            return index(value)  # pyright: ignore[reportArgumentType]
        except TypeError:
            raise ArgumentTypeError(
                f"{self.place}: expected an integer, got {_type_name(value)}"
                f"{_scalar_hint(value, 'int')}"
            ) from None


@dataclass(eq=False)
class FloatArgument:
    """A floating-point scalar: a float, an int, or an array or tensor without dimensions."""

    place: Place
    element: Element

    def __post_init__(self) -> None:
        # Every call asks for it.
        self._largest = _LARGEST.get(self.element.name, math.inf)
        self._is_narrow = self.element.is_narrow

    def __str__(self) -> str:
        return f"{self.place.name}: {self.element.name}"

    def bind(self, value: object, key: Key) -> float:
        """The value as C passes it; raises ArgumentTypeError, ArgumentValueError."""
        number = value if type(value) is float else self._to_float(value)
        if self._largest < abs(number) < math.inf:
            name = self.element.name
            raise ArgumentValueError(f"{self.place}: {number} does not fit into {name}")
        return self.element.bits_of(number) if self._is_narrow else number

    def _to_float(self, value: object) -> float:
        if not isinstance(value, Real) and not _is_number_in_memory(value):
            raise ArgumentTypeError(
                f"{self.place}: expected a number, got {_type_name(value)}"
                f"{_scalar_hint(value, 'float')}"
            )
        try:
            return float(value)
        except OverflowError:
            raise ArgumentValueError(
                f"{self.place}: the integer does not fit into {self.element.name}"
            ) from None


def _is_number_in_memory(value: object) -> TypeGuard[SupportsFloat]:
    """Whether the value is an array or tensor with one real number and no dimensions."""
    memory = memory_of(value)
    return (
        memory is not None
        and memory.shape == ()
        and memory.obstacle is None
        and memory.locked in (None, READ_ONLY)
        and isinstance(memory.dtype, np.dtype)
        and memory.dtype.kind in "biuf"
    )


Argument = ArrayArgument | IntegerArgument | FloatArgument


def overlap_of(one: ArrayArgument, other: ArrayArgument) -> OverlappingArguments:
    """The error of two arrays that overlap."""
    written = " and ".join(a.place.name for a in (one, other) if a.writes)
    return OverlappingArguments(
        f"{one.place} and argument {other.place.position + 1} '{other.place.name}' overlap in "
        f"memory, and the kernel writes {written}; pass a copy of one of them"
    )


def _type_name(value: object) -> str:
    kind = type(value)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )


def _scalar_hint(value: object, kind: str) -> str:
    convertible = isinstance(value, str) or hasattr(value, f"__{kind}__")
    return f"; convert it with {kind}(...)" if convertible else ""
