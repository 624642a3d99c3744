"""Errors of training and of models."""

from __future__ import annotations


class LearningError(Exception):
    """Labels or a model that cannot be used; `str()` is one line."""
