"""What the operations of a statement cost, one after the other and side by side."""

from __future__ import annotations

from itertools import product

import islpy as isl
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue

from ..polyhedral.dependences import DependenceKind
from ..polyhedral.scop import Access, Statement
from ..schedule import Schedule
from ..schedule_tree import Loop

CYCLES: dict[type[Operation], float] = {
    arith.DivfOp: 8.0,
    arith.DivSIOp: 12.0,
    math.SqrtOp: 10.0,
    math.ExpOp: 20.0,
    math.PowFOp: 60.0,
}
"""Per vector, where operations are not pipelined; others take half a cycle."""

LATENCIES: dict[type[Operation], float] = {
    arith.DivfOp: 13.0,
    arith.DivSIOp: 12.0,
    math.SqrtOp: 20.0,
    math.ExpOp: 40.0,
    math.PowFOp: 100.0,
}
"""Cycles until a result can be used; additions and multiplications take what the target says,
operations on integers one."""

SUMS = (arith.AddfOp, arith.SubfOp)
PRODUCTS = (arith.MulfOp,)


def throughput(statement: Statement, *, reassociate: bool) -> float:
    """Cycles for the operations of an instance, or of a vector of them, if none has to wait."""
    varying = _varying(statement)
    accesses = {access.op for access in statement.accesses}
    return sum(
        CYCLES.get(_kind(operation, varying, reassociate=reassociate), 0.5)
        for operation in statement.body
        if operation not in accesses and any(result in varying for result in operation.results)
    )


def recurrence(schedule: Schedule, name: str, loop: Loop) -> float:
    """Cycles per iteration of a loop around a statement that it waits for earlier iterations.

    Of each value that an iteration reads and a statement of the same name has stored so many
    iterations before: the operations between its load and the store that depends on it (Rau,
    "Iterative modulo scheduling", 1996, section 2.2). 0 where there is no such value.
    """
    statement = schedule.scop.statement(name)
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
    varying = _varying(statement)
    reached: dict[SSAValue, tuple[float, type[Operation]]] = {
        load.op.results[0]: (0.0, type(load.op))
    }
    for operation in statement.body:
        before = [reached[operand] for operand in operation.operands if operand in reached]
        if not before or not operation.results:
            continue
        cycles, last = max(before, key=lambda found: found[0])
        kind = _kind(operation, varying, reassociate=schedule.reassociate)
        is_fused = last in PRODUCTS and kind in SUMS
        is_moved = is_movable and any(last in group and kind in group for group in (SUMS, PRODUCTS))
        if not is_fused and not is_moved:
            cycles += _latency(schedule, kind, operation)
        reached[operation.results[0]] = cycles, kind
    return reached.get(store.op.operands[0], (0.0, None))[0]


def _latency(schedule: Schedule, kind: type[Operation], operation: Operation) -> float:
    is_float = isinstance(operation.results[0].type, AnyFloat)
    return LATENCIES.get(kind, schedule.target.speeds.latency if is_float else 1)


def _kind(operation: Operation, varying: set[SSAValue], *, reassociate: bool) -> type[Operation]:
    """What the operation is: a division by what never changes is a product where it may be."""
    if reassociate and isinstance(operation, arith.DivfOp) and operation.rhs not in varying:
        return arith.MulfOp
    return type(operation)


def _varying(statement: Statement) -> set[SSAValue]:
    """Results that differ from instance to instance; other operations run once."""
    values = set[SSAValue](statement.indices)
    results = set[SSAValue]()
    loads = {access.op for access in statement.reads}
    for operation in statement.body:
        if operation in loads or any(operand in values for operand in operation.operands):
            values.update(operation.results)
            results.update(operation.results)
    return results
