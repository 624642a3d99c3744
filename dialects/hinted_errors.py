"""Errors of parsers and verifiers with hints, which become a SourceError."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span


class HintedParseError(ParseError):
    """A syntax error with a hint, for use inside of parsers."""

    def __init__(self, span: Span, message: str, hint: str) -> None:
        super().__init__(span, message)
        self.hint = hint


class HintedVerifyException(VerifyException):
    """A failed verification with a hint, and the operand that it is about.

    For use inside of operations.
    """

    def __init__(self, message: str, hint: str, operand: SSAValue) -> None:
        super().__init__(message)
        self.hint = hint
        self.operand = operand
