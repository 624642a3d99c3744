"""Common-subexpression elimination of integers in blocks: the subscripts of an update are one.

%k = affine.load %J[%i]               %k = affine.load %J[%i]
%0 = affine.load %H[%k]               %0 = affine.load %H[%k]
%1 = arith.addi %0, %x          ->    %1 = arith.addi %0, %x
%l = affine.load %J[%i]               affine.store %1, %H[%k]
affine.store %1, %H[%l]
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects import func
from xdsl.dialects.affine import ApplyOp, LoadOp, StoreOp
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Block, Operation, SSAValue


def merge_repeated_subscripts(function: func.FuncOp) -> None:
    """Merges loads of integers, and operations on them, that are repeated in a block; in place."""
    for operation in function.walk():
        for region in operation.regions:
            for block in region.blocks:
                _merge(block)


def _merge(block: Block) -> None:
    found: dict[Hashable, SSAValue] = {}
    loaded: dict[Hashable, SSAValue] = {}
    for operation in list(block.ops):
        for inner in operation.walk():
            if isinstance(inner, StoreOp):
                loaded = {key: load for key, load in loaded.items() if load is not inner.memref}
            elif isinstance(inner, func.CallOp):
                loaded.clear()
        if not _is_number(operation):
            continue
        key = (
            operation.name,
            tuple(operation.operands),
            frozenset(operation.properties.items()),
            tuple(operation.result_types),
        )
        is_load = isinstance(operation, LoadOp)
        if is_load and key in found and key not in loaded:
            del found[key]
        earlier = found.setdefault(key, operation.results[0])
        if is_load:
            loaded[key] = operation.memref
        if earlier is not operation.results[0]:
            operation.results[0].replace_all_uses_with(earlier)
            operation.detach()
            operation.erase()


def _is_number(operation: Operation) -> bool:
    """Whether an operation computes or loads an integer, and does nothing else."""
    if len(operation.results) != 1 or operation.regions:
        return False
    if not isinstance(operation.results[0].type, IntegerType | IndexType):
        return False
    return isinstance(operation, LoadOp | ApplyOp) or operation.name.startswith("arith.")
