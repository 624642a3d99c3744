"""Schedule text formats, and their detection."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp

from ...dialects.errors import SourceError
from ...dialects.parse import parse_module
from ...dialects.schedule import SequenceOp
from ..schedules.schedule import Schedule
from .compact_notation import apply_notation, is_notation
from .pipeline import parse_pipeline
from .schedule_ops import apply_sequence

_SEQUENCE = re.compile(r"\bschedule\.sequence\b")


def apply_text(text: str, schedule: Schedule) -> Schedule:
    """The schedule after a text: a pipeline, the compact notation, or a `schedule.sequence`.

    The last may be in a module with other functions and schedules. Raises SourceError,
    TransformationError.
    """
    if _SEQUENCE.search(text):
        module = parse_module(text, "<schedule>")
        return apply_sequence(_find(module, schedule.program.name), schedule)
    if is_notation(text):
        return apply_notation(text, schedule)
    return schedule.apply_all(parse_pipeline(text))


def _find(module: ModuleOp, function: str) -> SequenceOp:
    sequences = [op for op in module.ops if isinstance(op, SequenceOp)]
    names = [op.function.root_reference.data for op in sequences]
    found = [op for op, name in zip(sequences, names, strict=True) if name == function]
    if not found:
        listing = ", ".join(f"@{name}" for name in names) or "none"
        raise SourceError(f"there is no schedule of @{function}; there is one of {listing}")
    if len(found) > 1:
        raise SourceError.at(found[1], f"there is already a schedule of @{function}")
    return found[0]
