"""The mark of opaque statements: functions that raising outlines, and their calls."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import Operation

OPAQUE = "loopwright.opaque"
"""The attribute of outlined functions and of their calls."""


def is_opaque(operation: Operation) -> bool:
    """Whether an operation is the call of an outlined function."""
    return isinstance(operation, func.CallOp) and OPAQUE in operation.attributes
