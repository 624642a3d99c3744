"""Errors of training and of models."""

from __future__ import annotations

from ...support.user_error import UserError


class LearningError(UserError):
    """Labels or a model that cannot be used; `str()` is one line."""
