"""Functions of a shared library, with the calling convention of kernels.

Wheels have a copy of this file, and of those that it imports: they need NumPy alone.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from .arguments import Argument, ArrayArgument, IntegerArgument, Key, overlap_of
from .elements import Element
from .errors import ArgumentValueError, OutOfBounds, OutOfMemory
from .openmp_runtime import find_runtime, function_addresses

OUT_OF_MEMORY, OUT_OF_BOUNDS, OVERLAP, WRONG_SUBSCRIPT = 1, 2, 3, 8
"""The statuses that functions return for arguments that pass all other checks."""


@dataclass(frozen=True)
class SharedCode:
    """A shared library, loaded, with the folders of what C and C++ programs need of it.

    `level` is the kind of processors whose code runs (`x86-64-v3`).
    """

    code: ctypes.CDLL
    file: Path
    include: Path
    cmake: Path
    pkgconfig: Path
    level: str

    @classmethod
    def load(
        cls,
        package: Path,
        name: str,
        levels: Sequence[str],
        known: Sequence[str],
        openmp: Sequence[str],
    ) -> SharedCode:
        """Loads the library of a package, which has code for some of the `known` levels.

        `openmp` are the functions of the OpenMP runtime that its parallel loops call: none, if it
        has no parallel loops. Raises ImportError where it cannot run here.
        """
        asked = os.environ.get("LOOPWRIGHT_LEVEL") or None
        if asked is not None and asked not in known:
            raise ImportError(f"{name}: LOOPWRIGHT_LEVEL={asked} is none of {', '.join(known)}")
        file = package / "lib" / f"lib{name}.so"
        try:
            code = ctypes.CDLL(str(file))
        except OSError as error:
            raise ImportError(f"{name}: its library cannot be loaded here: {error}") from error
        query = code[f"{name}_level"]
        query.restype = ctypes.c_char_p
        level = query()
        if level is None:
            limit = "" if asked is None else f", of which LOOPWRIGHT_LEVEL allows {asked} at most"
            raise ImportError(
                f"{name}: there is no code for this processor{limit}; it needs {levels[0]}"
            )
        if openmp:
            _use_runtime(code[f"{name}_use_openmp"], openmp)
        lib = package / "lib"
        return cls(
            code, file, package / "include", lib / "cmake" / name, lib / "pkgconfig", level.decode()
        )


def _use_runtime(use: Any, functions: Sequence[str]) -> None:
    """Parallel loops run on the OpenMP runtime that this process has, or would get."""
    runtime = find_runtime(functions)
    addresses = {} if runtime is None else function_addresses(runtime, functions)
    use.argtypes, use.restype = [ctypes.c_void_p] * len(functions), None
    use(*(addresses.get(name) for name in functions))


class CompiledFunction:
    """A function of a shared library; called with one Python value for each argument.

    `passed` has the dimensions of each array whose extents the machine code takes, in the order of
    the arrays; extents that are known are part of the argument's shape.
    """

    def __init__(
        self,
        library: SharedCode,
        symbol: str,
        arguments: tuple[Argument, ...],
        passed: tuple[tuple[int, ...], ...],
        results: tuple[Element, ...] = (),
    ) -> None:
        self._kernel = arguments[0].place.kernel if arguments else symbol
        self._arguments = arguments
        self._results = results
        dimensions = iter(passed)
        parameters: list[Any] = []
        plan: list[tuple[Any, ArrayArgument | None, tuple[int, ...]]] = []
        for argument in arguments:
            if isinstance(argument, ArrayArgument):
                these = next(dimensions)
                parameters += [ctypes.c_void_p, *[ctypes.c_int64] * len(these)]
                plan.append((argument.bind, argument, these))
            else:
                parameters.append(argument.element.ctype)
                plan.append((argument.bind, None, ()))
        self._plan = tuple(plan)
        self._function = library.code[symbol]
        self._function.argtypes = [*parameters, *[ctypes.c_void_p] * len(results)]
        self._function.restype = ctypes.c_int

    def __call__(self, *args: object) -> Any:
        """Runs the function; raises what a kernel raises."""
        key: Key = []
        values: list[Any] = []
        for value, (bind, array, passed) in zip(args, self._plan, strict=True):
            values.append(bind(value, key))
            if array is not None:
                shape = key[-1]
                assert isinstance(shape, tuple)
                if shape != array.shape:
                    array.check_shape(shape)
                for dimension in passed:
                    values.append(shape[dimension])
        cells = [result.ctype() for result in self._results]
        values += map(ctypes.addressof, cells)
        status = self._function(*values)
        if status:
            self._refuse(status, args)
        if not cells:
            return None
        found = tuple(
            result.to_python(cell.value) for result, cell in zip(self._results, cells, strict=True)
        )
        return found[0] if len(found) == 1 else found

    def _refuse(self, status: int, args: Sequence[object]) -> None:
        """Raises the error that a status stands for."""
        if status == OUT_OF_MEMORY:
            raise OutOfMemory(
                f"{self._kernel}: not enough memory for the arrays that the kernel allocates itself"
            )
        if status == WRONG_SUBSCRIPT:
            raise OutOfBounds(
                f"{self._kernel}: a subscript among the data is outside of its array, called with "
                f"{self._sizes(args)}"
            )
        if status == OVERLAP:
            self._refuse_overlap(args)
        reason = (
            "it would leave an array or 64 bits"
            if status == OUT_OF_BOUNDS
            else f"its machine code refuses the arguments (status {status})"
        )
        raise ArgumentValueError(f"{self._kernel}: {reason}, called with {self._sizes(args)}")

    def _refuse_overlap(self, args: Sequence[object]) -> None:
        found: list[tuple[ArrayArgument, int, int]] = []
        for value, argument in zip(args, self._arguments, strict=True):
            if isinstance(argument, ArrayArgument) and (argument.reads or argument.writes):
                key: Key = []
                start = argument.bind(value, key)
                (shape,) = key
                assert isinstance(shape, tuple)
                found.append((argument, start, start + argument.bytes(shape)))
        for (one, start, end), (other, other_start, other_end) in combinations(found, 2):
            if (one.writes or other.writes) and start < other_end and other_start < end:
                raise overlap_of(one, other)

    def _sizes(self, args: Sequence[object]) -> str:
        """The shapes and integers of a call, for messages."""
        shown: list[str] = []
        for value, argument in zip(args, self._arguments, strict=True):
            key: Key = []
            bound = argument.bind(value, key)
            if isinstance(argument, ArrayArgument):
                shown.append(f"{argument.place.name} of shape {key[0]}")
            elif isinstance(argument, IntegerArgument):
                shown.append(f"{argument.place.name} = {bound}")
        return ", ".join(shown)
