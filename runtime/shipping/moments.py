"""The moment of a reproducible build."""

from __future__ import annotations

import os

from ..calling.errors import BuildError

_VARIABLE = "SOURCE_DATE_EPOCH"
_LAST = 4354819198
"""2107-12-31, behind which zip files know no times."""


def given_moment() -> int | None:
    """The seconds since 1970 that the user says; None where nothing is said. Raises BuildError."""
    text = os.environ.get(_VARIABLE)
    if not text:
        return None
    if not text.isdecimal() or int(text) > _LAST:
        raise BuildError(f"{_VARIABLE} is a number of seconds since 1970, not '{text}'")
    return int(text)
