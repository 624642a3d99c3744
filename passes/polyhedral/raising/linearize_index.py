"""Lowers affine.delinearize_index and affine.linearize_index to affine.apply."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ....dialects.affine import ApplyOp, DelinearizeIndexOp, LinearizeIndexOp
from .cells import insert_before


def apply_delinearize(operation: Operation) -> None:
    """Replaces the operation in place; raises SourceError if the basis varies."""
    assert isinstance(operation, DelinearizeIndexOp)
    _replace(operation, operation.maps(), (operation.linear_index,))


def apply_linearize(operation: Operation) -> None:
    """Replaces the operation in place; raises SourceError if the basis varies."""
    assert isinstance(operation, LinearizeIndexOp)
    _replace(operation, [operation.map()], operation.multi_index)


def _replace(operation: Operation, maps: Sequence[AffineMap], operands: Sequence[SSAValue]) -> None:
    for result, function in zip(operation.results, maps, strict=True):
        apply = ApplyOp(operands, AffineMapAttr(function))
        apply.result.name_hint = result.name_hint
        insert_before(operation, apply)
        result.replace_all_uses_with(apply.result)
    operation.detach()
    operation.erase()
