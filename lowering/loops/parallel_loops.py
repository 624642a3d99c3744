"""Construction of parallel loops with several bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Block, Operation, Region

from ...dialects import affine
from ..nest.index_expression import Index
from .ir_builder import IRBuilder


def parallel_loop(
    builder: IRBuilder,
    lower: Sequence[tuple[Index, ...]],
    upper: Sequence[tuple[Index, ...]],
    steps: Sequence[int],
    schedule: Literal["static", "dynamic"],
    body: Block,
) -> Operation:
    """An `affine.parallel` over a box; the tightest bounds of every loop count.

    `schedule` says how iterations are handed out to threads.
    """
    lower_map, lower_operands = builder.map([index for bounds in lower for index in bounds])
    upper_map, upper_operands = builder.map([index for bounds in upper for index in bounds])
    return builder.emit(
        affine.ParallelOp.create(
            operands=[*lower_operands, *upper_operands],
            properties={
                "reductions": ArrayAttr([]),
                "lowerBoundsMap": lower_map,
                "lowerBoundsGroups": _groups(lower),
                "upperBoundsMap": upper_map,
                "upperBoundsGroups": _groups(upper),
                "steps": ArrayAttr([IntegerAttr(step, i64) for step in steps]),
            },
            attributes={"schedule": StringAttr(schedule)},
            regions=[Region(body)],
        )
    )


def _groups(bounds: Sequence[tuple[Index, ...]]) -> DenseIntOrFPElementsAttr:
    kind = TensorType(i32, [len(bounds)])
    return DenseIntOrFPElementsAttr.from_list(kind, [len(group) for group in bounds])
