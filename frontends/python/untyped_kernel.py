"""Python functions without annotations: kernels for the types of their arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...dialects.errors import SourceError
from ...runtime.calling.array_memory import memory_of
from ...runtime.calling.errors import ArgumentTypeError
from .checking import AS_PYTHON
from .element_types import ELEMENT_TYPES, ArrayType, ElementType, element_type
from .layouts import Order
from .parameters import FixedSize, ParameterType
from .python_kernel import PythonKernel
from .source import PythonSource
from .strides import Strided
from .translate import Translation

if TYPE_CHECKING:
    from ...passes.search.result import Result

_ELEMENTS = {np.dtype(each.numpy): each for each in ELEMENT_TYPES}


class UntypedKernel(PythonKernel):
    """A kernel that takes the types of its arguments from its calls.

    It is translated for each combination of element types, ranks, and extents that are equal or 1.
    Until the first call, or `typed`, it has no text.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        source: PythonSource,
        names: Mapping[str, Any],
        types: Mapping[str, ParameterType] | None = None,
        copy: bool = False,
        orders: Mapping[str, Order] | None = None,
        layouts: Mapping[str, Strided] | None = None,
    ) -> None:
        self._variants: dict[tuple[object, ...], PythonKernel | SourceError] = {}
        self._shapes: dict[tuple[object, ...], PythonKernel] = {}
        self._last: PythonKernel | None = None
        super().__init__(function, source, names, types, copy, orders, layouts)

    def _translate(self) -> Translation | None:
        self._source.parse()
        return None

    def _used(self) -> Mapping[str, object]:
        names = (node.id for node in ast.walk(self._source.parse()) if isinstance(node, ast.Name))
        return {name: self._names[name] for name in names if name in self._names}

    @property
    def translation(self) -> Translation:
        """That for the types of the last call; raises SourceError before the first one."""
        return self._latest().translation

    @property
    def function(self) -> Any:
        """That for the types of the last call; raises SourceError before the first one."""
        return self._latest().function

    @property
    def parameter_types(self) -> Mapping[str, ParameterType]:
        """None: a call inside of another kernel takes arguments of any type."""
        return {}

    def _latest(self) -> PythonKernel:
        if self._last is None:
            name = self.python.__name__
            raise SourceError(
                f"the types of the arguments of '{name}' are not known yet",
                hint=f"annotate them, call {name} first, or use {name}.typed(...)",
            )
        return self._last

    def typed(self, *args: object, **named: object) -> PythonKernel:
        """The kernel for the types of these arguments, translated if need be; runs nothing.

        Raises SourceError, ArgumentTypeError.
        """
        args = self._positional(args, named)
        key = tuple(
            (value.dtype, value.shape) if type(value) is np.ndarray else type(value)
            for value in args
        )
        found = self._shapes.get(key)
        if found is None:
            found, of_sizes = self._variant(args)
            plain = all(isinstance(each, tuple) or not hasattr(each, "shape") for each in key)
            if plain and not of_sizes:
                self._remember(key, found)
        self._last = found
        return found

    def _variant(self, args: tuple[object, ...]) -> tuple[PythonKernel, bool]:
        """The kernel for arguments, and whether it is for these sizes alone.

        That is so only where shapes are not known to agree otherwise. Raises SourceError.
        """
        with self._lock:
            found = self._translated(args, sizes=False)
            if isinstance(found, PythonKernel):
                return found, False
            sized = self._translated(args, sizes=True)
            if isinstance(sized, PythonKernel):
                return sized, True
        raise (sized if _is_behind(sized, found) else found).with_traceback(None)

    def _translated(self, args: tuple[object, ...], *, sizes: bool) -> PythonKernel | SourceError:
        """The kernel, or why there is none."""
        names = tuple(self._signature.parameters)
        types = _types(self.python.__name__, names, args, sizes=sizes)
        exact = tuple(types.items())
        found = self._variants.get(exact)
        if found is None:
            for other in self._variants.values():
                if isinstance(other, PythonKernel):
                    other.check_records()
            try:
                found = PythonKernel(self.python, self._source, self._names, types, self._copy)
            except SourceError as error:
                found = error
            self._variants[exact] = found
        return found

    def _remember(self, key: tuple[object, ...], found: PythonKernel) -> None:
        """Keeps the answer for these shapes; not for arrays of other libraries."""
        if len(self._shapes) >= 256:
            self._shapes.clear()
        self._shapes[key] = found

    def explain(self, *args: object, threads: int | None = None, fast_math: bool = False) -> str:
        """Text on the loops for the types of these arguments; see `PythonKernel.explain`."""
        args = self._positional(args, {})
        return self.typed(*args).explain(*args, threads=threads, fast_math=fast_math)

    def tune(self, *args: object, **options: Any) -> Result:
        """Searches for a faster schedule for arguments like these; see `PythonKernel.tune`."""
        args = self._positional(args, {})
        return self.typed(*args).tune(*args, **options)

    def check(self, *args: object, **named: object) -> None:
        """Runs the kernel for these types and the Python function on copies of the arguments."""
        args = self._positional(args, named)
        self.typed(*args).check(*args)

    def __call__(self, *args: object, **named: object) -> Any:
        """Runs the kernel for the types of the arguments."""
        if AS_PYTHON.get():
            return self.python(*args, **named)
        args = self._positional(args, named)
        return self.typed(*args)(*args)

    def __repr__(self) -> str:
        return f"<PythonKernel {self.python.__name__}({', '.join(self._signature.parameters)})>"


@dataclass(frozen=True)
class _Array:
    element: ElementType
    shape: tuple[int, ...]


def _types(
    kernel: str, names: Sequence[str], args: Sequence[object], *, sizes: bool
) -> dict[str, ParameterType]:
    """The types of arguments; extents of arrays that are equal have one name.

    With `sizes`, extents and integers are fixed.
    """
    found: dict[str, ParameterType] = {}
    extents: dict[int, str] = {}
    for name, value in zip(names, args, strict=True):
        kind = _kind(value)
        if kind is None:
            raise ArgumentTypeError(
                f"{kernel}: the argument '{name}' is {_spelled(value)}; a kernel takes "
                "integers, numbers, and NumPy arrays and tensors of numbers"
            )
        if isinstance(kind, _Array):
            spelled = tuple(
                extent
                if sizes or extent == 1
                else extents.setdefault(extent, f"{name}.shape.{dimension}")
                for dimension, extent in enumerate(kind.shape)
            )
            kind = ArrayType(kind.element, spelled)
        elif sizes and isinstance(value, int):
            kind = FixedSize(int(value))
        found[name] = kind
    return found


def _is_behind(one: SourceError, other: SourceError) -> bool:
    """Whether an error is at a later place: what is before that is right where sizes are known."""
    places = [(each.location.line, each.location.column) for each in (one, other) if each.location]
    return len(places) == 2 and places[0] > places[1]


def _spelled(value: object) -> str:
    kind = getattr(value, "dtype", None)
    return type(value).__name__ if kind is None else f"{type(value).__name__} of {kind}"


def _kind(value: object) -> type[int] | type[float] | type[complex] | ElementType | _Array | None:
    if type(value) in (int, bool):
        return int
    if type(value) is float:
        return float
    if type(value) is complex:
        return complex
    if isinstance(value, np.generic):
        return element_type(type(cast(object, value)))
    memory = memory_of(value)
    if memory is None or not isinstance(memory.dtype, np.dtype):
        return None
    element = _ELEMENTS.get(memory.dtype)
    return None if element is None else _Array(element, memory.shape)
