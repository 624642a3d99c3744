"""Random expressions in SSA form, with interval bounds of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from . import distribution
from .distribution import draw
from .program_parts import Interval

LARGEST = 1e6
"""Values of larger magnitude are scaled down before they are used again."""

NANOSECONDS = {"divf": 1.5, "sqrt": 2.0, "exp": 6.0, "tanh": 12.0, "load": 0.25}
"""What an operation costs in scalar code, where that is not `CHEAP`."""

CHEAP = 0.2


@dataclass(frozen=True)
class Value:
    """An SSA value with interval bounds; integers wrap around, and have none."""

    name: str
    interval: Interval


@dataclass
class Code:
    """The lines of a function, and the cost so far of the statement being written."""

    random: Random
    element_type: str
    lines: list[str] = field(default_factory=list[str])
    constants: dict[float, str] = field(default_factory=dict[float, str])
    nanoseconds: float = 0.0
    values: int = 0

    @property
    def is_float(self) -> bool:
        """Whether the elements are floats."""
        return self.element_type.startswith("f")

    def constant(self, value: float) -> Value:
        """A constant, which stands at the top of the function."""
        value = float(f"{value:.6g}") if self.is_float else int(value)
        name = self.constants.setdefault(value, f"%c{len(self.constants)}")
        return Value(name, Interval(value, value))

    def emit(self, text: str, operation: str, interval: Interval) -> Value:
        """A line that makes a value."""
        name = f"%{self.values}"
        self.values += 1
        self.lines.append(f"{name} = {text}")
        self.nanoseconds += NANOSECONDS.get(operation, CHEAP)
        return Value(name, interval)

    def binary(self, operation: str, left: Value, right: Value) -> Value:
        """An operation of `arith`; of floats, changed where it could leave all bounds."""
        if self.is_float:
            left, right = self._tame(left), self._tame(right)
            if operation == "divf":
                right = self._positive(right)
        text = f"arith.{operation} {left.name}, {right.name} : {self.element_type}"
        interval = _INTERVALS.get(operation, _unbounded)(left.interval, right.interval)
        return self.emit(text, operation, interval)

    def call(self, function: str, value: Value) -> Value:
        """A function of `math`, applied to what it is defined for."""
        if function == "sqrt" and value.interval.low < 0:
            value = self._call("absf", value)
        if function == "exp" and value.interval.high > 2:
            value = self.binary("minimumf", value, self.constant(2.0))
        return self._call(function, value)

    def _call(self, function: str, value: Value) -> Value:
        text = f"math.{function} {value.name} : {self.element_type}"
        return self.emit(text, function, _CALLED[function](value.interval))

    def _tame(self, value: Value) -> Value:
        magnitude = value.interval.magnitude
        if magnitude <= LARGEST:
            return value
        factor = self.constant(1.0 / magnitude)
        text = f"arith.mulf {value.name}, {factor.name} : {self.element_type}"
        return self.emit(text, "mulf", value.interval.scaled(factor.interval.low))

    def _positive(self, value: Value) -> Value:
        """A value of at least one half, as a divisor."""
        if value.interval.low >= 0.5:
            return value
        if value.interval.low < 0:
            value = self._call("absf", value)
        return self.binary("addf", value, self.constant(1.0))

    def combine(self, operands: Sequence[Value]) -> Value:
        """An expression tree over all of the operands, in any shape."""
        table = distribution.FLOAT_OPERATIONS if self.is_float else distribution.INTEGER_OPERATIONS
        waiting = list(operands)
        while len(waiting) > 1:
            position = self.random.randrange(len(waiting) - 1)
            left, right = waiting[position : position + 2]
            waiting[position : position + 2] = [self.binary(draw(self.random, table), left, right)]
        return waiting[0]

    def average(self, operands: Sequence[Value]) -> Value:
        """A weighted mean: it lies between the smallest and the largest operand."""
        if not self.is_float:
            total = operands[0]
            for operand in operands[1:]:
                total = self.binary("addi", total, operand)
            return self.binary("divsi", total, self.constant(max(2, len(operands))))
        if self.random.random() < 0.5:
            total = operands[0]
            for operand in operands[1:]:
                total = self.binary("addf", total, operand)
            return self._within(
                self.binary("mulf", total, self.constant(_round_down(1.0 / len(operands)))),
                operands,
            )
        shares = [self.random.uniform(0.5, 1.5) for _ in operands]
        total = None
        for operand, share in zip(operands, shares, strict=True):
            weight = self.constant(_round_down(share / sum(shares)))
            term = self.binary("mulf", operand, weight)
            total = term if total is None else self.binary("addf", total, term)
        assert total is not None, "a mean has operands"
        return self._within(total, operands)

    def _within(self, value: Value, operands: Sequence[Value]) -> Value:
        hull = operands[0].interval
        for operand in operands[1:]:
            hull = hull.hull(operand.interval)
        return Value(value.name, hull.hull(Interval(0.0, 0.0)))


def _round_down(weight: float) -> float:
    """Four digits: what is lost keeps a mean from growing by rounding, over any number of steps."""
    return int(weight * 1e4) / 1e4


def _product(left: Interval, right: Interval) -> Interval:
    products = [a * b for a in left for b in right]
    return Interval(min(products), max(products))


def _quotient(left: Interval, right: Interval) -> Interval:
    return _product(left, Interval(1 / right.high, 1 / right.low))


def _unbounded(_left: Interval, _right: Interval) -> Interval:
    return Interval(0.0, 0.0)


_INTERVALS: Mapping[str, Callable[[Interval, Interval], Interval]] = {
    "addf": lambda a, b: Interval(a.low + b.low, a.high + b.high),
    "subf": lambda a, b: Interval(a.low - b.high, a.high - b.low),
    "mulf": _product,
    "divf": _quotient,
    "maximumf": lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
    "minimumf": lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
}

_CALLED: Mapping[str, Callable[[Interval], Interval]] = {
    "sqrt": lambda a: Interval(0.0, max(1.0, a.high) ** 0.5),
    "absf": lambda a: Interval(0.0, a.magnitude),
    "exp": lambda a: Interval(0.0, 7.4),
    "tanh": lambda a: Interval(-1.0, 1.0),
}
