"""Labels from other processes and machines, checked as if a stranger had sent them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import cast

from ..dialects.errors import SourceError
from ..passes.schedules.errors import MalformedTransformation
from ..passes.syntax.pipeline import parse_pipeline
from ..support.typed_values import mismatch
from .labels import Label, LabelledProgram

MOST_TEXT = 1 << 24
"""Characters of a program or schedule."""


class LabelError(ValueError):
    """A label that cannot be right; `str()` says why."""


def checked_labels(labels: object, items: Collection[int]) -> list[LabelledProgram]:
    """Labels of these programs: of the right types, finite, in their ranges; raises LabelError."""
    wrong = mismatch(labels, list[LabelledProgram])
    if wrong is not None:
        raise LabelError(f"no labels: {wrong}")
    found = cast(list[LabelledProgram], labels)
    for labelled in found:
        wrong = next(_mistakes(labelled, items), None)
        if wrong is not None:
            raise LabelError(f"program {labelled.item}: {wrong}")
    return found


def _mistakes(labelled: LabelledProgram, items: Collection[int]) -> Iterator[str]:
    if labelled.item not in items:
        yield "it was not asked for"
    texts = labelled.instance.text, labelled.machine, labelled.compiler
    if any(len(text) > MOST_TEXT for text in texts):
        yield "its text is too long"
    sizes = (*labelled.sizes.values(), *labelled.instance.sizes.values())
    if not all(-(2**63) <= size < 2**63 for size in sizes):
        yield "a size has more than 64 bits"
    if any(not 0 <= seconds < math.inf for seconds in labelled.stages.values()):
        yield "a stage takes no time that can be"
    for label in (*labelled.labels, *(() if labelled.baseline is None else (labelled.baseline,))):
        yield from _mistakes_of(label)


def _mistakes_of(label: Label) -> Iterator[str]:
    if len(label.schedule) > MOST_TEXT:
        yield "a schedule is too long"
        return
    try:
        parse_pipeline(label.schedule)
    except (SourceError, MalformedTransformation) as error:
        yield f"'{label.schedule}' is no schedule: {str(error).splitlines()[0]}"
    for name in ("seconds", "fastest", "baseline_seconds"):
        if not 0 < getattr(label, name) < math.inf:
            yield f"{name} is {getattr(label, name)}"
    for name in ("spread", "compile_seconds", "measured_at"):
        if not 0 <= getattr(label, name) < math.inf:
            yield f"{name} is {getattr(label, name)}"
    if not label.difference >= 0:
        yield f"difference is {label.difference}"
    for name in ("repetitions", "threads"):
        if not 1 <= getattr(label, name) < 2**31:
            yield f"{name} is {getattr(label, name)}"
