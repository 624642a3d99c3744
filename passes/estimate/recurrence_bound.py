"""Recurrence bound: cycles per iteration of loop-carried dependence chains.

Rau, "Iterative modulo scheduling", 1996, section 2.2 (the recurrence-constrained interval).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import log2
from typing import NamedTuple

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

_Reached = tuple[float, type[Operation]]
"""Cycles after which a value is known, and what computes it at last."""

_Body = tuple[Statement, dict[SSAValue, frozenset[int]], set[Operation]]
"""A statement, its results that vary, and comparisons that are a part of selections."""


def recurrence(schedule: Schedule, names: Sequence[str], loop: Loop) -> float:
    """Cycles per iteration of a loop that statements in its body wait for earlier iterations.

    Of each value that an iteration reads and one of the statements has stored so many iterations
    before: the operations between its load and the store that depends on it, of all of these
    statements in the order of `names`, but opaque ones. 0 where there is no such value.
    """
    statements = [each for each in map(schedule.scop.statement, names) if not each.is_opaque]
    chains = list(_chains(schedule, statements, loop))
    carried = [chain for chain in chains if chain.distance]
    # LLVM adds last what comes from the iteration before, but does not know which one comes later.
    is_movable = schedule.reassociate and len(carried) == 1
    handed = [chain for chain in chains if not chain.distance] if carried else []
    bodies = [
        (each, varying_results(each, lambda load: frozenset()), extremum_comparisons(each))
        for each in (statements if carried else ())
    ]
    return max(
        (
            _path(schedule, bodies, chain, handed, is_movable=is_movable) / chain.distance
            for chain in carried
        ),
        default=0.0,
    )


class _Value(NamedTuple):
    """A value that goes from a store to a load, `distance` iterations later: 0 is the same one."""

    source: str
    store: Access
    target: str
    load: Access
    distance: int


def _chains(schedule: Schedule, statements: Sequence[Statement], loop: Loop) -> Iterator[_Value]:
    """The values that statements hand on to each other."""
    by_name = {statement.name: statement for statement in statements}
    function = schedule.legality.function(loop).multi
    active = schedule.legality.active(schedule.functions_around(loop))
    for dependence in schedule.dependences:
        ends = dependence.source, dependence.target
        if dependence.kind is not DependenceKind.FLOW or not by_name.keys() >= {*ends}:
            continue
        own = active.intersect(isl.UnionMap.from_map(dependence.relation))
        carried = own.lex_lt_at_multi_union_pw_aff(function)
        source, target = (by_name[name] for name in ends)
        for store, load in product(source.writes, target.reads):
            if not store.array.name == load.array.name == dependence.array:
                continue
            through = isl.UnionMap.from_map(store.relation.apply_range(load.relation.reverse()))
            pairs = carried.intersect(through)
            places = (source.name, store, target.name, load)
            if not pairs.is_empty():
                yield _Value(*places, _distance(pairs, function))
            if source is not target and not own.subtract(carried).intersect(through).is_empty():
                yield _Value(*places, 0)


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
    schedule: Schedule,
    bodies: Sequence[_Body],
    chain: _Value,
    handed: Sequence[_Value],
    *,
    is_movable: bool,
) -> float:
    """Cycles from a load to the store of the same iteration that it is waited for with; else 0.

    Statements hand on what they store. What is known late is added last where it `is_movable`.
    """
    stored: dict[tuple[str, Access], _Reached] = {}
    for statement, varying, compared in bodies:
        reached: dict[SSAValue, _Reached] = {}
        for load in statement.reads:
            before = [
                stored[value.source, value.store]
                for value in handed
                if (value.target, value.load) == (statement.name, load)
                and (value.source, value.store) in stored
            ]
            if (statement.name, load) == (chain.target, chain.load):
                before.append((0.0, type(load.op)))
            if before:
                reached[load.op.results[0]] = max(before, key=lambda found: found[0])
        for operation in statement.body:
            before = [reached[operand] for operand in operation.operands if operand in reached]
            if not before or not operation.results or operation.results[0] in reached:
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
        for store in statement.writes:
            if store.op.operands[0] in reached:
                stored[statement.name, store] = reached[store.op.operands[0]]
    return stored.get((chain.source, chain.store), (0.0, None))[0]


def _latency(schedule: Schedule, kind: type[Operation], operation: Operation) -> float:
    machine = schedule.target
    called = elementary_latency(operation, machine) or (
        machine.function_latency * call_cycles(operation, machine)
    )
    return called or machine.latencies[operation_class(kind, operation)]
