"""Value-range analysis of integer arithmetic: intervals of two's-complement values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, IntegerType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from .multilinear_bounds import Polynomial, bounds, constant, multiplied, total, variable, variables


@dataclass(frozen=True, slots=True)
class Range:
    """The integers from `low` to `high`, of values read as signed."""

    low: int
    high: int

    def fits(self, bits: int, *, signed: bool) -> bool:
        """Whether integers of so many bits hold all of them."""
        return Range.of(bits, signed=signed).contains(self)

    def contains(self, other: Range) -> bool:
        """Whether the others are among these."""
        return self.low <= other.low and other.high <= self.high

    @staticmethod
    @cache
    def of(bits: int, *, signed: bool) -> Range:
        """All integers of so many bits."""
        return Range(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else Range(0, 2**bits - 1)


Ranges = Mapping[SSAValue, Range]


def integer_width(kind: Attribute) -> int | None:
    """Bits of an integer type or of the elements of a vector of integers; None for others."""
    if isa(kind, VectorType):
        kind = kind.element_type
    return kind.width.data if isa(kind, IntegerType) else None


def range_of(value: SSAValue, known: Ranges) -> Range:
    """What is known of an integer value: at least what its type says."""
    found = known.get(value)
    if found is None:
        bits = integer_width(value.type)
        assert bits is not None, "only integers have ranges"
        found = Range.of(bits, signed=True)
    return found


def constant_of(value: SSAValue) -> int | None:
    """The value of an integer constant, or of all lanes of a vector."""
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return number.value.data
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as elements):
            lanes = {lane for lane in elements.get_values() if isinstance(lane, int)}
            return lanes.pop() if len(lanes) == 1 else None
        case vector.BroadcastOp(source=source):
            return constant_of(source)
        case _:
            return None


def integer_ranges(
    operations: Iterable[Operation], given: Ranges | None = None
) -> dict[SSAValue, Range]:
    """The ranges of the results of operations in order, of which something is known.

    Those of other values may be `given`.
    """
    known: dict[SSAValue, Range] = dict(given or {})
    polynomials: dict[SSAValue, Polynomial] = {}
    for operation in operations:
        rule = _RULES.get(operation.name)
        if rule is None:
            continue
        result = operation.results[0]
        bits = integer_width(result.type)
        if bits is None:
            continue
        found = rule(operation, known)
        polynomial = None
        if found is not None and operation.name in _SUMS_AND_PRODUCTS:
            polynomial, tighter = _polynomial(operation, polynomials, known)
            found = tighter or found
        if found is not None and Range.of(bits, signed=True).contains(found):
            known[result] = found
            if polynomial is not None:
                polynomials[result] = polynomial
    return known


_SUMS_AND_PRODUCTS = ("arith.addi", "arith.subi", "arith.muli")


def _polynomial(
    operation: Operation, polynomials: Mapping[SSAValue, Polynomial], known: Ranges
) -> tuple[Polynomial | None, Range | None]:
    """A sum or product in terms of values that are none, and its range if it says more.

    Intervals say as much where the operands have no variable in common.
    """
    left, right = (_in_variables(operand, polynomials) for operand in operation.operands)
    match operation.name:
        case "arith.addi":
            polynomial = total(left, right)
        case "arith.subi":
            polynomial = total(left, right, -1)
        case _:
            polynomial = multiplied(left, right)
    if polynomial is None or variables(left).isdisjoint(variables(right)):
        return polynomial, None
    ends = bounds(polynomial, lambda value: _ends(value, known))
    return polynomial, None if ends is None else Range(*ends)


def _in_variables(value: SSAValue, known: Mapping[SSAValue, Polynomial]) -> Polynomial:
    if value in known:
        return known[value]
    number = constant_of(value)
    return variable(value) if number is None else constant(number)


def _ends(value: SSAValue, known: Ranges) -> tuple[int, int]:
    values = range_of(value, known)
    return values.low, values.high


_Rule = Callable[[Operation, Ranges], Range | None]
"""The interval of a result before it wraps around; None where nothing is known."""


def _constant(operation: Operation, _: Ranges) -> Range | None:
    value = constant_of(operation.results[0])
    if value is None:
        return None
    bits = integer_width(operation.results[0].type)
    assert bits is not None
    wrapped = value & ((1 << bits) - 1)
    value = wrapped - (1 << bits) if bits > 1 and wrapped >> (bits - 1) else wrapped
    return Range(value, value)


def _corners(compute: Callable[[int, int], int]) -> _Rule:
    """A function that is monotonic in each operand."""

    def rule(operation: Operation, known: Ranges) -> Range:
        left, right = (range_of(operand, known) for operand in operation.operands)
        pairs = product((left.low, left.high), (right.low, right.high))
        found = [compute(a, b) for a, b in pairs]
        return Range(min(found), max(found))

    return rule


def _of_non_negative(of_both: _Rule) -> _Rule:
    """Unsigned operations are signed ones where no operand is negative."""

    def rule(operation: Operation, known: Ranges) -> Range | None:
        operands = (range_of(operand, known) for operand in operation.operands)
        return of_both(operation, known) if all(each.low >= 0 for each in operands) else None

    return rule


def _shift(operation: Operation, known: Ranges) -> Range | None:
    value, amount = range_of(operation.operands[0], known), constant_of(operation.operands[1])
    bits = integer_width(operation.results[0].type)
    if amount is None or bits is None or not 0 <= amount < bits:
        return None
    match operation:
        case arith.ShLIOp():
            return Range(value.low << amount, value.high << amount)
        case arith.ShRUIOp() if value.low < 0:
            return Range(0, (1 << (bits - amount)) - 1) if amount else None
        case _:
            return Range(value.low >> amount, value.high >> amount)


def _bitwise(operation: Operation, known: Ranges) -> Range | None:
    left, right = (range_of(operand, known) for operand in operation.operands)
    bounds = [each.high for each in (left, right) if each.low >= 0]
    if isinstance(operation, arith.AndIOp) and bounds:
        return Range(0, min(bounds))
    bits = max(_signed_bits(left), _signed_bits(right))
    return Range(0, (1 << (bits - 1)) - 1) if len(bounds) == 2 else Range.of(bits, signed=True)


def _signed_bits(values: Range) -> int:
    return 1 + max((~each if each < 0 else each).bit_length() for each in (values.low, values.high))


def _division(operation: Operation, known: Ranges) -> Range | None:
    value, divisor = range_of(operation.operands[0], known), constant_of(operation.operands[1])
    is_unsigned = operation.name in ("arith.divui", "arith.remui")
    if divisor is None or divisor <= 0 or (is_unsigned and value.low < 0):
        return None
    if operation.name in ("arith.remsi", "arith.remui"):
        largest = divisor - 1
        return Range(max(-largest, min(value.low, 0)), min(largest, max(value.high, 0)))
    low, high = (abs(end) // divisor * (-1 if end < 0 else 1) for end in (value.low, value.high))
    return Range(low, high)


def _rounded_down(operation: Operation, known: Ranges) -> Range | None:
    value, divisor = range_of(operation.operands[0], known), constant_of(operation.operands[1])
    if divisor is None or divisor <= 0:
        return None
    return Range(value.low // divisor, value.high // divisor)


def _extension(operation: Operation, known: Ranges) -> Range:
    source = operation.operands[0]
    bits = integer_width(source.type)
    assert bits is not None
    if bits == 1:
        return Range(0, 1) if isinstance(operation, arith.ExtUIOp) else Range(-1, 0)
    values = range_of(source, known)
    if isinstance(operation, arith.ExtUIOp) and values.low < 0:
        return Range.of(bits, signed=False)
    return values


def _same(operation: Operation, known: Ranges) -> Range | None:
    source = operation.operands[0]
    return None if integer_width(source.type) is None else range_of(source, known)


def _select(operation: Operation, known: Ranges) -> Range:
    condition, left, right = operation.operands
    one = _under(condition, left, known, holds=True)
    other = _under(condition, right, known, holds=False)
    return Range(min(one.low, other.low), max(one.high, other.high))


def _under(condition: SSAValue, value: SSAValue, known: Ranges, *, holds: bool) -> Range:
    """The range of a value where a condition holds or not: of what is compared, or one step on."""
    compared = _compared(condition, holds=holds)
    if compared is None:
        return range_of(value, known)
    operand, low, high = compared
    values = range_of(operand, known)
    narrowed = Range(max(values.low, low), min(values.high, high))
    if narrowed.low > narrowed.high:
        return range_of(value, known)  # It never comes to that.
    if value is operand:
        return narrowed
    owner, before = value.owner, range_of(value, known)
    rule = _RULES.get(owner.name) if isinstance(owner, Operation) else None
    if not isinstance(owner, Operation) or rule is None or operand not in owner.operands:
        return before
    found = rule(owner, {**known, operand: narrowed})
    return found if found is not None and before.contains(found) else before


def _compared(condition: SSAValue, *, holds: bool) -> tuple[SSAValue, int, int] | None:
    """What is compared with a constant, and between which values it lies if that holds or not."""
    match condition.owner:
        case arith.CmpiOp(lhs=left, rhs=right, predicate=IntegerAttr() as which):
            predicate, number = which.value.data, constant_of(right)
        case _:
            return None
    if number is None:
        left, number, predicate = right, constant_of(left), _MIRRORED.get(predicate, -1)
    bits = integer_width(left.type)
    if number is None or bits is None:
        return None
    every = Range.of(bits, signed=True)
    below, above = (every.low, number - 1), (number + 1, every.high)
    ends = {
        (0, True): (number, number),
        (1, False): (number, number),
        (2, True): below,
        (2, False): (number, every.high),
        (3, True): (every.low, number),
        (3, False): above,
        (4, True): above,
        (4, False): (every.low, number),
        (5, True): (number, every.high),
        (5, False): below,
    }.get((predicate, holds))
    return None if ends is None else (left, *ends)


_MIRRORED = {0: 0, 1: 1, 2: 4, 3: 5, 4: 2, 5: 3}
"""Signed predicates of `arith.cmpi` (eq, ne, slt, sle, sgt, sge), and those of swapped operands."""


def _magnitude(operation: Operation, known: Ranges) -> Range:
    values = range_of(operation.operands[0], known)
    least = 0 if values.low <= 0 <= values.high else min(abs(values.low), abs(values.high))
    return Range(least, max(abs(values.low), abs(values.high)))


_RULES: dict[str, _Rule] = {
    "arith.constant": _constant,
    "arith.addi": _corners(lambda a, b: a + b),
    "arith.subi": _corners(lambda a, b: a - b),
    "arith.muli": _corners(lambda a, b: a * b),
    "arith.minsi": _corners(min),
    "arith.maxsi": _corners(max),
    "arith.minui": _of_non_negative(_corners(min)),
    "arith.maxui": _of_non_negative(_corners(max)),
    "arith.andi": _bitwise,
    "arith.ori": _bitwise,
    "arith.xori": _bitwise,
    "arith.extui": _extension,
    "arith.extsi": _extension,
    "arith.trunci": _same,
    "arith.shli": _shift,
    "arith.shrsi": _shift,
    "arith.shrui": _shift,
    "arith.floordivsi": _rounded_down,
    "arith.divsi": _division,
    "arith.divui": _division,
    "arith.remsi": _division,
    "arith.remui": _division,
    "arith.select": _select,
    "math.absi": _magnitude,
    "vector.broadcast": _same,
}
