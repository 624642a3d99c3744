"""What `schedule="rules"`, `"default"` and `"auto"` mean for known sizes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ...passes.default.default_schedule import default_schedule
from ...passes.machine.target import Target
from ...passes.schedules.schedule import Schedule
from ..jit.source import Subject
from .auto import auto_schedule
from .database import Question
from .default import default_choice


def by_estimate(
    subject: Subject, sizes: Mapping[str, int], target: Target, threads: int, *, fast_math: bool
) -> Schedule:
    """`"rules"`: the analytical choice; raises SourceError."""
    return default_schedule(
        subject.scop, sizes, target=target, threads=threads, reassociate=fast_math
    )


def by_model(
    subject: Subject, sizes: Mapping[str, int], target: Target, threads: int, *, fast_math: bool
) -> Schedule:
    """`"default"`: a learned model has a say; raises SourceError."""
    original = Schedule.original(subject.scop, target, reassociate=fast_math)
    return default_choice(original, str(subject.module), sizes, threads)


def by_tuning(
    subject: Subject, sizes: Mapping[str, int], target: Target, threads: int, *, fast_math: bool
) -> Schedule:
    """`"auto"`: what tuning has found, or what needs no run; raises SourceError, LearningError."""
    original = Schedule.original(subject.scop, target, reassociate=fast_math)
    usual = partial(default_choice, original, str(subject.module), sizes, threads)
    question = Question.of(subject.function, sizes, target, threads=threads, fast_math=fast_math)
    return auto_schedule(original, question, usual)


CHOICES = {"rules": by_estimate, "default": by_model, "auto": by_tuning}
"""By the name that a schedule is asked for with."""
