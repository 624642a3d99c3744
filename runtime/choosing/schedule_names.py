"""Names of the schedules that are chosen for given sizes."""

from __future__ import annotations

DEFAULT = "default"
"""The schedule that is chosen for the sizes: by the estimate, and a model where it is sure."""

RULES = "rules"
"""The same by the analytical estimate alone."""

AUTO = "auto"
"""The schedule that tuning has found for the sizes, else one that needs no run."""

CHOSEN = (DEFAULT, RULES, AUTO)
"""Schedules that depend on the sizes."""
