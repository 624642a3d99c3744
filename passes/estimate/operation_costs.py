"""What the operations of a statement cost, one after the other and side by side."""

from __future__ import annotations

from collections.abc import Callable, Container
from itertools import product

import islpy as isl
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from ..machine.target import Target
from ..polyhedral.dependences import DependenceKind
from ..polyhedral.reductions import allows
from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access, Statement
from ..schedules.schedule import Schedule

CYCLES: dict[type[Operation], float] = {
    arith.DivfOp: 8.0,
    arith.DivSIOp: 12.0,
    math.SqrtOp: 10.0,
}
"""Per vector, where operations are not pipelined; others take half a cycle."""

CALLS = {
    "acos": 18.0,
    "acosh": 23.0,
    "asin": 16.0,
    "asinh": 30.0,
    "atan": 30.0,
    "atan2": 41.0,
    "atanh": 35.0,
    "cbrt": 37.0,
    "cos": 33.0,
    "cosh": 20.0,
    "erf": 31.0,
    "exp": 14.0,
    "exp2": 9.0,
    "expm1": 26.0,
    "fpowi": 38.0,
    "log": 11.0,
    "log10": 21.0,
    "log1p": 22.0,
    "log2": 12.0,
    "pow": 38.0,
    "sin": 33.0,
    "sinh": 42.0,
    "tan": 36.0,
    "tanh": 38.0,
}
"""Cycles of a call of the C library (f64, Zen 4); every lane makes one."""

VECTOR_CALL = 2.0
"""Calls that one of a function for vectors takes as long as: from 0.6 (sine) to 3 (power)."""

LATENCIES: dict[type[Operation], float] = {
    arith.DivfOp: 13.0,
    arith.DivSIOp: 12.0,
    math.SqrtOp: 20.0,
}
"""Cycles until a result can be used; additions and multiplications take what the target says,
operations on integers one, calls `CALL_LATENCY` times what they cost."""

CALL_LATENCY = 2.7
"""Exponentials and powers were measured: 2.9 (40 cycles) and 2.6 (100). Calls overlap."""

SUMS = (arith.AddfOp, arith.SubfOp)
PRODUCTS = (arith.MulfOp,)


NEEDS_NO_NAN = ("maxnumf", "minnumf")
"""What LLVM accumulates in one order, because it leaves out NaN, although any would do."""

Changes = Callable[[Access], frozenset[int]]
"""The positions of the loops around a statement in which a load differs between iterations."""

Repeats = Callable[[frozenset[int]], tuple[float, float]]
"""Vectors of instances that share what changes in these loops only, and lanes that compute it."""


def throughput(
    statement: Statement,
    target: Target,
    changes: Changes,
    repeats: Repeats,
    *,
    lanes: float,
    reassociate: bool,
) -> float:
    """Cycles for the operations of a vector of so many instances, if none has to wait."""
    varying = _varying(statement, changes)
    accesses = {access.op for access in statement.accesses}
    total = 0.0
    for operation in statement.body:
        if operation in accesses or not any(result in varying for result in operation.results):
            continue
        changing = varying[operation.results[0]]
        shared, own_lanes = (1.0, lanes) if changing is None else repeats(changing)
        kind = _kind(operation, varying, reassociate=reassociate)
        calls = _calls(operation, target, own_lanes, reassociate=reassociate)
        total += (calls or CYCLES.get(kind, 0.5)) / shared
    return total


def accumulates_in_lanes(schedule: Schedule, name: str) -> bool:
    """Whether LLVM may make vectors of the terms that a statement accumulates."""
    accumulation = schedule.dependences.accumulations.get(name)
    return accumulation is not None and (
        schedule.reassociate
        or (accumulation.reassociable and accumulation.operation not in NEEDS_NO_NAN)
    )


def _calls(operation: Operation, target: Target, lanes: float, *, reassociate: bool) -> float:
    """Cycles that a vector spends in the C library."""
    name = _library_name(operation)
    has_variant = lanes > 1 and name in target.vector_functions
    has_variant &= reassociate or allows(operation, FastMathFlag.APPROX_FUNC)
    return CALLS.get(name, 0.0) * (VECTOR_CALL if has_variant else lanes)


def _library_name(operation: Operation) -> str:
    return operation.name.removeprefix("math.").replace("powf", "pow")


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
    varying = _varying(statement, lambda load: frozenset())
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
    usual = schedule.target.speeds.latency if is_float else 1.0
    called = CALL_LATENCY * CALLS.get(_library_name(operation), 0.0)
    return LATENCIES.get(kind, called or usual)


def _kind(
    operation: Operation, varying: Container[SSAValue], *, reassociate: bool
) -> type[Operation]:
    """What the operation is: a division by what never changes is a product where it may be."""
    if reassociate and isinstance(operation, arith.DivfOp) and operation.rhs not in varying:
        return arith.MulfOp
    return type(operation)


def _varying(statement: Statement, changes: Changes) -> dict[SSAValue, frozenset[int] | None]:
    """Results that differ from instance to instance, and the loops in which they change.

    None, for all loops, where iterators have a part in it. Other operations run once.
    """
    found: dict[SSAValue, frozenset[int] | None] = dict.fromkeys(statement.indices)
    loads = {access.op: access for access in statement.reads}
    for operation in statement.body:
        if operation in loads:
            found[operation.results[0]] = changes(loads[operation])
            continue
        parts = [found[operand] for operand in operation.operands if operand in found]
        if parts:
            known = [part for part in parts if part is not None]
            whole = frozenset[int]().union(*known) if len(known) == len(parts) else None
            found.update(dict.fromkeys(operation.results, whole))
    return found
