"""The decorator of Python functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...dialects.errors import SourceError
from .captured import Captured
from .python_kernel import PythonKernel
from .source import PythonSource
from .untyped_kernel import UntypedKernel


def kernel(function: Callable[..., Any]) -> PythonKernel:
    """Compiles a Python function over NumPy arrays: `@loopwright.kernel`.

    Each argument is annotated: `int` (a size), `float`, `f64` or another element type, or an array
    such as `f64["N", "N"]`. The function is translated now, with the numbers that names of the
    enclosing scope have now; it is compiled when it is called first with arguments of some shapes.
    Where an argument has no annotation, the types are those of the arguments of each call, and it
    is translated then. Raises SourceError, which points at the Python source.
    """
    if not inspect.isfunction(function):
        raise TypeError(f"loopwright.kernel: expected a function, got {function!r}")
    try:
        names = Captured.of(function).names
        kind = PythonKernel if is_annotated(function) else UntypedKernel
        return kind(function, PythonSource.of(function), names)
    except SourceError as error:
        raise error.with_traceback(None) from None  # the user's mistake, not a fault of ours
    except RecursionError:
        raise SourceError(f"the function '{function.__name__}' is nested too deeply") from None


def is_annotated(function: Callable[..., Any]) -> bool:
    """Whether all arguments of a function have annotations."""
    annotations = getattr(function, "__annotations__", {})
    return all(name in annotations for name in inspect.signature(function).parameters)
