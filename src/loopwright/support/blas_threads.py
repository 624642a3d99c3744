"""One thread for NumPy's BLAS.

Matrices of small networks are small: threads take longer to meet than to compute, and far longer
where other programs run as well, as idle ones spin.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_limits: list[Any] = []
"""The limit in force, once for each block that is inside: there is one for the whole process."""


@contextmanager
def one_blas_thread() -> Generator[None]:
    """Limits OpenBLAS to one thread; the last of several threads that are inside undoes it."""
    with _lock:
        _limits.append(_limits[-1] if _limits else _controller().limit(limits=1))
    try:
        yield
    finally:
        with _lock:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()


@cache
def _controller() -> Any:
    return ThreadpoolController().select(internal_api="openblas")
