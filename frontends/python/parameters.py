"""Arguments of a Python function, and the types that they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_origin

import numpy as np

from ...dialects.marks import UNSIGNED
from .element_types import ArrayType, ElementType


@dataclass(frozen=True)
class FixedSize:
    """The type of an integer argument that has one value."""

    value: int


_NUMBERS: dict[object, str] = {complex: "complex<f64>", float: "f64"}

ParameterType = type[int] | type[float] | type[complex] | ElementType | ArrayType | FixedSize


@dataclass(frozen=True)
class Parameter:
    """An argument: `int` is a size, `float` and `complex` a number of Python."""

    name: str
    type: ParameterType

    def __str__(self) -> str:
        kind = self.type.__name__ if isinstance(self.type, type) else str(self.type)
        return f"{self.name}: {kind}"

    @property
    def mlir(self) -> str:
        """The type in the text, with the sign."""
        if isinstance(self.type, ArrayType | ElementType):
            return with_sign(self.type.mlir, self.type)
        return _NUMBERS.get(self.type, "index")


_ANY_ARRAY = ("np.ndarray", "numpy.ndarray", "NDArray", "npt.NDArray", "ndarray", "Any")
"""Annotations, as texts, that say no more than that there is an argument."""


def is_open(annotation: object) -> bool:
    """Whether an annotation leaves the type to each call: `np.ndarray`, or none."""
    if isinstance(annotation, str):
        return annotation.partition("[")[0].strip() in _ANY_ARRAY
    return annotation in (None, Any, np.ndarray) or get_origin(annotation) is np.ndarray


def fixed_types(parameters: Sequence[Parameter], args: Sequence[Any]) -> dict[str, ParameterType]:
    """The types of parameters for these sizes alone."""
    found: dict[str, ParameterType] = {}
    for each, value in zip(parameters, args, strict=True):
        kind = each.type
        if isinstance(kind, ArrayType):
            kind = ArrayType(kind.element, tuple(int(extent) for extent in value.shape))
        elif kind is int:
            kind = FixedSize(int(value))
        found[each.name] = kind
    return found


def with_sign(mlir: str, kind: ArrayType | ElementType) -> str:
    """A type of an argument or result in the text, which has no sign of its own."""
    element = kind.element if isinstance(kind, ArrayType) else kind
    has_sign = not element.is_unsigned or element.is_truth
    return mlir if has_sign else f"{mlir} {{{UNSIGNED}}}"
