"""Loop-vectoriser hints for short inner loops.

LLVM unrolls a short loop fully before it vectorises, and then vectorises the loop around it, even
where accesses have a large stride along that one and are contiguous along the short one:

    for i: for j < 14: B[i][j] = A[i][j]  ->  gathers and scatters of 8 rows, for each j

With a hint not to, its SLP vectoriser sees the unrolled body, and leaves several statements or
long expressions scalar. So short loops of independent iterations that fill whole vectors, with
contiguous accesses, are vectorised before they are unrolled:

    for it: for i in 32 * it .. 32 * it + 32: C[i] = f(A[i]); C[i] = g(C[i])  ->  4 vectors

A short sum of a varying number of terms would become masked vectors that hold less than a few
terms on average, and that wait for the scalars stored just before (or, in order, for each other):

    for i < 12: for j < i: for k < j: A[i][j] -= A[i][k] * A[j][k]        ->  scalars
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import chain, pairwise
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects import affine
from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from ...passes.estimate.elementary_functions import OPERATIONS, function_name
from ...passes.estimate.short_inner_loops import SHORTEST
from ...passes.estimate.strided_accesses import LARGEST_STRIDE
from ..loops.operations import operations
from .gathering_loops import gathering_loops
from .many_constants import many_constants
from .several_extrema import several_extrema
from .unrolling import (
    LOOPS,
    Linear,
    Rounded,
    combined,
    has_vectors,
    linear_results,
    most_iterations,
    trip_count,
)

if TYPE_CHECKING:
    from ...passes.machine.target import Target

SHORTEST_VECTORS = 8
"""Iterations from which on a loop is vectorised before it is unrolled."""

UNROLLED = 512
"""Operations up to which LLVM may unroll a loop and those around it."""

FEW = 8
"""Iterations up to which LLVM unrolls a loop that may have fewer."""

SHORT_SUM = 4
"""Vectors up to which sums of a varying number of terms are left alone."""

MOST_SUMS = 4
"""Sums for each costly operation up to which vectors pay whose lanes are added in order."""

FAR = 2
"""Accesses jump that move by so many elements, or more."""


def vector_hints(
    function: Operation, target: Target, *, reassociates: bool
) -> dict[SSAValue, bool]:
    """The indices of loops along which LLVM is to make vectors first, or none."""
    without = dict.fromkeys(_without_vectors(function, target, reassociates=reassociates), False)
    short = _short_sums(function, target, reassociates=reassociates)
    without |= dict.fromkeys(short, False)
    without |= dict.fromkeys(several_extrema(function), False)
    gathering = gathering_loops(function, target, reassociates=reassociates)
    without |= dict.fromkeys(gathering, False)
    without |= dict.fromkeys(many_constants(function), False)
    if not reassociates:
        without |= dict.fromkeys(_cheap_terms(function), False)
    return without | dict.fromkeys(_vectors_first(function, target, reassociates), True)


def _without_vectors(
    function: Operation, target: Target, *, reassociates: bool
) -> Iterator[SSAValue]:
    """The indices of loops inside of which an innermost one is the better one for vectors.

    Along the loop of such an index more accesses jump, and fewer follow each other.
    """
    loops = [op for op in operations(function) if op.name in LOOPS]
    outer = {around for loop in loops for around in _around(loop)}
    for loop in loops:
        if not isinstance(loop, affine.ForOp) or loop in outer:
            continue
        trips = trip_count(loop)
        if trips is not None and trips < SHORTEST:
            continue
        enclosing = list(_loops_around(loop))
        if not enclosing:
            continue
        accesses = _accesses(loop)
        # Where the inner loop adds up one after the other, or less than a vector holds, a gather
        # that all its iterations share is no reason against vectors along the loop around, nor is
        # a small stride.
        is_serial = not reassociates and _is_serial(loop, accesses)
        is_serial |= _is_short_sum(loop, accesses, target)
        if reassociates:
            # What is added up in a register is accessed once, around the inner loop.
            accesses = [each for each in accesses if not _is_sum(loop, each, accesses)]
        inner = [_moved(access, *_indices(loop)[0]) for _, access in accesses]
        begun = [access for _, access in accesses]
        for inside, other in pairwise([loop, *enclosing]):
            # The outermost of these may be another loop, none inside of it.
            assert isinstance(inside, affine.ForOp)
            begun = _where_it_begins(begun, inside)
            for index, step in _indices(other):
                steps = [_moved(access, index, step) for access in begun]
                jumps = sum(
                    move == FAR
                    and not (is_serial and (own == 0 or _is_strided(access, index, step)))
                    for own, move, access in zip(inner, steps, begun, strict=True)
                )
                # What stays along the next loop around is gathered once, in front of it.
                gathers = sum(
                    own == FAR and (move != 0 or inside is not loop)
                    for own, move in zip(inner, steps, strict=True)
                )
                if inner.count(1) > steps.count(1) and gathers < jumps:
                    yield index


def _short_sums(function: Operation, target: Target, *, reassociates: bool) -> Iterator[SSAValue]:
    """The indices of innermost loops that add up a varying, but always small, number of terms.

    In any order, those alone whose terms the function itself has stored.
    """
    stored = {op.memref for op in operations(function) if isinstance(op, affine.StoreOp)}
    for loop in operations(function):
        if not isinstance(loop, affine.ForOp) or trip_count(loop) is not None:
            continue
        accesses = _accesses(loop)
        kinds = [op.results[0].type for op, _ in accesses if isinstance(op, affine.LoadOp)]
        if (
            kinds
            and most_iterations(loop) <= SHORT_SUM * min(map(target.lanes, kinds))
            and not any(op.name in LOOPS for op in operations(loop)[1:])
            and _is_serial(loop, accesses)
            and (not reassociates or _adds_stored(loop, accesses, stored))
        ):
            yield loop.body.block.args[0]


def _adds_stored(loop: affine.ForOp, accesses: Sequence[_Access], stored: Set[SSAValue]) -> bool:
    """Whether a sum has terms in arrays that are stored to."""
    return any(each[0].memref in stored for each in accesses if not _is_sum(loop, each, accesses))


def _cheap_terms(function: Operation) -> Iterator[SSAValue]:
    """The indices of loops that add up, in order, terms that take no longer than adding them.

    LLVM would gather them, or take vectors apart for many sums.
    """
    for loop in operations(function):
        if not isinstance(loop, affine.ForOp):
            continue
        inside = operations(loop)[1:]
        counts = [trip_count(op) for op in inside if isinstance(op, affine.ForOp)]
        if not all(count is not None and count <= FEW for count in counts):
            continue
        accesses = _accesses(loop)
        if not _is_serial(loop, accesses):
            continue
        gathers = any(_jumps(each, *_indices(loop)[0]) for each in accesses)
        costly = sum(op.name in _COSTLY or function_name(op) in OPERATIONS for op in inside)
        sums = prod(count for count in counts if count is not None)
        if (gathers and not costly) or sums > MOST_SUMS * max(1, costly):
            yield loop.body.block.args[0]


_COSTLY = frozenset({"arith.divf", "math.sqrt", "math.rsqrt"})
"""Operations that take longer than an addition, beside elementary functions."""


def _loops_around(loop: affine.ForOp) -> Iterator[Operation]:
    """The loops that are the innermost ones once LLVM unrolls those inside of them.

    No others: where a loop around ends together with one inside, LLVM takes its hint for that of
    the latter.
    """
    inside: Operation = loop
    for around in _around(loop):
        if around.name in LOOPS:
            if not isinstance(inside, affine.ForOp) or not _may_be_unrolled(inside):
                return
            yield around
            inside = around


def _where_it_begins(
    accesses: Sequence[Sequence[Linear]], loop: affine.ForOp
) -> list[Sequence[Linear]]:
    """Subscripts in the first iteration: `8 * jt + 1` for `j + 1` and j from 8 * jt on.

    Of several bounds, that counts which depends on most. Terms that are not linear depend on what
    the bound does.
    """
    bounds = linear_results(loop.lowerBoundMap.data, loop.lowerBoundOperands)
    begin = max(bounds, key=lambda bound: len(bound.keys() - {None}))
    index = loop.body.block.args[0]
    return [[_begun(subscript, index, begin) for subscript in access] for access in accesses]


def _begun(subscript: Linear, index: SSAValue, begin: Linear) -> Linear:
    used = [value for term in begin for value in _values(term)]
    result: Linear = {}
    for term, coefficient in subscript.items():
        if isinstance(term, Rounded) and index in term.values:
            others = [value for value in term.values if value is not index]
            result[Rounded(term.expression, (*others, *used))] = coefficient
        elif term is not index:
            result[term] = coefficient
    return combined(result, begin, subscript.get(index, 0))


def _values(term: SSAValue | Rounded | None) -> Sequence[SSAValue]:
    """The values that a term depends on."""
    if isinstance(term, Rounded):
        return term.values
    return () if term is None else (term,)


def _vectors_first(function: Operation, target: Target, reassociates: bool) -> Iterator[SSAValue]:
    """The indices of innermost loops that are better vectorised than unrolled."""
    for loop in operations(function):
        if isinstance(loop, affine.ForOp) and (
            _suits_vectors(loop, target) or (reassociates and _adds_up_vectors(loop, target))
        ):
            yield loop.body.block.args[0]


def _adds_up_vectors(loop: affine.ForOp, target: Target) -> bool:
    """Whether a loop only adds up elements that fill vectors, to sums of the loop around.

    Unrolled, LLVM adds all of them one after the other.
    """
    trips, around = trip_count(loop), next(_around(loop), None)
    inside, accesses = operations(loop)[1:], _accesses(loop)
    if trips is None or not isinstance(around, affine.ForOp) or "llvm.unroll" in loop.attributes:
        return False
    if not all(map(_has_vector_form, inside)) or has_vectors(loop):
        return False
    if not _added_up(loop, accesses) or not set(loop.inits) <= set(around.body.block.args):
        return False
    if any(
        _moved(access, *_indices(around)[0])
        for op, access in accesses
        if isinstance(op, affine.StoreOp)
    ):
        return False
    moves = [(op, _moved(access, *_indices(loop)[0])) for op, access in accesses]
    lanes = [target.lanes(op.results[0].type) for op, move in moves if move == 1]
    return bool(lanes) and trips % max(lanes) == 0 and all(move <= 1 for _, move in moves)


def _may_be_unrolled(loop: affine.ForOp) -> bool:
    """Whether LLVM can unroll a loop fully: a constant number of iterations, or few at most."""
    return trip_count(loop) is not None or most_iterations(loop) <= FEW


_Access = tuple[affine.LoadOp | affine.StoreOp, list[Linear]]
"""A load or a store, and its subscripts."""


def _accesses(loop: affine.ForOp) -> list[_Access]:
    """Loads and stores, with their subscripts."""
    return [
        (op, linear_results(op.map.data, op.indices))
        for op in operations(loop)
        if isinstance(op, affine.LoadOp | affine.StoreOp)
    ]


def _is_sum(loop: affine.ForOp, one: _Access, accesses: Sequence[_Access]) -> bool:
    """Whether an access stays at an element that the loop loads and stores."""
    op, place = one
    kinds = {
        type(other) for other, access in accesses if other.memref is op.memref and access == place
    }
    return len(kinds) == 2 and not _moved(place, *_indices(loop)[0])


def _is_serial(loop: affine.ForOp, accesses: Sequence[_Access]) -> bool:
    """Whether all that a loop does is to add up floats, or the like, one after the other."""
    added = _added_up(loop, accesses)
    return added is not None and all(
        isinstance(value.type, AnyFloat)
        and not (isinstance(value.owner, Operation) and value.owner.name in _ANY_ORDER)
        for value in added
    )


def _added_up(loop: affine.ForOp, accesses: Sequence[_Access]) -> list[SSAValue] | None:
    """What a loop hands on or updates in place; None where it stores elsewhere."""
    loads = [(op.memref, access) for op, access in accesses if isinstance(op, affine.LoadOp)]
    last = loop.body.block.last_op
    results = list(last.operands) if last is not None else []
    for op, access in accesses:
        if isinstance(op, affine.StoreOp):
            if _moved(access, *_indices(loop)[0]) or (op.memref, access) not in loads:
                return None
            results.append(op.value)
    return results


def _is_short_sum(loop: affine.ForOp, accesses: Sequence[_Access], target: Target) -> bool:
    """Whether a loop does nothing but add up, and the elements of a vector are more than it has."""
    trips = trip_count(loop)
    loaded = [
        op.results[0].type
        for op, access in accesses
        if isinstance(op, affine.LoadOp) and _moved(access, *_indices(loop)[0])
    ]
    return (
        trips is not None
        and bool(loaded)
        and trips < min(map(target.lanes, loaded))
        and _added_up(loop, accesses) is not None
    )


_ANY_ORDER = frozenset({"arith.maximumf", "arith.minimumf"})
"""Operations on floats of which LLVM makes vectors in any order."""


def _suits_vectors(loop: affine.ForOp, target: Target) -> bool:
    """Whether iterations are independent, and what they access stays or follows each other.

    Iterations that fill no vector would run one by one; unrolled, they share smaller ones. And
    where the same elements are stored in each iteration of a loop around, they stay in registers
    once the loop is unrolled.
    """
    trips = trip_count(loop)
    if trips is None or trips < SHORTEST_VECTORS or "llvm.unroll" in loop.attributes:
        return False
    inside = operations(loop)[1:]
    size = trips * (1 + len(inside))
    if loop.inits or not all(map(_has_vector_form, inside)) or has_vectors(loop):
        return False
    index, step = loop.body.block.args[0], loop.step.value.data
    stored: dict[SSAValue, list[Sequence[Linear]]] = {}
    loaded: dict[SSAValue, list[Sequence[Linear]]] = {}
    for op in inside:
        if isinstance(op, affine.LoadOp | affine.StoreOp):
            access = linear_results(op.map.data, op.indices)
            is_store = isinstance(op, affine.StoreOp)
            if is_store and trips % target.lanes(op.value.type):
                return False
            moved = _moved(access, index, step)
            if moved == FAR or (is_store and (moved == 0 or _stays(loop, size, access))):
                return False
            (stored if is_store else loaded).setdefault(op.memref, []).append(access)
    return bool(stored) and all(
        access == accesses[0]
        for array, accesses in stored.items()
        for access in chain(accesses, loaded.get(array, ()))
    )


def _has_vector_form(op: Operation) -> bool:
    """Whether LLVM makes one operation on vectors of several of these."""
    if op.dialect_name() in ("arith", "math"):
        return not op.name.endswith(_INTEGER_DIVISIONS)
    return op.name in _AFFINE


_AFFINE = frozenset({"affine.apply", "affine.load", "affine.store", "affine.yield"})
_INTEGER_DIVISIONS = ("divsi", "divui", "remsi", "remui")


def _stays(loop: affine.ForOp, size: int, access: Sequence[Linear]) -> bool:
    """Whether an access inside comes to the same elements in each iteration of a loop around.

    That is the innermost one around, or one around loops that are unrolled as well; `size` are
    the operations of the loop itself then.
    """
    (access,) = _where_it_begins([access], loop)
    for around in _around(loop):
        if around.name not in LOOPS:
            continue
        if size > UNROLLED:
            return False
        if not any(
            _coefficient(result, index) for index, _ in _indices(around) for result in access
        ):
            return True
        if not isinstance(around, affine.ForOp) or (trips := trip_count(around)) is None:
            return False
        size *= trips
        (access,) = _where_it_begins([access], around)
    return False


def _around(op: Operation) -> Iterator[Operation]:
    """The operations around another one, from the inside outwards."""
    while (parent := op.parent_op()) is not None:
        yield parent
        op = parent


def _indices(op: Operation) -> list[tuple[SSAValue, int]]:
    """The indices of an affine loop, and by how much each grows."""
    match op:
        case affine.ForOp():
            return [(op.body.block.args[0], op.step.value.data)]
        case affine.ParallelOp():
            steps = (step.value.data for step in op.steps)
            return list(zip(op.body.block.args, steps, strict=True))
        case _:
            return []


def _moved(access: Sequence[Linear], index: SSAValue, step: int) -> int:
    """By how many elements an access moves where `index` grows by `step`, up to `FAR`."""
    *rows, element = [_coefficient(result, index) for result in access] or [0]
    return FAR if any(rows) else min(abs(element * step), FAR)


def _is_strided(access: Sequence[Linear], index: SSAValue, step: int) -> bool:
    """Whether LLVM loads what an access moves over in rows, and shuffles these."""
    *rows, element = [_coefficient(result, index) for result in access] or [0]
    return not any(rows) and abs(element * step) <= LARGEST_STRIDE


def _jumps(access: _Access, index: SSAValue, step: int) -> bool:
    """Whether an access moves by more elements than LLVM loads and shuffles."""
    op, subscripts = access
    moved, pitch = 0, 1
    for subscript, extent in zip(reversed(subscripts), reversed(_shape(op)), strict=True):
        coefficient = _coefficient(subscript, index)
        if coefficient and pitch < 0:
            return True  # Rows are as long as an argument says.
        moved += coefficient * step * pitch
        pitch = pitch * extent if extent >= 0 and pitch >= 0 else DYNAMIC_INDEX
    return abs(moved) > LARGEST_STRIDE


def _shape(op: affine.LoadOp | affine.StoreOp) -> Sequence[int]:
    kind = op.memref.type
    assert isa(kind, MemRefType)
    return kind.get_shape()


def _coefficient(result: Linear, index: SSAValue) -> int:
    """The coefficient of `index`; `FAR` where it is in a term that is not linear."""
    if any(isinstance(term, Rounded) and index in term.values for term in result):
        return FAR
    return result.get(index, 0)
