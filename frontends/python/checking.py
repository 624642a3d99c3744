"""Checks of a kernel's calls: declared extents, and results against those of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...runtime.calling.errors import ArgumentValueError
from .element_types import ArrayType, ElementType
from .translate import Parameter, Translation

_TOLERANCE = 1e-11
_TOLERANCE_SINGLE = 1e-4
"""Differences that rounding explains; the second where anything is computed in f32."""


@dataclass(frozen=True)
class Extents:
    """Which numbers the annotations say to be equal: arguments, and extents of arrays.

    Each group has a name, and positions of arguments with the dimension (None for the number
    itself).
    """

    kernel: str
    groups: tuple[tuple[str, tuple[tuple[int, int | None], ...]], ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, kernel: str, parameters: Sequence[Parameter]) -> Extents:
        """What the annotations of the parameters say."""
        uses: dict[str, list[tuple[int, int | None]]] = {}
        for position, each in enumerate(parameters):
            if each.type is int:
                uses.setdefault(each.name, []).insert(0, (position, None))
            elif isinstance(each.type, ArrayType):
                for dimension, extent in enumerate(each.type.extents):
                    if isinstance(extent, str):
                        uses.setdefault(extent, []).append((position, dimension))
        groups = tuple((name, tuple(each)) for name, each in uses.items() if len(each) > 1)
        return cls(kernel, groups, tuple(each.name for each in parameters))

    def check(self, args: Sequence[Any]) -> None:
        """Raises ArgumentValueError where they differ; what is no array is left to the kernel."""
        if len(args) != len(self.names):
            return
        try:
            for name, uses in self.groups:
                first = None
                for position, dimension in uses:
                    value = args[position]
                    found = value if dimension is None else value.shape[dimension]
                    if first is None:
                        first = found
                    elif found != first:
                        self._refuse(name, uses, args)
        except (AttributeError, IndexError, TypeError):
            return

    def _refuse(
        self, name: str, uses: Sequence[tuple[int, int | None]], args: Sequence[Any]
    ) -> None:
        parts = [
            f"{self.names[position]} is {args[position]}"
            if dimension is None
            else f"{self.names[position]}.shape[{dimension}] is {args[position].shape[dimension]}"
            for position, dimension in uses
        ]
        raise ArgumentValueError(
            f"{self.kernel}: the extents called '{name}' differ: {', '.join(parts)}"
        )


def compare(
    kernel: Callable[..., Any],
    python: Callable[..., Any],
    args: Sequence[Any],
    translation: Translation,
) -> None:
    """Runs both on copies of the arguments; raises AssertionError where results differ."""
    ours, theirs = ([_copy(value) for value in args] for _ in range(2))
    kernel(*ours)
    parameters = translation.parameters
    for position, each in enumerate(parameters):
        if isinstance(each.type, ElementType):
            theirs[position] = each.type(theirs[position])
    with np.errstate(all="ignore"):
        python(*theirs)
    tolerance = _TOLERANCE_SINGLE if "f32" in translation.text else _TOLERANCE
    for each, one, other in zip(parameters, ours, theirs, strict=True):
        if isinstance(each.type, ArrayType):
            place = f"{translation.name}: {each.name}"
            _same(place, each.type, np.asarray(one), np.asarray(other), tolerance)


def _copy(value: Any) -> Any:
    return np.array(value) if hasattr(value, "shape") and value.shape != () else value


def _same(name: str, kind: ArrayType, ours: Any, theirs: Any, tolerance: float) -> None:
    if kind.element.is_float:
        equal = np.isclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)
    else:
        equal = ours == theirs
    if not np.all(equal):
        place = tuple(int(i) for i in np.argwhere(~equal)[0])
        raise AssertionError(
            f"{name}{list(place)} is {ours[place]}, but {theirs[place]} in Python; "
            f"{np.count_nonzero(~equal)} of {equal.size} elements differ"
        )
