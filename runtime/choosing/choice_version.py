"""Versions of the choice of default schedules, without making one."""

from __future__ import annotations

from ...costmodel.deciding_model import DecidingModel, deciding_model

ANALYTICAL = "analytical"
"""The version of no model."""


def choice_version(function: str, threads: int) -> str:
    """What tells code for default schedules apart, besides the module, the sizes and the target."""
    version = model_version(deciding_model())
    return f"default schedule of {function} for {threads} threads by {version}"


def model_version(deciding: DecidingModel | None) -> str:
    """The version of the model that has a say."""
    return ANALYTICAL if deciding is None else deciding.version
