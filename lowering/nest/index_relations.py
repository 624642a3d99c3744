"""Index expressions and conditions of the nest as isl functions and sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import islpy as isl

from .index_expression import (
    Choice,
    Comparison,
    Condition,
    Connective,
    Extremum,
    Index,
    Quotient,
    Variable,
)

_IN, _PARAM = isl.dim_type.in_, isl.dim_type.param


class IndexSpace:
    """The values of some loop variables: variable `dims[k]` is dimension k of `space`.

    `parameters` are the variables that stand for sizes, with their names.
    """

    def __init__(
        self, space: isl.Space, dims: tuple[int, ...], parameters: Mapping[int, str]
    ) -> None:
        self.space = space
        self.dims = {variable: position for position, variable in enumerate(dims)}
        self.parameters = parameters

    def function(self, index: Index) -> isl.PwAff:
        """The value of an index."""
        linear = isl.Aff.zero_on_domain_space(self.space).set_constant_val(isl.Val(index.constant))
        others: list[isl.PwAff] = []
        for atom, coefficient in index.terms:
            if isinstance(atom, Variable):
                kind, position = self._place(atom.number)
                value = linear.get_coefficient_val(kind, position).add(isl.Val(coefficient))
                linear = linear.set_coefficient_val(kind, position, value)
            else:
                others.append(self._atom(atom).scale_val(isl.Val(coefficient)))
        return reduce(isl.PwAff.add, others, isl.PwAff.from_aff(linear))

    def instances(self, statement: str, arguments: Sequence[Index]) -> isl.Map:
        """`{ [variables] -> S[i, j] }`: the instance that a call with these arguments runs."""
        target = self.space.params().add_dims(isl.dim_type.set, len(arguments))
        pieces = isl.PwAffList.alloc(isl.DEFAULT_CONTEXT, len(arguments))
        for argument in arguments:
            pieces = pieces.add(self.function(argument))
        target = target.set_tuple_name(isl.dim_type.set, statement)
        space = self.space.map_from_domain_and_range(target)
        return isl.MultiPwAff.from_pw_aff_list(space, pieces).as_map()

    def _place(self, number: int) -> tuple[isl.dim_type, int]:
        position = self.dims.get(number)
        if position is not None:
            return _IN, position
        return _PARAM, self.space.find_dim_by_name(_PARAM, self.parameters[number])

    def _atom(self, atom: Quotient | Extremum | Choice) -> isl.PwAff:
        match atom:
            case Quotient(numerator, divisor):
                return self.function(numerator).scale_down_val(isl.Val(divisor)).floor()
            case Extremum(kind, operands):
                pick = isl.PwAff.max if kind == "max" else isl.PwAff.min
                return reduce(pick, map(self.function, operands))
            case Choice(condition, then, otherwise):
                holds = self.condition(condition)
                one = self.function(then).intersect_domain(holds)
                return one.union_add(self.function(otherwise).subtract_domain(holds))

    def condition(self, condition: Condition) -> isl.Set:
        """Where a condition holds."""
        match condition:
            case Comparison(kind, left):
                value = self.function(left)
                return value.nonneg_set() if kind == ">=" else value.zero_set()
            case Connective(kind, operands):
                sets = map(self.condition, operands)
                if kind == "all":
                    return reduce(isl.Set.intersect, sets, isl.Set.universe(self.space))
                return reduce(isl.Set.union, sets, isl.Set.empty(self.space))
