"""Bit-width analysis: the narrowest type in which integer arithmetic gives the same bits.

    %3 = arith.extui %0 : i8 to i32
    %4 = arith.muli %3, %c77 : i32             16 bits hold 77 * 255
    %5 = arith.addi %4, %c128 : i32            16 bits hold the sum, or are all that counts of it
    %6 = arith.shrui %5, %c8 : i32             8 bits are asked for: 16 of %5 are
    %7 = arith.trunci %6 : i32 to i8

An operation is exact in a width that holds its operands and its result (value ranges, forwards). An
addition, subtraction or product, and what works bit by bit, also gives as many low bits as are
demanded of it from as many low bits of its operands (demanded bits, backwards).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func
from xdsl.ir import Operation, SSAValue

from .integer_ranges import Ranges, constant_of, integer_ranges, integer_width, range_of

WIDTHS = (8, 16, 32)
"""Bits of the types that arithmetic is narrowed to."""

MODULAR = frozenset(
    f"arith.{name}" for name in ("addi", "subi", "muli", "andi", "ori", "xori", "shli", "select")
)
"""Operations whose low bits depend on as many low bits of their operands."""

_RIGHT_SHIFTS = frozenset(("arith.shrsi", "arith.shrui"))
_EXTENSIONS = frozenset(("arith.extsi", "arith.extui"))
_UNSIGNED_NAMES = {
    f"arith.{name}si": f"arith.{name}ui" for name in ("shr", "min", "max", "div", "rem")
}
_SIGNED_NAMES = {unsigned: signed for signed, unsigned in _UNSIGNED_NAMES.items()}
_EXACT = frozenset((*_UNSIGNED_NAMES, *_SIGNED_NAMES, "arith.cmpi", "math.absi"))
_CHEAPER_UNSIGNED = frozenset(f"arith.{name}si" for name in ("shr", "div", "rem"))
_FIRST_UNSIGNED = 6  # of the predicates of arith.cmpi
_SUMS = frozenset(("arith.addi", "arith.subi"))
_NO_BYTES = frozenset(("arith.muli", "arith.divsi", "arith.divui", "arith.remsi", "arith.remui"))
"""What processors do not have on vectors of bytes."""


@dataclass(frozen=True)
class Narrowed:
    """An operation computed in `width` bits, by the operation `name`.

    `signed` says that a result that is wanted in more bits is read as signed, and of a comparison,
    that its operands are.
    """

    width: int
    name: str
    signed: bool


def narrowed_operations(operations: Sequence[Operation]) -> dict[Operation, Narrowed]:
    """The operations, given in order, that are computed in fewer bits than their type has."""
    ranges = integer_ranges(operations)
    demanded = _demanded_bits(operations)
    narrowed: dict[Operation, Narrowed] = {}
    for operation in operations:
        found = _narrowed(operation, ranges, demanded, narrowed)
        if found is not None:
            narrowed[operation] = found
    for operation in reversed(operations):
        if operation in narrowed and not _stays_narrow(operation, narrowed):
            del narrowed[operation]
    return narrowed


def available_width(value: SSAValue, narrowed: Mapping[Operation, Narrowed]) -> int:
    """The fewest bits in which a value is at hand, without a truncation in each iteration.

    0 for a constant, an argument of the function, and a vector of one scalar.
    """
    if constant_of(value) is not None:
        return 0
    bits = integer_width(value.type)
    assert bits is not None
    owner = value.owner
    if not isinstance(owner, Operation):
        return 0 if isinstance(owner.parent_op(), func.FuncOp) else bits
    if owner in narrowed:
        return narrowed[owner].width
    if owner.name in _EXTENSIONS:
        source = integer_width(owner.operands[0].type)
        return bits if source is None else max(source, min(WIDTHS))
    return 0 if owner.name == "vector.broadcast" else bits


def values_of(operation: Operation) -> Sequence[SSAValue]:
    """The operands that take part in the arithmetic: not a condition."""
    return operation.operands[1:] if operation.name == "arith.select" else operation.operands


def _demanded_bits(operations: Sequence[Operation]) -> dict[SSAValue, int]:
    """How many low bits of the results of operations have a part in what others do.

    All bits of what is not in the result.
    """
    demanded: dict[SSAValue, int] = {}
    for operation in reversed(operations):
        for result in operation.results:
            bits = integer_width(result.type)
            if bits is not None:
                asked = (_demand(use.operation, use.index, demanded) for use in result.uses)
                demanded[result] = max((min(bits, a or bits) for a in asked), default=0)
    return demanded


def _demand(user: Operation, index: int, demanded: Mapping[SSAValue, int]) -> int | None:
    """How many low bits of an operand an operation asks for; None: all."""
    name = user.name
    if name in ("arith.trunci", "vector.broadcast", *_EXTENSIONS):
        bits = integer_width(user.operands[0].type)
        asked = demanded.get(user.results[0])
        return None if bits is None or asked is None else max(1, min(bits, asked))
    if name in _RIGHT_SHIFTS or name == "arith.shli":
        amount = constant_of(user.operands[1])
        asked = demanded.get(user.results[0])
        if index != 0 or amount is None or amount < 0 or asked is None:
            return None
        return max(1, asked - amount) if name == "arith.shli" else asked + amount
    if name in MODULAR and not (name == "arith.select" and index == 0):
        asked = demanded.get(user.results[0])
        return None if asked is None else max(1, asked)
    return None


def _narrowed(
    operation: Operation,
    ranges: Ranges,
    demanded: Mapping[SSAValue, int],
    narrowed: Mapping[Operation, Narrowed],
) -> Narrowed | None:
    """The narrowest width of an operation to which no operand has to be truncated."""
    name = operation.name
    if name not in MODULAR and name not in _EXACT:
        return None
    operands = values_of(operation)
    bits = integer_width(operands[0].type)
    if bits is None or bits not in (16, 32, 64):
        return None
    least = max(available_width(operand, narrowed) for operand in operands)
    for width in WIDTHS:
        if least <= width < bits and (width > 8 or name not in _NO_BYTES):
            found = _in(width, operation, ranges, demanded)
            if found is not None:
                return found
    return None


def _in(
    width: int, operation: Operation, ranges: Ranges, demanded: Mapping[SSAValue, int]
) -> Narrowed | None:
    """The operation in so many bits, if it gives the same there."""
    name = operation.name
    result = operation.results[0]
    shifts = name in _RIGHT_SHIFTS or name == "arith.shli"
    if shifts:
        amount = constant_of(operation.operands[1])
        if amount is None or not 0 <= amount < width:
            return None
        if name != "arith.shli" and demanded[result] + amount <= width:
            return Narrowed(width, "arith.shrui", signed=False)
    if name in MODULAR:
        signed = range_of(result, ranges).fits(width, signed=True)
        if signed or demanded[result] <= width:
            return Narrowed(width, name, signed)
        exact = range_of(result, ranges).fits(width, signed=False)
        return Narrowed(width, name, signed=False) if exact else None
    values = [range_of(operand, ranges) for operand in values_of(operation)]
    if shifts:
        del values[1:]
    fits = {sign: all(each.fits(width, signed=sign) for each in values) for sign in (True, False)}
    if is_unsigned(operation) and any(each.low < 0 for each in values):
        return None
    signed = not fits[False] if is_unsigned(operation) or name in _CHEAPER_UNSIGNED else fits[True]
    signed |= name == "math.absi"
    if not fits[signed]:
        return None
    names = _SIGNED_NAMES if signed else _UNSIGNED_NAMES
    if isinstance(operation, arith.CmpiOp):
        return Narrowed(width, name, signed)
    found = range_of(result, ranges)
    if not (found.fits(width, signed=True) or found.fits(width, signed=False)):
        return None
    return Narrowed(width, names.get(name, name), found.fits(width, signed=True))


def is_unsigned(operation: Operation) -> bool:
    """Whether the operation reads its operands as unsigned."""
    if isinstance(operation, arith.CmpiOp):
        return operation.predicate.value.data >= _FIRST_UNSIGNED
    return operation.name in _SIGNED_NAMES


def _stays_narrow(operation: Operation, narrowed: Mapping[Operation, Narrowed]) -> bool:
    """Whether to leave an operation narrow: not a product that is added up in more bits.

    Processors multiply short integers and add the products in one operation.
    """
    if operation.name != "arith.muli":
        return True
    users = [use.operation for use in operation.results[0].uses]
    return any(user in narrowed for user in users) or all(user.name not in _SUMS for user in users)
