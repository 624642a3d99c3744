"""The affine dialect: loops, conditions and accesses that are affine functions of integers.

The operations have MLIR's syntax and rules. They are subclasses of xDSL's, where these exist, so
that passes written for xDSL's dialect see them.
"""

from xdsl.ir import Dialect

from .accesses import LoadOp, PrefetchOp, StoreOp, VectorLoadOp, VectorStoreOp
from .conditionals import IfOp, YieldOp
from .expressions import print_expression, print_map, print_set
from .functions import ApplyOp, DelinearizeIndexOp, LinearizeIndexOp, MaxOp, MinOp
from .loops import ForOp
from .parallel import ParallelOp
from .validity import is_valid_dim, is_valid_symbol

Affine = Dialect(
    "affine",
    [
        ApplyOp,
        DelinearizeIndexOp,
        ForOp,
        IfOp,
        LinearizeIndexOp,
        LoadOp,
        MaxOp,
        MinOp,
        ParallelOp,
        PrefetchOp,
        StoreOp,
        VectorLoadOp,
        VectorStoreOp,
        YieldOp,
    ],
    [],
)

__all__ = [
    "Affine",
    "ApplyOp",
    "DelinearizeIndexOp",
    "ForOp",
    "IfOp",
    "LinearizeIndexOp",
    "LoadOp",
    "MaxOp",
    "MinOp",
    "ParallelOp",
    "PrefetchOp",
    "StoreOp",
    "VectorLoadOp",
    "VectorStoreOp",
    "YieldOp",
    "is_valid_dim",
    "is_valid_symbol",
    "print_expression",
    "print_map",
    "print_set",
]
