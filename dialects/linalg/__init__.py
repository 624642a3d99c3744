"""The linalg dialect: structured operations on tensors and memrefs, with MLIR's syntax."""

from __future__ import annotations

from xdsl.ir import Dialect

from .attributes import ElementwiseKindAttr, IteratorTypeAttr, TypeFunctionAttr
from .definitions import DEFINITIONS
from .short_bodies import BroadcastOp, MapOp, ReduceOp, TransposeOp
from .structured import GenericOp, IndexOp, NamedOp, StructuredOp, YieldOp, named_operation

Linalg = Dialect(
    "linalg",
    [
        BroadcastOp,
        GenericOp,
        IndexOp,
        MapOp,
        ReduceOp,
        TransposeOp,
        YieldOp,
        *(named_operation(name) for name in (*DEFINITIONS, "contract", "elementwise")),
    ],
    [ElementwiseKindAttr, IteratorTypeAttr, TypeFunctionAttr],
)

__all__ = [
    "BroadcastOp",
    "GenericOp",
    "IndexOp",
    "Linalg",
    "MapOp",
    "NamedOp",
    "ReduceOp",
    "StructuredOp",
    "TransposeOp",
    "YieldOp",
]
