"""What can be wrong with training and with models."""

from __future__ import annotations


class LearningError(Exception):
    """Labels or a model that cannot be used; `str()` is one line."""
