"""Python functions as functions of a program."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from ...runtime.jit.kept_signature import kept_signature
from ...runtime.program import Function
from ...support.cached_property import cached_property
from .signatures import PythonSignature, ReturningKernel
from .translate import Translation

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp

    from ...runtime.calling.signature import Signature


class Translated(Protocol):
    """A Python function that was translated."""

    @property
    def translation(self) -> Translation:
        """The function as text, with what it takes and returns."""
        ...

    @property
    def function(self) -> Function:
        """The function as a program has it."""
        ...

    def parsed(self) -> Function:
        """The text, as a program has its function."""
        ...


class PythonFunction(Function):
    """The function that a Python function has become; its text is parsed when it must be."""

    def __init__(self, kernel: Translated) -> None:
        self.kernel = kernel
        if kernel.translation.results:
            self.kernel_class = type(
                "ReturningKernel", (ReturningKernel,), {"translation": kernel.translation}
            )

    @cached_property
    def _parsed(self) -> tuple[ModuleOp, FuncOp]:
        found = self.kernel.parsed()
        return found.module, found.function

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.kernel.translation.name

    @property
    def text(self) -> str:
        """What the module is made of."""
        return self.kernel.translation.text

    @cached_property
    def signature(self) -> PythonSignature:
        """What a kernel takes and returns; raises SourceError, UnsupportedSignature."""
        plain = kept_signature(self.name, self.text, self._plain_signature)
        return PythonSignature.of_translation(plain, self.kernel.translation)

    def _plain_signature(self) -> Signature:
        from ...runtime.calling.derived_signature import signature_of  # the compiler

        return signature_of(self.scop)

    def __reduce__(self) -> tuple[object, ...]:
        """A function is pickled with its kernel."""
        return attrgetter("function"), (self.kernel,)
