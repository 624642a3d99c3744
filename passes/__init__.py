"""Polyhedral analysis, legality, transformations, and schedule search.

The `schedule` dialect has one operation per transformation, so it is completed and registered here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dialects.registry import DIALECTS

if TYPE_CHECKING:
    from xdsl.ir import Dialect


def _schedule() -> Dialect:
    from .syntax.schedule_ops import schedule_dialect

    return schedule_dialect()


DIALECTS["schedule"] = _schedule
