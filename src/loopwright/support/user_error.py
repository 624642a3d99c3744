"""Base class of user errors."""

from __future__ import annotations


class UserError(Exception):
    """What a user can mend; `str()` is the message."""
