"""Recurrence bound: cycles per iteration of loop-carried dependence chains.

Rau, "Iterative modulo scheduling", 1996, section 2.2 (the recurrence-constrained interval).
"""

from __future__ import annotations

from itertools import product
from math import log2

import islpy as isl
from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ..machine.machine import Machine
from ..polyhedral.dependences import DependenceKind
from ..polyhedral.schedule_tree import Loop, place_of
from ..polyhedral.scop import Access, Statement
from ..schedules.schedule import Schedule
from .elementary_functions import elementary_latency
from .merged_operations import extremum_comparisons
from .operation_costs import call_cycles, effective_type, operation_class, varying_results
from .program_statistics import StatementStatistics

_SUMS = (arith.AddfOp, arith.SubfOp)
_PRODUCTS = (arith.MulfOp,)


def recurrence(schedule: Schedule, name: str, loop: Loop) -> float:
    """Cycles per iteration of a loop around a statement that it waits for earlier iterations.

    Of each value that an iteration reads and a statement of the same name has stored so many
    iterations before: the operations between its load and the store that depends on it. 0 where
    there is no such value.
    """
    statement = schedule.scop.statement(name)
    if statement.is_opaque:
        return 0.0
    function = schedule.legality.function(loop).multi
    active = schedule.legality.active(schedule.functions_around(loop))
    chains: list[tuple[Access, Access, int]] = []
    for dependence in schedule.dependences:
        if dependence.kind is not DependenceKind.FLOW or {
            dependence.source,
            dependence.target,
        } != {name}:
            continue
        own = active.intersect(isl.UnionMap.from_map(dependence.relation))
        carried = own.lex_lt_at_multi_union_pw_aff(function)
        for store, load in product(statement.writes, statement.reads):
            if store.array.name == load.array.name == dependence.array:
                through = store.relation.apply_range(load.relation.reverse())
                pairs = carried.intersect(isl.UnionMap.from_map(through))
                if not pairs.is_empty():
                    chains.append((load, store, _distance(pairs, function)))
    # LLVM adds last what comes from the iteration before, but does not know which one comes later.
    is_movable = schedule.reassociate and len(chains) == 1
    return max(
        (
            _path(schedule, statement, load, store, is_movable=is_movable) / distance
            for load, store, distance in chains
        ),
        default=0.0,
    )


def lanes_latency(
    statement: StatementStatistics,
    loops: tuple[Loop, ...],
    vector: Loop | None,
    lanes: float,
    machine: Machine,
) -> float:
    """Cycles per vector until its lanes are added up where a sum goes on in the loop around.

    LLVM adds what the loop around hands on to one of the lanes.
    """
    place = 0 if vector is None else place_of(vector, loops)
    if vector is None or vector.vector is not None or place == 0:
        return 0.0
    trips = statement.trips(loops)
    both = loops[place - 1 : place + 1]
    if trips[place - 1] <= 1 or not all(statement.rewrites(loops, loop) for loop in both):
        return 0.0
    steps = 1 + 2 * log2(lanes)
    return steps * machine.latencies["additions"] / max(1.0, trips[place] / lanes)


def _distance(pairs: isl.UnionMap, function: isl.MultiUnionPwAff) -> int:
    """The least number of iterations between the instances of a pair."""
    values = isl.UnionMap.from_multi_union_pw_aff(function)
    steps = pairs.apply_domain(values).apply_range(values).deltas()
    least = isl.Set.from_union_set(steps).dim_min_val(0)
    return max(1, least.to_python()) if least.is_int() else 1


def _path(
    schedule: Schedule, statement: Statement, load: Access, store: Access, *, is_movable: bool
) -> float:
    """Cycles from a load to a store of the same instance that depends on it; else 0.

    What is known late is added last where it `is_movable`.
    """
    varying = varying_results(statement, lambda load: frozenset())
    reached: dict[SSAValue, tuple[float, type[Operation]]] = {
        load.op.results[0]: (0.0, type(load.op))
    }
    compared = extremum_comparisons(statement)
    for operation in statement.body:
        before = [reached[operand] for operand in operation.operands if operand in reached]
        if not before or not operation.results:
            continue
        cycles, last = max(before, key=lambda found: found[0])
        kind = effective_type(operation, varying, reassociate=schedule.reassociate)
        is_fused = last in _PRODUCTS and kind in _SUMS
        is_moved = is_movable and any(
            last in group and kind in group for group in (_SUMS, _PRODUCTS)
        )
        if not is_fused and not is_moved and operation not in compared:
            cycles += _latency(schedule, kind, operation)
        reached[operation.results[0]] = cycles, kind
    return reached.get(store.op.operands[0], (0.0, None))[0]


def _latency(schedule: Schedule, kind: type[Operation], operation: Operation) -> float:
    machine = schedule.target
    called = elementary_latency(operation, machine) or (
        machine.function_latency * call_cycles(operation, machine)
    )
    return called or machine.latencies[operation_class(kind, operation)]
