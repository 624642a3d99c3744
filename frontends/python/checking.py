"""Checks of a kernel's results against those of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...runtime.calling.array_memory import is_tensor
from .element_types import ArrayType, ElementType
from .translate import Translation

AS_PYTHON: ContextVar[bool] = ContextVar("AS_PYTHON", default=False)
"""Whether kernels that a Python function calls run as Python as well."""

_TOLERANCES = {"bf16": 2e-2, "f16": 2e-3, "f32": 1e-4, "": 1e-11}
"""Differences that rounding explains, by the shortest type in which anything is computed."""


def compare(
    kernel: Callable[..., Any],
    python: Callable[..., Any],
    args: Sequence[Any],
    translation: Translation,
) -> None:
    """Runs both on copies of the arguments; raises AssertionError where results differ."""
    ours, theirs = ([_copy(value) for value in args] for _ in range(2))
    returned = kernel(*ours)
    parameters = translation.parameters
    for position, each in enumerate(parameters):
        if isinstance(each.type, ElementType):
            theirs[position] = each.type(theirs[position])
    token = AS_PYTHON.set(True)
    try:
        with np.errstate(all="ignore"):
            expected = python(*theirs)
    finally:
        AS_PYTHON.reset(token)
    tolerance = next((each for kind, each in _TOLERANCES.items() if kind in translation.text), 0.0)
    for each, one, other in zip(parameters, ours, theirs, strict=True):
        if isinstance(each.type, ArrayType):
            place = f"{translation.name}: {each.name}"
            _same(place, each.type.element.is_float, _array(one), _array(other), tolerance)
    if not translation.returns_tuple:
        returned, expected = (returned,), (expected,)
    for position, (one, other) in enumerate(zip(returned, expected, strict=True)):
        if one is not None or other is not None:
            ours_, theirs_ = np.asarray(one), np.asarray(other)
            place = f"{translation.name}: result {position + 1}"
            if ours_.shape != theirs_.shape or ours_.dtype != theirs_.dtype:
                raise AssertionError(
                    f"{place} is of shape {ours_.shape} and type {ours_.dtype}, but "
                    f"{theirs_.shape} and {theirs_.dtype} in Python"
                )
            _same(place, ours_.dtype.kind in "fc", ours_, theirs_, tolerance)


def _copy(value: Any) -> Any:
    if is_tensor(value):
        return value.clone()  # NumPy has no bfloat16
    return np.array(value) if hasattr(value, "shape") and value.shape != () else value


def _array(value: Any) -> Any:
    if is_tensor(value):
        return value.float().numpy() if value.is_floating_point() else value.numpy()
    return np.asarray(value)


def _same(name: str, floating: bool, ours: Any, theirs: Any, tolerance: float) -> None:
    if floating:
        equal = np.isclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)
        if np.iscomplexobj(theirs):
            # Which infinity or NaN a product has that overflows is decided by what is fused.
            equal |= ~np.isfinite(ours) & ~np.isfinite(theirs)
    else:
        equal = ours == theirs
    if not np.all(equal):
        place = tuple(int(i) for i in np.argwhere(~equal)[0])
        spelled = f"{name}{list(place) if place else ''}"
        raise AssertionError(
            f"{spelled} is {ours[place]}, but {theirs[place]} in Python; "
            f"{np.count_nonzero(~equal)} of {equal.size} elements differ"
        )
