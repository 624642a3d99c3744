"""Throughput of the operations of a statement: port cycles, and calls of the C library."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, Float32Type, Float64Type, IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.mathematics import ExternalOp
from ..machine.machine import Machine
from ..machine.target import Target
from ..polyhedral.arithmetic_widths import Narrowed
from ..polyhedral.fused_products import fused_operand
from ..polyhedral.reduction_steps import BY_COMPARISON
from ..polyhedral.reductions import allows
from ..polyhedral.scop import Access, Statement
from ..polyhedral.selected_extrema import LEAST_VECTORS
from ..polyhedral.short_quotients import short_quotient
from ..schedules.schedule import Schedule
from .elementary_functions import (
    OVERLAP,
    elementary_cycles,
    function_name,
    has_elementary_functions,
)
from .merged_operations import extremum_comparison
from .paired_products import paired_share
from .program_statistics import StatementStatistics

_CLASSES: dict[type[Operation], str] = {
    arith.AddfOp: "additions",
    arith.SubfOp: "additions",
    arith.MulfOp: "multiplications",
    arith.DivfOp: "divisions",
    math.SqrtOp: "square_roots",
    arith.DivSIOp: "integer_divisions",
    arith.MuliOp: "integer_multiplications",
    arith.ExtSIOp: "shuffles",
    arith.ExtUIOp: "shuffles",
    arith.TruncIOp: "shuffles",
    arith.CmpfOp: "comparisons",
    arith.SelectOp: "others",
}
"""The classes of `Machine.OPERATIONS`. Others count as additions if they are floating-point."""

EXTERNAL_CYCLES = 60.0
"""Of a function that the program declares, whatever it does."""

UNPIPELINED = ("divisions", "square_roots")
"""Classes whose figures hold for whole vectors of doubles; narrower ones take less."""

DIVIDED_BITS = 256
"""What the dividers of processors take at a time; wider vectors take twice as long."""

DOUBLE_BITS = 64

ROOT_OF_FLOATS = 0.8
"""A root of sixteen floats by products takes this part of one of eight doubles."""

SINGLE_SHARE = 0.6
"""A division of single precision takes this part of one of double precision (LLVM: Zen 3 to 5)."""

NEEDS_NO_NAN = ("maxnumf", "minnumf")
"""What LLVM accumulates in one order beside other statements, because it leaves out NaN."""

Changes = Callable[[Access | AffineExpr], frozenset[int]]
"""The positions of the loops around a statement in which a load differs between iterations, or a
function of the iterators."""

Repeats = Callable[[frozenset[int]], tuple[float, float]]
"""Vectors of instances that share what changes in these loops only, and lanes that compute it."""


def throughput(
    statistics: StatementStatistics,
    target: Target,
    changes: Changes,
    repeats: Repeats,
    *,
    lanes: float,
    reassociate: bool,
    explicit: bool = False,
    pairs: bool = False,
    done: set[Operation] | None = None,
    scalar_bits: int | None = None,
    gathers: Mapping[Operation, float] | None = None,
) -> float:
    """Cycles for the operations of a vector of so many instances, if none has to wait.

    Where vectors are `explicit`, not of LLVM's making, roots may be made of products. With `pairs`,
    products are added in pairs. Integer arithmetic is as narrow as its bits allow.
    Where LLVM narrows the integers that are carried in scalars, these have `scalar_bits` at most.
    What is `done` costs nothing; what is counted joins it.
    """
    statement, narrowed = statistics.statement, statistics.narrowed
    varying = varying_results(statement, changes)
    accesses = {access.op for access in statement.accesses}
    total = 0.0
    done = set() if done is None else done
    # Several registers of a function, and of what is around it, wait less for each other.
    takes_turns = has_elementary_functions(statement, target)
    for operation in statement.body:
        if operation in accesses or not any(result in varying for result in operation.results):
            continue
        if operation in done or operation in statistics.merged:
            continue
        done.add(operation)
        changing = varying[operation.results[0]]
        shared, own_lanes = repeats(changing)
        if gathers and operation in gathers:
            total += gathers[operation] / shared
            continue
        kind = effective_type(operation, varying, reassociate=reassociate)
        if reassociate and kind is arith.DivfOp:
            again, divided = repeats(varying[operation.operands[1]])
            if again > shared:
                # LLVM divides once, outside of the loops with the same divisor, and multiplies.
                share = _width_share(operation, divided, target)
                total += target.cycles["divisions"] * share / again
                kind = arith.MulfOp
        calls = _calls(operation, target, own_lanes, reassociate=reassociate)
        name = operation_class(kind, operation)
        by_products = 0.0
        if explicit and name == "square_roots":
            by_products = _root_by_products(operation, own_lanes, target, reassociate=reassociate)
        cycles = calls or by_products or target.cycles[name]
        if not calls and own_lanes > 1:
            registers = _registers(operation, narrowed, own_lanes, target, scalar_bits)
            cycles *= max(1.0, registers * OVERLAP) if takes_turns else registers
        if name in UNPIPELINED and not by_products:
            cycles *= _width_share(operation, own_lanes, target)
        total += cycles * (paired_share(operation) if pairs else 1.0) / shared
    return total


def _root_by_products(
    operation: Operation, lanes: float, target: Target, *, reassociate: bool
) -> float:
    """Cycles of a root of a whole vector, where code generation takes products; 0: it does not."""
    kind = operation.results[0].type
    if lanes != target.lanes(kind):
        return 0.0
    if isinstance(kind, Float32Type) and not reassociate:
        return ROOT_OF_FLOATS * target.root_by_products
    return target.root_by_products if isinstance(kind, Float64Type) else 0.0


def _width_share(operation: Operation, lanes: float, target: Target) -> float:
    """What a division of this width takes of the cycles of one of whole vectors of doubles."""
    kind = operation.results[0].type
    bits = kind.bitwidth if isinstance(kind, FixedBitwidthType) else DOUBLE_BITS
    halves = 0.5 if lanes * bits <= DIVIDED_BITS < target.vector_bits else 1.0
    return halves * (SINGLE_SHARE if bits < DOUBLE_BITS else 1.0)


def _registers(
    operation: Operation,
    narrowed: Mapping[Operation, Narrowed],
    lanes: float,
    target: Target,
    scalar_bits: int | None,
) -> float:
    """Vector registers that so many operands or results of an operation fill."""
    found = narrowed.get(operation)
    kinds = (value.type for value in (*operation.operands, operation.results[0]))
    widths = (kind.bitwidth for kind in kinds if isinstance(kind, FixedBitwidthType))
    bits = found.width if found is not None else max(widths, default=0)
    if scalar_bits is not None and isinstance(operation.results[0].type, IntegerType):
        bits = min(bits, scalar_bits)
    return max(1.0, lanes * max(8, bits) / target.vector_bits)


def accumulates_in_lanes(schedule: Schedule, name: str) -> bool:
    """Whether LLVM may make vectors of the terms that a statement accumulates.

    Of extrema by comparison it does in any case: where their order matters, loops run again.
    """
    accumulation = schedule.dependences.accumulations.get(name)
    return accumulation is not None and (
        schedule.reassociate
        or accumulation.operation in BY_COMPARISON
        or (accumulation.reassociable and accumulation.operation not in NEEDS_NO_NAN)
    )


def is_short(schedule: Schedule, name: str, trips: float) -> bool:
    """Whether a statement accumulates, by comparison, so few numbers that they keep their order."""
    accumulation = schedule.dependences.accumulations[name]
    if accumulation.operation not in BY_COMPARISON:
        return False
    lanes = schedule.target.lanes(accumulation.store.array.element_type)
    return trips < LEAST_VECTORS * lanes


def leaves_out_nan(schedule: Schedule, name: str) -> bool:
    """Whether a statement accumulates the greatest or least of what is no NaN."""
    accumulation = schedule.dependences.accumulations.get(name)
    return accumulation is not None and accumulation.operation in NEEDS_NO_NAN


def adds_up_in_order(schedule: Schedule, name: str) -> bool:
    """Whether LLVM may make vectors of the terms that a statement adds up one after the other."""
    accumulation = schedule.dependences.accumulations.get(name)
    return (
        accumulation is not None
        and not schedule.reassociate
        and accumulation.operation == "addf"
        and len(accumulation.steps) == 1
        and fused_operand(accumulation.steps[0]) is None
    )


def _calls(operation: Operation, target: Target, lanes: float, *, reassociate: bool) -> float:
    """Cycles that a vector spends in functions."""
    if own := elementary_cycles(operation, target, lanes):
        return own
    called = call_cycles(operation, target)
    if lanes == 1 or not called:
        return called
    if is_called_by_lane(operation, target, reassociate=reassociate):
        # Each lane is taken out of a vector, and its result put into one.
        return (called + 2 * target.cycles["shuffles"]) * lanes
    return called * target.vector_function


def is_called_by_lane(operation: Operation, target: Target, *, reassociate: bool) -> bool:
    """Whether a vector calls a function of the C library for each of its lanes."""
    if not call_cycles(operation, target) or elementary_cycles(operation, target, 1.0):
        return False
    is_approximated = reassociate or allows(operation, FastMathFlag.APPROX_FUNC)
    return not (is_approximated and function_name(operation) in target.vector_functions)


def call_cycles(operation: Operation, machine: Machine) -> float:
    """Cycles of a call of the C library for one element; 0 where it takes none."""
    if isinstance(operation, ExternalOp):
        return EXTERNAL_CYCLES
    return machine.function_cycles.get(function_name(operation), 0.0)


def effective_type(
    operation: Operation, varying: Container[SSAValue], *, reassociate: bool
) -> type[Operation]:
    """The type of an operation: a division by what never changes is a product where it may be."""
    if isinstance(operation, arith.DivfOp):
        is_product = operation.rhs not in varying if reassociate else short_quotient(operation)
        if is_product:
            return arith.MulfOp
    return type(operation)


def operation_class(kind: type[Operation], operation: Operation) -> str:
    """The class of `Machine.OPERATIONS` of an operation with a result, and of an effective type."""
    if extremum_comparison(operation) is not None:
        return "comparisons"
    is_float = isinstance(operation.results[0].type, AnyFloat)
    return _CLASSES.get(kind, "additions" if is_float else "others")


def varying_results(statement: Statement, changes: Changes) -> dict[SSAValue, frozenset[int]]:
    """Results that differ from instance to instance, and the loops in which they change.

    Other operations run once.
    """
    found = {value: changes(expression) for value, expression in statement.indices.items()}
    loads = {access.op: access for access in statement.reads if not access.is_opaque}
    for operation in statement.body:
        if operation in loads:
            found[operation.results[0]] = changes(loads[operation])
            continue
        parts = [found[operand] for operand in operation.operands if operand in found]
        if parts:
            whole = frozenset[int]().union(*parts)
            found.update(dict.fromkeys(operation.results, whole))
    return found
