"""SourceError: user errors with a position in the source text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..support.user_error import UserError
from .source_location import Location

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue


class SourceError(UserError):
    """A user error in a program; `str()` is the message with source line and caret.

        gemm.mlir:7:12: error: unknown operation 'arith.addff'
            %5 = arith.addff %3, %4 : f64
                 ^
        hint: did you mean 'arith.addf'?

    `message`, `location` (None when there is no place to point at) and `hint` are its parts.
    """

    def __init__(self, message: str, location: Location | None = None, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint

    @classmethod
    def at(
        cls,
        subject: Operation | SSAValue,
        message: str,
        hint: str | None = None,
        *,
        operand: SSAValue | None = None,
    ) -> SourceError:
        """The error that points at where an operation or value was written.

        With `operand`, it points at this operand of the operation, if that is in the same line.
        """
        # Who has an operation has xDSL; front ends raise errors without it.
        from .locations import locate, name_of

        location = locate(subject)
        if location is not None and operand is not None:
            location = location.of_use(name_of(operand))
        return cls(message, location, hint)

    def __str__(self) -> str:
        lines = [f"error: {self.message}"]
        if self.location is not None:
            lines[0] = f"{self.location}: {lines[0]}"
            text = self.location.text
            if text is not None and text.strip():
                before = text[: self.location.column - 1].ljust(self.location.column - 1)
                # Tabs stay, so that the caret is below its character however wide they are.
                blank = "".join(char if char == "\t" else " " for char in before)
                lines += [text, f"{blank}^"]
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)
