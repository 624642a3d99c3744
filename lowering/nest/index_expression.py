"""Index arithmetic in canonical form, for loop bounds and subscripts.

`Index` is a sum `constant + c0*a0 + c1*a1 + ...` over atoms. An atom is a `Variable` (an SSA
value of the generated function, by number), a `Quotient` `index floordiv d`, an `Extremum` or
a `Choice` of indices. Two indices that are equal by linear arithmetic compare equal, so that
strides, trip counts and common subscripts are read off instead of proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import gcd
from typing import Literal, NamedTuple

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)


class Variable(NamedTuple):
    """An SSA value of type index, by its number in the function being generated."""

    number: int


class Quotient(NamedTuple):
    """`numerator floordiv divisor`, divisor > 0."""

    numerator: Index
    divisor: int


class Extremum(NamedTuple):
    """Maximum or minimum of at least two operands."""

    kind: Literal["max", "min"]
    operands: tuple[Index, ...]


class Comparison(NamedTuple):
    """`left >= 0` or `left == 0`."""

    kind: Literal[">=", "=="]
    left: Index


class Connective(NamedTuple):
    """Conjunction or disjunction of conditions; `all` of nothing is true."""

    kind: Literal["all", "any"]
    operands: tuple[Condition, ...]


Condition = Comparison | Connective


class Choice(NamedTuple):
    """`then` where the condition holds, else `otherwise`."""

    condition: Condition
    then: Index
    otherwise: Index


Atom = Variable | Quotient | Extremum | Choice


@dataclass(eq=False, slots=True)
class Index:
    """`constant + sum(coefficient * atom)`; no coefficient is 0; terms in order of appearance.

    Never changed once made; so many are made that frozen ones would take too long.
    """

    constant: int = 0
    terms: tuple[tuple[Atom, int], ...] = ()
    _hash: int | None = field(default=None, init=False, repr=False)

    def __eq__(self, other: object) -> bool:
        """Equality as sums: the order of the terms does not count."""
        return self is other or (
            isinstance(other, Index)
            and self.constant == other.constant
            and (self.terms == other.terms or frozenset(self.terms) == frozenset(other.terms))
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.constant, frozenset(self.terms)))
        return self._hash

    @staticmethod
    def of(atom: Atom) -> Index:
        """The index that is just `atom`."""
        return Index(0, ((atom, 1),))

    @staticmethod
    @cache
    def variable(number: int) -> Index:
        """The index that is just the variable of this number."""
        return Index.of(Variable(number))

    @property
    def is_constant(self) -> bool:
        """Whether no atom occurs."""
        return not self.terms

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.constant + other, self.terms)
        if not other.terms:
            return Index(self.constant + other.constant, self.terms)
        total = dict(self.terms)
        for atom, coefficient in other.terms:
            total[atom] = total.get(atom, 0) + coefficient
        return Index(
            self.constant + other.constant, tuple((a, c) for a, c in total.items() if c != 0)
        )

    def __mul__(self, factor: int) -> Index:
        if factor == 0:
            return Index()
        return Index(self.constant * factor, tuple((a, c * factor) for a, c in self.terms))

    def __neg__(self) -> Index:
        return self * -1

    def __sub__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.constant - other, self.terms)
        return self + (-other if other.terms else -other.constant)

    def __floordiv__(self, divisor: int) -> Index:
        """Floor division by a positive constant; multiples of it are taken out of the quotient.

        So is a factor that all other terms share with it: (4 a + 3) floordiv 8 is a floordiv 2.
        """
        assert divisor > 0, "division of an index by a non-positive constant"
        if divisor == 1:
            return self
        outside = tuple((a, c // divisor) for a, c in self.terms if c % divisor == 0)
        inside = tuple((a, c) for a, c in self.terms if c % divisor != 0)
        whole = Index(self.constant // divisor, outside)
        if not inside:
            return whole
        shared = gcd(divisor, *(c for _, c in inside))
        numerator = Index(
            self.constant % divisor // shared, tuple((a, c // shared) for a, c in inside)
        )
        return whole + Index.of(Quotient(numerator, divisor // shared))

    def __mod__(self, divisor: int) -> Index:
        """Remainder in `[0, divisor)`."""
        return self - (self // divisor) * divisor

    def variables(self) -> Iterator[int]:
        """Numbers of the variables in it, also inside other atoms (with repetitions)."""
        for atom, _ in self.terms:
            if isinstance(atom, Variable):
                yield atom.number
            else:
                for part in _parts(atom):
                    yield from part.variables()

    def depends_on(self, number: int) -> bool:
        """Whether the variable occurs."""
        return number in self.variables()

    def coefficient(self, number: int) -> int | None:
        """Coefficient of the variable, or None when it occurs inside another atom."""
        result = 0
        for atom, coefficient in self.terms:
            if isinstance(atom, Variable):
                if atom.number == number:
                    result = coefficient
            elif any(part.depends_on(number) for part in _parts(atom)):
                return None
        return result

    def slope(self, number: int) -> Fraction | None:
        """By how much it grows with the variable in the long run: a remainder by nothing.

        None when the variable occurs inside an atom that is no quotient.
        """
        result = Fraction(0)
        for atom, coefficient in self.terms:
            if isinstance(atom, Variable):
                result += coefficient * (atom.number == number)
            elif isinstance(atom, Quotient):
                inside = atom.numerator.slope(number)
                if inside is None:
                    return None
                result += coefficient * inside / atom.divisor
            elif any(part.depends_on(number) for part in _parts(atom)):
                return None
        return result

    def along(self, number: int, count: int) -> tuple[Index, int] | None:
        """The index where the variable is 0, and its step while that runs over `[0, count)`.

        None when the step is not the same all along. A quotient may occur if it does not change:
        it never decreases, so that its two ends decide.
        """
        if all(isinstance(atom, Variable) for atom, _ in self.terms):
            rest = tuple(term for term in self.terms if term[0] != Variable(number))
            return Index(self.constant, rest), self.coefficient(number) or 0
        base, step = Index(self.constant), 0
        for atom, coefficient in self.terms:
            if isinstance(atom, Variable) and atom.number == number:
                step += coefficient
                continue
            first = _substitute_atom(atom, {number: Index()})
            if not isinstance(atom, Variable) and any(p.depends_on(number) for p in _parts(atom)):
                if not isinstance(atom, Quotient) or atom.numerator.coefficient(number) is None:
                    return None
                if _substitute_atom(atom, {number: Index(count - 1)}) != first:
                    return None
            base = base + first * coefficient
        return base, step

    def substitute(self, values: Mapping[int, Index]) -> Index:
        """Replaces variables by indices."""
        constant = self.constant
        total: dict[Atom, int] = {}
        for atom, coefficient in self.terms:
            if isinstance(atom, Variable):
                value = values.get(atom.number)
                if value is None:
                    total[atom] = total.get(atom, 0) + coefficient
                    continue
            else:
                value = _substitute_atom(atom, values)
            constant += value.constant * coefficient
            for inner, factor in value.terms:
                total[inner] = total.get(inner, 0) + factor * coefficient
        return Index(constant, tuple((a, c) for a, c in total.items() if c != 0))

    def to_affine(self, position: Callable[[int], int]) -> AffineExpr:
        """As an affine expression; `position` gives the dim of a variable's number.

        There must be no Extremum and no Choice left in it: these need operations.
        """
        result: AffineExpr | None = None
        for atom, coefficient in self.terms:
            match atom:
                case Variable(number):
                    term = AffineExpr.dimension(position(number))
                case Quotient(numerator, divisor):
                    term = numerator.to_affine(position) // divisor
                case Extremum() | Choice():
                    raise AssertionError(f"not an affine expression: {atom}")
            if coefficient != 1:
                term = term * coefficient
            result = term if result is None else result + term
        if result is None:
            return AffineExpr.constant(self.constant)
        return result + self.constant if self.constant else result


def maximum(operands: Iterable[Index]) -> Index:
    """The largest operand, folded where constants or equal operands allow it."""
    return _extremum("max", operands)


def minimum(operands: Iterable[Index]) -> Index:
    """The smallest operand, folded where constants or equal operands allow it."""
    return _extremum("min", operands)


def _extremum(kind: Literal["max", "min"], operands: Iterable[Index]) -> Index:
    flat = list(dict.fromkeys(part for index in operands for part in bounds(kind, index)))
    pick = max if kind == "max" else min
    best: list[Index] = []
    for index in flat:
        for position, other in enumerate(best):
            difference = index - other
            if difference.is_constant:
                best[position] = other + pick(0, difference.constant)
                break
        else:
            best.append(index)
    return best[0] if len(best) == 1 else Index.of(Extremum(kind, tuple(best)))


def bounds(kind: Literal["max", "min"], index: Index) -> tuple[Index, ...]:
    """The operands of which `index` is the maximum (minimum): itself when it is none."""
    if len(index.terms) == 1:
        atom, coefficient = index.terms[0]
        if isinstance(atom, Extremum) and coefficient == 1 and atom.kind == kind:
            return tuple(operand + index.constant for operand in atom.operands)
    return (index,)


def choice(condition: Condition, then: Index, otherwise: Index) -> Index:
    """`then` or `otherwise`, folded when the condition is known."""
    match decide(condition):
        case True:
            return then
        case False:
            return otherwise
        case None:
            return then if then == otherwise else Index.of(Choice(condition, then, otherwise))


def decide(condition: Condition) -> bool | None:
    """The condition's value where constants decide it, else None."""
    match condition:
        case Comparison(kind, left):
            if not left.is_constant:
                return None
            return left.constant >= 0 if kind == ">=" else left.constant == 0
        case Connective(kind, operands):
            verdicts = [decide(operand) for operand in operands]
            if (kind == "any") in verdicts:
                return kind == "any"
            return None if None in verdicts else kind == "all"


def without_quotient(index: Index) -> Index:
    """An index that is negative for the same values, without a single quotient if it has one."""
    quotients = [(atom, c) for atom, c in index.terms if isinstance(atom, Quotient)]
    if len(quotients) != 1 or abs(quotients[0][1]) != 1:
        return index
    ((atom, sign),) = quotients
    rest = index - Index.of(atom) * sign
    last = atom.divisor - 1 if sign < 0 else 0
    return (rest * atom.divisor + atom.numerator * sign) + last


def conjuncts(condition: Condition) -> tuple[Comparison, ...] | None:
    """The comparisons that together make up the condition, or None when it has a disjunction."""
    match condition:
        case Comparison():
            return (condition,)
        case Connective("all", operands):
            parts = [conjuncts(operand) for operand in operands]
            if any(part is None for part in parts):
                return None
            return tuple(comparison for part in parts for comparison in part or ())
        case Connective():
            return None


def condition_indices(condition: Condition) -> Iterator[Index]:
    """Every index that the condition compares."""
    match condition:
        case Comparison(left=left):
            yield left
        case Connective(operands=operands):
            for operand in operands:
                yield from condition_indices(operand)


def substitute_condition(condition: Condition, values: Mapping[int, Index]) -> Condition:
    """Replaces variables by indices in every comparison."""
    match condition:
        case Comparison(kind, left):
            return Comparison(kind, left.substitute(values))
        case Connective(kind, operands):
            return Connective(kind, tuple(substitute_condition(o, values) for o in operands))


def _parts(atom: Quotient | Extremum | Choice) -> tuple[Index, ...]:
    match atom:
        case Quotient(numerator, _):
            return (numerator,)
        case Extremum(operands=operands):
            return operands
        case Choice(condition, then, otherwise):
            return (*condition_indices(condition), then, otherwise)


def _substitute_atom(atom: Atom, values: Mapping[int, Index]) -> Index:
    match atom:
        case Variable(number):
            value = values.get(number)
            return Index.of(atom) if value is None else value
        case Quotient(numerator, divisor):
            return numerator.substitute(values) // divisor
        case Extremum(kind, operands):
            return _extremum(kind, (operand.substitute(values) for operand in operands))
        case Choice(condition, then, otherwise):
            return choice(
                substitute_condition(condition, values),
                then.substitute(values),
                otherwise.substitute(values),
            )


@cache
def linear_form(expression: AffineExpr, dims: int) -> Index:
    """An affine expression as an Index whose variable k is dim k, and `dims + k` is symbol k."""
    match expression:
        case AffineConstantExpr(value=value):
            return Index(value)
        case AffineDimExpr(position=position):
            return Index.variable(position)
        case AffineSymExpr(position=position):
            return Index.variable(dims + position)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = linear_form(lhs, dims), linear_form(rhs, dims)
            if kind is AffineBinaryOpKind.Add:
                return left + right
            if kind is AffineBinaryOpKind.Mul:
                return right * left.constant if left.is_constant else left * _constant(right)
            return _DIVISIONS[kind](left, _constant(right))
        case _:
            raise AssertionError(f"not an affine expression: {expression}")


def _constant(index: Index) -> int:
    assert index.is_constant, "semi-affine expression in the polyhedral model"
    return index.constant


_DIVISIONS: dict[AffineBinaryOpKind, Callable[[Index, int], Index]] = {
    AffineBinaryOpKind.FloorDiv: lambda a, d: a // d,
    AffineBinaryOpKind.CeilDiv: lambda a, d: -(-a // d),
    AffineBinaryOpKind.Mod: lambda a, d: a % d,
}
