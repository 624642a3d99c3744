"""Loop IR -> LLVM IR: see `translate`.

The names are imported when they are used first: options are known without the translation.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .entry_points import EntryPoint, Status
    from .options import Options
    from .translation import translate

__all__ = ["EntryPoint", "Options", "Status", "translate"]

_HOMES = {
    "EntryPoint": ".entry_points",
    "Options": ".options",
    "Status": ".entry_points",
    "translate": ".translation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value
