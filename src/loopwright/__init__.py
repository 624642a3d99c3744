"""loopwright: a polyhedral, MLIR-style compiler for loop nests on multi-core CPUs.

    import loopwright

    gemm = loopwright.load("gemm.mlir")["gemm"].compile(
        schedule="tile{loops=i,j sizes=32,32},parallel{loops=it}", threads=2
    )
    gemm(1.5, 1.2, C, A, B)

The names below are imported when they are used first, so that `import loopwright` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .support.version import __version__

if TYPE_CHECKING:
    from . import errors
    from .frontends.c.drop_in import drop_in
    from .frontends.loading import load
    from .frontends.python import (
        PythonKernel,
        b1,
        bf16,
        bfloat16,
        c64,
        c128,
        f16,
        f32,
        f64,
        i8,
        i16,
        i32,
        i64,
        kernel,
        prange,
        u8,
        u16,
        u32,
        u64,
    )
    from .passes.machine.target import Target
    from .passes.schedules.schedule import Schedule
    from .runtime.jit.registered_functions import register_function
    from .runtime.kernel import Kernel
    from .runtime.program import Program
    from .runtime.verifying.verify import verify
    from .session.session import Session

__all__ = [
    "Kernel",
    "Program",
    "PythonKernel",
    "Schedule",
    "Session",
    "Target",
    "__version__",
    "b1",
    "bf16",
    "bfloat16",
    "c64",
    "c128",
    "drop_in",
    "errors",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "kernel",
    "load",
    "prange",
    "register_function",
    "u8",
    "u16",
    "u32",
    "u64",
    "verify",
]

_HOMES = {
    "Kernel": ".runtime.kernel",
    "Program": ".runtime.program",
    "PythonKernel": ".frontends.python",
    "Schedule": ".passes.schedules.schedule",
    "Session": ".session.session",
    "Target": ".passes.machine.target",
    "drop_in": ".frontends.c.drop_in",
    "b1": ".frontends.python",
    "bf16": ".frontends.python",
    "bfloat16": ".frontends.python",
    "f16": ".frontends.python",
    "f32": ".frontends.python",
    "c64": ".frontends.python",
    "c128": ".frontends.python",
    "f64": ".frontends.python",
    "i8": ".frontends.python",
    "i16": ".frontends.python",
    "i32": ".frontends.python",
    "i64": ".frontends.python",
    "kernel": ".frontends.python",
    "load": ".frontends.loading",
    "prange": ".frontends.python",
    "register_function": ".runtime.jit.registered_functions",
    "u8": ".frontends.python",
    "u16": ".frontends.python",
    "u32": ".frontends.python",
    "u64": ".frontends.python",
    "verify": ".runtime.verifying.verify",
}


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module(".errors", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
