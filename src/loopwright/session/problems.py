"""Errors of calls as data: code, message, place, remedy."""

from __future__ import annotations

from ..errors import (
    USER_ERRORS,
    BoundsError,
    EvaluationError,
    IllegalTransformation,
    KernelError,
    LearningError,
    MalformedTransformation,
    MissingExtra,
    SourceError,
    UnknownFunction,
    UnsupportedSignature,
)
from ..passes.polyhedral.isl_context import TooComplexError
from .records import Place, Problem

_CODES: tuple[tuple[type[BaseException], str], ...] = (
    (IllegalTransformation, "illegal"),
    (MalformedTransformation, "malformed"),
    (BoundsError, "bounds"),
    (SourceError, "source"),
    (UnknownFunction, "unknown"),
    (UnsupportedSignature, "source"),
    (EvaluationError, "failed"),
    (LearningError, "learning"),
    (MissingExtra, "missing_extra"),
    (TooComplexError, "too_complex"),
    (RecursionError, "too_complex"),
    (MemoryError, "memory"),
    (OSError, "path"),
    (KernelError, "input"),
)
"""The code of a class of errors; the first that fits counts."""


class CallError(Exception):
    """A call that cannot be answered; `str()` is one line."""

    def __init__(self, code: str, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem(code, message, None, remedy)


def place_of(error: SourceError) -> Place | None:
    """Where in a text an error is."""
    place = error.location
    return None if place is None else Place(place.file, place.line, place.column, place.text)


def problem_of(error: Exception) -> Problem:
    """What went wrong, as data."""
    if isinstance(error, CallError):
        return error.problem
    code = next((code for kind, code in _CODES if isinstance(error, kind)), None)
    if code is None:
        code = "input" if isinstance(error, USER_ERRORS) else "internal"
    match error:
        case IllegalTransformation():
            message = f"{error.args[0]} is illegal: {error.violation.describe()}"
            return Problem(code, message, None, error.hint)
        case SourceError():
            return Problem(code, error.message, place_of(error), error.hint)
        case OSError() if error.filename:
            return Problem(code, f"{error.filename}: {error.strerror}", None, None)
        case MemoryError():
            return Problem(code, "not enough memory", None, "choose smaller sizes")
        case TooComplexError() | RecursionError():
            return Problem(code, f"the program is too complex: {error}", None, None)
        case _:
            pass
    lines = str(error).splitlines()
    text = lines[0] if lines else type(error).__name__
    return Problem(
        code, f"{type(error).__name__}: {text}" if code == "internal" else text, None, None
    )
