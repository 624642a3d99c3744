"""Public user errors of loopwright."""

from __future__ import annotations

from .costmodel.dataset.errors import DatasetError
from .costmodel.learning.errors import LearningError
from .dialects.errors import SourceError
from .lowering.validation.verdict import ValidationError
from .passes.polyhedral.bounds import BoundsError
from .passes.polyhedral.equivalence.equivalence import AssumptionError
from .passes.schedules.errors import (
    IllegalTransformation,
    MalformedTransformation,
    TransformationError,
)
from .runtime.calling.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    ArgumentValueError,
    BuildError,
    KernelError,
    NotSpecialised,
    OutOfBounds,
    OutOfMemory,
    OverlappingArguments,
    TooManyThreads,
    UnknownFunction,
    UnsupportedSignature,
)
from .runtime.calling.inputs import InputError
from .runtime.tuning.evaluator import EvaluationError
from .support.extras import MissingExtra
from .support.plugins import PluginError
from .support.user_error import UserError

__all__ = [
    "ArgumentCountError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "AssumptionError",
    "BoundsError",
    "BuildError",
    "DatasetError",
    "EvaluationError",
    "IllegalTransformation",
    "InputError",
    "KernelError",
    "LearningError",
    "MalformedTransformation",
    "MissingExtra",
    "NotSpecialised",
    "OutOfBounds",
    "OutOfMemory",
    "OverlappingArguments",
    "PluginError",
    "SourceError",
    "TooManyThreads",
    "TransformationError",
    "UnknownFunction",
    "UnsupportedSignature",
    "ValidationError",
]

USER_ERRORS = (UserError,)
"""The base class of all of these."""
