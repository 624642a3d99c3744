"""What the checker says of certificates, and of those with a line changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import islpy as isl

from loopwright.certificate import Check


def rejection(data: Mapping[str, Any]) -> str | None:
    """Why the checker rejects a certificate; None where it accepts it."""
    try:
        Check(data).run()
    except (ValueError, LookupError, isl.Error) as error:
        return str(error) or "rejected"
    return None


def mutants(lines: Sequence[str], pattern: str, other: str) -> Iterator[tuple[str, list[str]]]:
    """The lines with one of them changed, for each that matches; and what was changed."""
    for number, line in enumerate(lines):
        changed = re.sub(pattern, other, line, count=1)
        if changed != line:
            yield f"{line} -> {changed}", [*lines[:number], changed, *lines[number + 1 :]]
