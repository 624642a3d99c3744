"""Errors of loading, compiling and calling kernels; every message is one line."""

from __future__ import annotations

from ...support.user_error import UserError


class BuildError(UserError):
    """A library that cannot be built; `str()` is one line with the reason and what to do."""


class UnknownFunction(UserError, KeyError):
    """`program[name]` for an unknown name."""

    def __init__(self, name: str, known: list[str]) -> None:
        listing = ", ".join(known) or "none"
        super().__init__(f"no function '{name}' in this program; its functions: {listing}")

    def __str__(self) -> str:
        return str(self.args[0])


class KernelError(UserError):
    """Base class of a kernel's errors; `str()` names the kernel, the reason, what to do."""


class UnsupportedSignature(KernelError, TypeError):
    """A function whose argument or result types cannot be passed from Python."""


class ArgumentCountError(KernelError, TypeError):
    """Too few or too many arguments."""


class ArgumentTypeError(KernelError, TypeError):
    """An argument of the wrong type, element type or rank."""


class ArgumentValueError(KernelError, ValueError):
    """An argument of the right type with an unsuitable value, shape or memory layout."""


class OverlappingArguments(ArgumentValueError):
    """Overlapping arrays of which at least one is written."""


class OutOfMemory(KernelError, MemoryError):
    """A failed allocation of a kernel's local arrays; its results are invalid."""


class OutOfBounds(KernelError, IndexError):
    """An out-of-bounds access in a bounds-checked kernel; its results are invalid."""


class TooManyThreads(KernelError, ValueError):
    """A number of threads that a kernel does not support."""


class NotSpecialised(KernelError, RuntimeError):
    """Code of a kernel requested before its sizes are known."""
