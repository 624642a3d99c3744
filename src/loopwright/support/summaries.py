"""`repr` of objects with much in them: the class and a summary, in one line."""

from __future__ import annotations

MOST = 200
"""Characters of a summary; of longer ones, the beginning and the end are shown."""


def summary(thing: object, text: str) -> str:
    """`<Class text>`, in one line of limited length."""
    return f"<{type(thing).__name__} {shortened(text)}>"


def shortened(text: str, most: int = MOST) -> str:
    """A text in one line, without its middle where it is long."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    half = (most - 5) // 2
    return f"{line[:half]} ... {line[-half:]}"
