"""The decorator of Python functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, overload

from ...dialects.errors import SourceError
from ...runtime.calling.api_checks import check_flags
from .captured import Captured
from .parameters import is_open
from .python_kernel import PythonKernel
from .source import PythonSource
from .untyped_kernel import UntypedKernel


@overload
def kernel(function: Callable[..., Any], *, copy: bool = False) -> PythonKernel: ...


@overload
def kernel(*, copy: bool = False) -> Callable[[Callable[..., Any]], PythonKernel]: ...


def kernel(
    function: Callable[..., Any] | None = None, *, copy: bool = False
) -> PythonKernel | Callable[[Callable[..., Any]], PythonKernel]:
    """Compiles a Python function over NumPy arrays: `@loopwright.kernel`.

    Each argument is annotated: `int` (a size), `float`, `f64` or another element type, or an array
    such as `f64["N", "N"]`. The function is translated now, with the numbers that names of the
    enclosing scope have now; it is compiled when it is called first with arguments of some shapes.
    Where an argument has no annotation, or `np.ndarray`, the types are those of the arguments of
    each call, and it is translated then. Arrays may lie in memory with their dimensions in any
    order, and with gaps; with `copy`, calls copy those that code cannot be made for, and copy
    results back. Raises SourceError, which points at the Python source.
    """
    check_flags("loopwright.kernel", copy=copy)
    if function is None:
        return partial(kernel, copy=copy)
    if not inspect.isfunction(function):
        raise TypeError(f"loopwright.kernel: expected a function, got {function!r}")
    try:
        names = Captured.of(function).names
        kind = PythonKernel if is_annotated(function) else UntypedKernel
        return kind(function, PythonSource.of(function), names, copy=copy)
    except SourceError as error:
        raise error.with_traceback(None) from None  # the user's mistake, not a fault of ours
    except RecursionError:
        raise SourceError(f"the function '{function.__name__}' is nested too deeply") from None


def is_annotated(function: Callable[..., Any]) -> bool:
    """Whether all arguments of a function have annotations."""
    annotations = getattr(function, "__annotations__", {})
    return not any(is_open(annotations.get(n)) for n in inspect.signature(function).parameters)
