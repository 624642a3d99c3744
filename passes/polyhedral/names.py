"""Identifiers for loops, parameters, arrays and statements that isl and people can read."""

from __future__ import annotations

import re
from collections.abc import Container

# Words that have a meaning in isl's text format, in any case.
_RESERVED = frozenset(
    [
        "and",
        "ceil",
        "ceild",
        "exists",
        "false",
        "floor",
        "floord",
        "implies",
        "infinity",
        "infty",
        "max",
        "min",
        "mod",
        "nan",
        "not",
        "or",
        "rat",
        "true",
    ]
)


def identifier(hint: str | None, default: str, taken: Container[str] = ()) -> str:
    """A valid identifier made of `hint`, else `default`; digits are appended while it is taken."""
    base = re.sub(r"\W", "_", hint or default, flags=re.ASCII)
    if not base[:1].isalpha():
        base = f"{default.rstrip('0123456789')}{base}"
    name, number = base, 2
    separator = "_" if base[-1].isdigit() else ""
    while name in taken or name.lower() in _RESERVED:
        name, number = f"{base}{separator}{number}", number + 1
    return name
