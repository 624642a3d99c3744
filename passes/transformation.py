"""What a transformation is, and the error that an illegal one raises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .schedule import Schedule


class TransformationError(Exception):
    """A transformation that cannot be applied. `str()` is one line: operation, subject, reason."""


class IllegalTransformation(TransformationError):
    """A transformation that would reorder dependent instances; names the dependence and a pair."""


class MalformedTransformation(TransformationError):
    """A transformation that makes no sense here: unknown loop, not a chain, bad size ..."""


@dataclass(frozen=True)
class Transformation(ABC):
    """One step of a schedule.

    Subclasses are frozen dataclasses whose fields (loop names as `tuple[str, ...]`, integers,
    tuples of integers) are the options of the pass of the same name. Their docstring shows
    *before -> after*.
    """

    name: ClassVar[str]

    @abstractmethod
    def apply(self, schedule: Schedule) -> Schedule:
        """The transformed schedule; raises TransformationError and changes nothing otherwise."""
