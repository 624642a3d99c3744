"""The dialects of loopwright, each imported when an operation of it is met."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Dialect


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
