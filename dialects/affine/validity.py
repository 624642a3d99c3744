"""Validity of dimensions and symbols in affine operations (MLIR's rules).

A symbol is an integer that is fixed while an affine scope (a function) runs through its loops; a
dimension may also be an affine function of induction variables. Three rules are wider than
MLIR's: a symbol may be computed from integers of any type, and a dimension may be piecewise affine
(a minimum, a maximum, or a choice by a comparison of dimensions), or a dimension times a symbol
or divided by one, rounded down, as the number of a tile of any size and its first value are.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import Pure

from ..hinted_errors import HintedVerifyException
from ..locations import name_of

_SCOPES = (FuncOp, ModuleOp)
_SUBSCRIPT_HINT = (
    "affine operations take induction variables of affine loops, affine functions of these, "
    "and integers computed outside of all loops"
)


def is_valid_symbol(value: SSAValue) -> bool:
    """Whether affine operations may use `value` as a symbol."""
    return _is_valid(value, dims=False)


def is_valid_dim(value: SSAValue) -> bool:
    """Whether affine operations may use `value` as a dimension."""
    return _is_valid(value, dims=True)


def verify_operands(operands: Sequence[SSAValue], dims: int, *, any_loop: bool = False) -> None:
    """Raises when one of the first `dims` operands is no dimension, or another one no symbol.

    With `any_loop`, induction variables of the scf dialect are dimensions.
    """
    for operand in operands[:dims]:
        if not _is_valid(operand, dims=True, any_loop=any_loop):
            raise HintedVerifyException(
                f"{name_of(operand)} is not affine: it cannot be used as a dimension",
                _SUBSCRIPT_HINT,
                operand,
            )
    for operand in operands[dims:]:
        if not is_valid_symbol(operand):
            raise HintedVerifyException(
                f"{name_of(operand)} may change inside of loops: it cannot be used as a symbol",
                "use it as a dimension",
                operand,
            )


def _is_valid(value: SSAValue, *, dims: bool, any_loop: bool = False) -> bool:
    # Values that remain to be looked at, and whether they may be dimensions.
    pending = [(value, dims)]
    seen = set[tuple[SSAValue, bool]]()
    while pending:
        item = pending.pop()
        if item in seen:
            continue
        seen.add(item)
        value, dims = item
        truth = value.type == i1
        if not isinstance(value.type, IndexType | IntegerType):
            return False
        if _is_top_level(value):
            continue
        operation = value.owner
        if isinstance(operation, Block):
            if not (dims and _is_induction_variable(value, any_loop=any_loop)):
                return False
        elif isinstance(operation, memref.DimOp):
            if not _is_top_level(operation.source):
                source = operation.source.owner
                if not isinstance(source, memref.AllocOp | memref.AllocaOp):
                    return False
                pending += [(size, False) for size in source.dynamic_sizes]
        elif not isinstance(operation, arith.ConstantOp):
            affine_function = operation.name in _AFFINE_FUNCTIONS or (
                truth and operation.name in _CONDITIONS
            )
            if not affine_function and not operation.has_trait(Pure):
                return False
            if isinstance(operation, arith.FloorDivSIOp | arith.MuliOp):
                pending += [(operation.lhs, dims), (operation.rhs, False)]
                continue
            dims = dims and affine_function
            pending += [(operand, dims) for operand in operation.operands]
    return True


_AFFINE_FUNCTIONS = frozenset(
    {
        "affine.apply",
        "affine.delinearize_index",
        "affine.linearize_index",
        "affine.max",
        "affine.min",
        "arith.select",
    }
)
_CONDITIONS = frozenset({"arith.andi", "arith.cmpi", "arith.ori"})


def _is_induction_variable(value: SSAValue, *, any_loop: bool) -> bool:
    parent = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    if any_loop and isinstance(parent, scf.ForOp):
        return value is parent.body.block.args[0]
    if any_loop and parent is not None and parent.name in ("scf.forall", "scf.parallel"):
        return isinstance(value.type, IndexType)
    if isinstance(parent, affine.ForOp):
        return value is parent.body.block.args[0]
    return isinstance(parent, affine.ParallelOp)


def _is_top_level(value: SSAValue) -> bool:
    owner = value.owner
    parent: Operation | None = owner.parent_op()
    # Nothing is known about operations that are not part of a function yet.
    return parent is None or isinstance(parent, _SCOPES)
