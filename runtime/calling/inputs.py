"""Construction of arguments from settings: sizes, scalars, files, random numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...support.summaries import shortened
from ...support.user_error import UserError
from .arguments import ArrayArgument, FloatArgument, IntegerArgument
from .elements import dtype_name, stored
from .signature import Signature

if TYPE_CHECKING:
    from ...passes.polyhedral.scop import Scop

Array = NDArray[np.generic]

_AVAILABLE = "MemAvailable:"


class InputError(UserError):
    """Inconsistent settings; `str()` is one line."""


@dataclass(frozen=True)
class Settings:
    """User settings: values by name (of integers, floats, extents) and arrays by name."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    arrays: Mapping[str, Array] = field(default_factory=dict[str, Array])
    seed: int = 0


def load_array(path: Path) -> Array:
    """Reads a `.npy` file; raises InputError."""
    try:
        with path.open("rb") as file:
            array: object = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else "it ends too early"
        raise InputError(f"cannot read {path}: not a .npy file ({reason})") from error
    assert isinstance(array, np.ndarray)
    return np.ascontiguousarray(array).reshape(array.shape)


def make_arguments(scop: Scop, signature: Signature, settings: Settings) -> list[object]:
    """One value for each argument: what the settings say, else random numbers of the right shape.

    Extents that are not given are inferred from the accesses. Floats are drawn from [0, 1),
    integers from 1 to 99, those that are subscripts below the extents. Raises InputError.
    """
    # The compiler, which arguments that are all given do not need.
    from ...passes.polyhedral.extents import infer_extents
    from ...passes.polyhedral.index_arrays import index_arrays

    _check_names(scop, signature, settings)
    sizes = infer_extents(scop, _given_sizes(scop, signature, settings))
    shapes = {
        array.argument: tuple(
            extent if isinstance(extent, int) else _extent(scop, signature, sizes, extent)
            for extent in array.shape
            if isinstance(extent, int | str)
        )
        for array in scop.arrays
        if array.argument is not None
    }
    largest = {
        argument: min(shapes[target][dimension] for target, dimension in pointed) - 1
        for argument, pointed in index_arrays(scop).items()
    }
    _check_memory(sum(array.bytes(shapes[array.place.position]) for array in _arrays(signature)))
    random = np.random.default_rng(settings.seed)
    values: list[object] = []
    for argument in signature.arguments:
        name = argument.place.name
        match argument:
            case ArrayArgument():
                given = settings.arrays.get(name)
                if given is None:
                    position = argument.place.position
                    highest = largest.get(position, 99)
                    given = _random_array(random, argument, shapes[position], highest)
                values.append(given)
            case IntegerArgument(is_size=True):
                values.append(_extent(scop, signature, sizes, name))
            case IntegerArgument():
                drawn = int(random.integers(*_integer_range(argument), endpoint=True))
                text = settings.values.get(name)
                values.append(drawn if text is None else _integer(name, text))
            case FloatArgument():
                text = settings.values.get(name)
                values.append(random.random() if text is None else _float(name, text))
    return values


def given_arguments(signature: Signature, settings: Settings) -> list[object] | None:
    """The arguments where the settings say them all and nothing else; raises InputError."""
    names = [argument.place.name for argument in signature.arguments]
    if sorted(names) != sorted((*settings.values, *settings.arrays)):
        return None
    values: list[object] = []
    for name, argument in zip(names, signature.arguments, strict=True):
        if isinstance(argument, ArrayArgument):
            if name not in settings.arrays:
                return None
            _check_array(argument, settings.arrays[name])
            values.append(settings.arrays[name])
        elif name not in settings.values:
            return None
        else:
            kind = _integer if isinstance(argument, IntegerArgument) else _float
            values.append(kind(name, settings.values[name]))
    _check_memory(sum(array.nbytes for array in settings.arrays.values()))
    return values


def _arrays(signature: Signature) -> list[ArrayArgument]:
    return [a for a in signature.arguments if isinstance(a, ArrayArgument)]


def _extents(scop: Scop) -> list[str]:
    return [
        extent
        for array in scop.arrays
        if array.argument is not None
        for extent in array.shape
        if isinstance(extent, str)
    ]


def settable(scop: Scop, signature: Signature) -> list[str]:
    """Names of the scalars and of the extents of arrays."""
    arrays = [array.place.name for array in _arrays(signature)]
    scalars = [a.place.name for a in signature.arguments if a.place.name not in arrays]
    return [*scalars, *_extents(scop)]


def _check_names(scop: Scop, signature: Signature, settings: Settings) -> None:
    arrays = [array.place.name for array in _arrays(signature)]
    known = settable(scop, signature)
    for name in settings.values:
        if name not in known:
            raise InputError(
                f"{scop.name} has no scalar or size '{name}' to set; "
                f"there are {', '.join(known) or 'none'}"
            )
    for name in settings.arrays:
        if name not in arrays:
            raise InputError(
                f"{scop.name} has no array '{name}'; there are {', '.join(arrays) or 'none'}"
            )


def _given_sizes(scop: Scop, signature: Signature, settings: Settings) -> dict[str, int]:
    sizes = {
        argument.place.name: _integer(argument.place.name, settings.values[argument.place.name])
        for argument in signature.arguments
        if isinstance(argument, IntegerArgument) and argument.place.name in settings.values
    }
    for extent in _extents(scop):
        if extent in settings.values:
            sizes[extent] = _integer(extent, settings.values[extent])
            if sizes[extent] < 0:
                raise InputError(f"the size {extent} must not be negative, got {sizes[extent]}")
    for array in scop.arrays:
        given = settings.arrays.get(array.name)
        if array.argument is None or given is None:
            continue
        _check_array(_argument(signature, array.argument), given)
        for dimension, extent in enumerate(array.shape):
            if not isinstance(extent, str):
                continue
            if sizes.setdefault(extent, given.shape[dimension]) != given.shape[dimension]:
                raise InputError(
                    f"the size {extent} is {sizes[extent]}, but dimension {dimension} of the array "
                    f"given for '{array.name}' has {given.shape[dimension]} elements"
                )
    return sizes


def _argument(signature: Signature, position: int) -> ArrayArgument:
    argument = signature.arguments[position]
    assert isinstance(argument, ArrayArgument)
    return argument


def _check_array(argument: ArrayArgument, given: Array) -> None:
    if given.dtype not in argument.element.dtypes:
        raise InputError(
            f"the array for '{argument.place.name}' has elements of type "
            f"{dtype_name(given.dtype)}, "
            f"expected {dtype_name(argument.element.dtype)}"
        )
    expected = [f"{'?' if extent is None else extent}" for extent in argument.shape]
    matches = len(given.shape) == len(argument.shape) and all(
        extent in (None, size) for extent, size in zip(argument.shape, given.shape, strict=True)
    )
    if not matches:
        raise InputError(
            f"the array for '{argument.place.name}' has shape {given.shape}, "
            f"expected ({', '.join(expected)})"
        )


def _extent(scop: Scop, signature: Signature, sizes: Mapping[str, int], name: str) -> int:
    if name in sizes:
        return sizes[name]
    unknown = [p.name for p in scop.parameters if p.name not in sizes] or [name]
    raise InputError(
        f"the size{'s' if len(unknown) > 1 else ''} {', '.join(unknown)} of {scop.name} "
        f"must be known; add {' '.join(f'--set {name}=...' for name in unknown)}"
    )


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"'{name}' must be an integer, got '{shortened(text)}'") from None


def _float(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"'{name}' must be a number, got '{shortened(text)}'") from None


def _random_array(
    random: np.random.Generator, argument: ArrayArgument, shape: tuple[int, ...], largest: int
) -> Array:
    element = argument.element
    try:
        if element.bits is None:
            return stored(np.asarray(random.random(shape)), element.dtype)
        low, high = _integer_range(argument)
        high = max(min(high, largest), 0)
        low = min(low, high)
        return np.asarray(random.integers(low, high, shape, endpoint=True), element.dtype)
    except (ValueError, OverflowError):
        raise InputError(
            f"an array of shape {shape} for '{argument.place.name}' is too large"
        ) from None


def _integer_range(argument: ArrayArgument | IntegerArgument) -> tuple[int, int]:
    """What random integers are drawn from; without zero, by which programs may divide."""
    return (0, 1) if argument.element.bits == 1 else (1, 99)


def _check_memory(needed: int) -> None:
    """Refuses arrays that the machine has no memory for, before it starts to swap."""
    available = available_memory()
    # The arrays, a copy for the reference and one for the results.
    if 3 * needed > available:
        # Sizes of hundreds of digits are no floats.
        raise InputError(
            f"three copies of the arrays need {min(3 * needed, 2**100) / 2**30:,.1f} GiB, "
            f"and {available / 2**30:,.1f} GiB are available; choose smaller sizes"
        )


def available_memory() -> float:
    """Bytes that can be had without swapping; infinite where the system does not tell."""
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return math.inf
    found = [line.split()[1] for line in text.splitlines() if line.startswith(_AVAILABLE)]
    return int(found[0]) * 1024 if found else math.inf
