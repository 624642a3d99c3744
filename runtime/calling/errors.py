"""What can go wrong when a kernel is loaded, compiled or called; every message is one line."""

from __future__ import annotations


class BuildError(Exception):
    """A library that cannot be built; `str()` is one line with the reason and what to do."""


class UnknownFunction(KeyError):
    """`program[name]` for a name that is no function of the program."""

    def __init__(self, name: str, known: list[str]) -> None:
        listing = ", ".join(known) or "none"
        super().__init__(f"no function '{name}' in this program; its functions: {listing}")

    def __str__(self) -> str:
        return str(self.args[0])


class KernelError(Exception):
    """Base class of what a kernel refuses; `str()` names the kernel, the reason, what to do."""


class UnsupportedSignature(KernelError, TypeError):
    """A function whose argument or result types cannot be passed from Python."""


class ArgumentCountError(KernelError, TypeError):
    """Too few or too many arguments."""


class ArgumentTypeError(KernelError, TypeError):
    """An argument of the wrong type, element type or rank."""


class ArgumentValueError(KernelError, ValueError):
    """An argument of the right type with a value, shape or memory layout that does not fit."""


class OverlappingArguments(ArgumentValueError):
    """Two arrays share memory and the kernel writes at least one of them."""


class OutOfMemory(KernelError, MemoryError):
    """Memory for a kernel's own arrays could not be allocated; its results are worthless."""


class OutOfBounds(KernelError, IndexError):
    """A bounds-checked kernel was about to leave an array; its results are worthless."""


class TooManyThreads(KernelError, ValueError):
    """A number of threads that a kernel cannot run with."""


class NotSpecialised(KernelError, RuntimeError):
    """The code of a kernel was asked for before the sizes are known."""
