"""Errors of transformations: malformed and illegal ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from ...support.user_error import UserError

if TYPE_CHECKING:
    from .violation import Violation


class TransformationError(UserError):
    """A transformation that cannot be applied. `str()` is one line: operation, subject, reason."""


class IllegalTransformation(TransformationError):
    """A transformation that violates a dependence; names it with a pair of instances.

    `advise` finds out what would be legal instead, if anything; `steps` are those before it, as a
    pipeline.
    """

    def __init__(
        self,
        operation: str,
        violation: Violation,
        advise: Callable[[], str | None] = lambda: None,
        steps: Callable[[], str] = str,
    ) -> None:
        super().__init__(operation)
        self.violation = violation
        self._advise = advise
        self._steps = steps

    @property
    def operation(self) -> str:
        """The step that is illegal: `tile of i, j`."""
        return self.args[0]

    @property
    def steps_before(self) -> str:
        """The legal steps before it, as a pipeline."""
        return self._steps()

    @cached_property
    def hint(self) -> str | None:
        """What would be legal instead, as one clause; None where nothing was found."""
        return self._advise()

    def __str__(self) -> str:
        # Written only when somebody reads it: a search asks for thousands of verdicts.
        hint = f"; hint: {self.hint}" if self.hint else ""
        return f"{self.operation} is illegal: {self.violation.describe()}{hint}"


class MalformedTransformation(TransformationError):
    """A transformation that does not apply: unknown loop, not a chain, bad size ..."""
