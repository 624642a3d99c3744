"""Names in printed Python: identifiers that hide nothing the printed file uses."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection

MODULE_NAMES = frozenset(
    {"np", "loopwright", "min", "max", "abs", "range", "math"}
    | {f"{kind}{width}" for kind in "fiu" for width in (8, 16, 32, 64)}
)
"""What printed functions use of the module that they are in."""

_ANNOTATIONS = frozenset(("int",))
"""What the annotations of other functions use besides."""


def function_name(name: str, taken: Collection[str]) -> str:
    """The name of a function: its own, unless that is no identifier, is used or taken."""
    base = re.sub(r"\W", "_", name)
    base = base if base.isidentifier() else f"f{base}"
    while keyword.iskeyword(base) or base in MODULE_NAMES | _ANNOTATIONS or base in taken:
        base += "_"
    return base
