"""Errors of datasets."""

from __future__ import annotations

from ...support.user_error import UserError


class DatasetError(UserError):
    """A directory or a shard that cannot be used; `str()` is one line."""


class VersionError(DatasetError):
    """A sound shard of another version of the schema: nothing may be put aside or left out."""
