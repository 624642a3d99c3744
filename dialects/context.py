"""The context with all dialects of loopwright."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.ir import Attribute, Dialect


def _affine() -> Dialect:
    from .affine import Affine

    return Affine


def _arith() -> Dialect:
    from .arith import Arith

    return Arith


def _builtin() -> Dialect:
    from xdsl.dialects.builtin import Builtin

    return Builtin


def _cf() -> Dialect:
    from xdsl.dialects.cf import Cf

    return Cf


def _complex() -> Dialect:
    from xdsl.dialects.complex import Complex

    return Complex


def _dlti() -> Dialect:
    from .dlti import DLTI

    return DLTI


def _func() -> Dialect:
    from xdsl.dialects.func import Func

    return Func


def _index() -> Dialect:
    from .index import Index

    return Index


def _linalg() -> Dialect:
    from .linalg import Linalg

    return Linalg


def _llvm() -> Dialect:
    from xdsl.dialects.llvm import LLVM

    return LLVM


def _math() -> Dialect:
    from .mathematics import Math

    return Math


def _memref() -> Dialect:
    from .memref import MemRef

    return MemRef


def _ml_program() -> Dialect:
    from xdsl.dialects.ml_program import MLProgram

    return MLProgram


def _scf() -> Dialect:
    from .scf import Scf

    return Scf


def _tensor() -> Dialect:
    from .tensor import Tensor

    return Tensor


def _bufferization() -> Dialect:
    from .bufferization import Bufferization

    return Bufferization


def _vector() -> Dialect:
    from .vector import Vector

    return Vector


# Loaded when an operation of theirs is met.
DIALECTS: dict[str, Callable[[], Dialect]] = {
    "affine": _affine,
    "arith": _arith,
    "bufferization": _bufferization,
    "builtin": _builtin,
    "cf": _cf,
    "complex": _complex,
    "dlti": _dlti,
    "func": _func,
    "index": _index,
    "linalg": _linalg,
    "llvm": _llvm,
    "math": _math,
    "memref": _memref,
    "ml_program": _ml_program,
    "scf": _scf,
    "tensor": _tensor,
    "vector": _vector,
}


class _Context(Context):
    """Attributes of other dialects, such as memory spaces and hints, are kept as their text."""

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        found = super().get_optional_attr(name)
        if found is None and name.partition(".")[0] not in DIALECTS:
            from xdsl.dialects.builtin import UnregisteredAttr

            found = self._loaded_attrs[name] = UnregisteredAttr.with_name_and_type(name, False)
        return found


def make_context() -> Context:
    """A context in which all dialects of loopwright are registered."""
    context = _Context()
    for name, factory in DIALECTS.items():
        context.register_dialect(name, factory)
    return context
