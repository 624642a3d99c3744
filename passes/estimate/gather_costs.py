"""Costs of gathers, whose subscripts are compared with the extents when they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import memref
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineSymExpr

from ..machine.machine import Machine
from ..polyhedral.gathers import GatherLanes, gather_lanes, is_short_subscript
from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access, Statement
from .program_statistics import Slope, StatementStatistics, bytes_of, subscript_steps
from .strided_accesses import LEAST_SCATTERED

CHECKED_LOAD = 1.5
"""Cycles to compare subscripts with extents, to find an address and to load from it."""

COMPARED_LANE = 1.0
"""Cycles of a lane to compare the subscripts of a row of its own with extents."""

EXTRACTED_LANE = 2.0
"""Cycles of a lane of short elements, which no gather is for: LLVM loads one after the other."""


def gathers_along(
    statement: Statement, direction: Sequence[Slope] | None
) -> Mapping[memref.LoadOp, GatherLanes]:
    """How gathers lie in the lanes of vectors along a direction of the iterators."""

    def step(value: Access | AffineExpr) -> int | None:
        if direction is None:
            return None
        if isinstance(value, Access):
            return None if any(subscript_steps(value, direction)) else 0
        if not any(direction[dim] for dim in value.used_dims()):
            return 0
        if any(slope.denominator != 1 for slope in direction):
            return None
        named = [each.position for each in value.dfs() if isinstance(each, AffineSymExpr)]
        symbols = [0] * (1 + max(named, default=0))
        here, there = (value.eval([int(slope) * k for slope in direction], symbols) for k in (0, 1))
        return there - here

    has_gathers = any(isinstance(operation, memref.LoadOp) for operation in statement.body)
    return gather_lanes(statement, step) if has_gathers else {}


def gather_cycles(
    statement: StatementStatistics,
    loops: Sequence[Loop],
    vector: Loop | None,
    lanes: float,
    machine: Machine,
) -> Mapping[Operation, float]:
    """Cycles of each gather for a vector of instances."""
    unchecked = 1 / machine.loads_per_cycle
    loads: dict[Operation, float] = {
        op: unchecked if _is_unchecked(op, statement) else CHECKED_LOAD for op in statement.gathers
    }
    if lanes == 1 or vector is None or not loads:
        return loads
    found = gathers_along(statement.statement, statement.direction(loops, vector))
    apart = (GatherLanes.SPREAD, GatherLanes.APART)
    cycles = dict(loads)
    for op, where in found.items():
        if where in apart:
            cycles[op] += _lane_cycles(op, machine) * lanes
        if where is GatherLanes.APART and not _is_unchecked(op, statement):
            cycles[op] += COMPARED_LANE * lanes
    return cycles


def _is_unchecked(gather: memref.LoadOp, statement: StatementStatistics) -> bool:
    """Whether subscripts are compared with extents ahead of the loops, or need not be."""
    data = [index for index in gather.indices if index not in statement.statement.indices]
    return gather in statement.inspected or all(map(is_short_subscript, data))


def _lane_cycles(gather: memref.LoadOp, machine: Machine) -> float:
    is_short = bytes_of(gather.res.type) < LEAST_SCATTERED
    return EXTRACTED_LANE if is_short else machine.gather_cycles


def gathers_in_lanes(statement: StatementStatistics, direction: Sequence[Slope] | None) -> bool:
    """Whether vectors that LLVM makes along a direction can have the gathers; marked ones can.

    LLVM makes none of checks, and none of loads that are not neighbours.
    """
    return all(
        where in (GatherLanes.SAME, GatherLanes.ROW) and op in statement.inspected
        for op, where in gathers_along(statement.statement, direction).items()
    )
