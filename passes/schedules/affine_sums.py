"""Affine sums in options of transformations, such as `n-1` or `32it+32`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from ..polyhedral.schedule_tree import Loop, Tree
from .errors import MalformedTransformation
from .schedule import Schedule

_DIGITS = 18
"""Of integers: isl takes those of 64 bits."""

_TERM = re.compile(r"([+-])(\d*)\*?([A-Za-z_]\w*)?", re.ASCII)


@dataclass(frozen=True)
class AffineSums:
    """Sums of integers, sizes and the loops around one: the names in them, and their values."""

    sizes: tuple[str, ...]
    loops: Mapping[str, Loop]

    @classmethod
    def around(cls, schedule: Schedule, node: Tree) -> AffineSums:
        sizes = tuple(parameter.name for parameter in schedule.scop.parameters)
        around = (other for other in schedule.outer(node) if other.run_time_size is None)
        outer = {other.name: other for other in around}
        return cls(sizes, {name: other for name, other in outer.items() if name not in sizes})

    def simplified(self, text: str) -> str:
        """The sum with each name once; raises MalformedTransformation."""
        return text_of_sum(_terms(text, self))

    def aff(self, text: str, statement: str, space: isl.Space) -> isl.Aff:
        """The sum as a function of the instances of a statement; raises MalformedTransformation."""
        terms = _terms(text, self)
        aff = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
        for name, factor in terms.items():
            if name in self.sizes:
                position = space.find_dim_by_name(isl.dim_type.param, name)
                aff = aff.set_coefficient_val(isl.dim_type.param, position, isl.Val(factor))
        aff = aff.set_constant_val(isl.Val(terms.get("", 0)))
        for name, factor in terms.items():
            if name in self.loops:
                value = self.loops[name].schedule[statement].align_params(space.params())
                aff = aff.add(value.scale_val(isl.Val(factor)))
        return aff


def _terms(text: str, known: AffineSums) -> dict[str, int]:
    """`2n-1` -> `{"n": 2, "": -1}`; raises MalformedTransformation."""
    compact = text.replace(" ", "")
    signed = compact if compact[:1] in ("+", "-") else f"+{compact}"
    found = list(_TERM.finditer(signed))
    if "".join(term[0] for term in found) != signed or any(len(t[0]) < 2 for t in found):
        raise MalformedTransformation(f"{text!r} is no sum like n-1 or 2n+3")
    terms: dict[str, int] = {}
    for sign, factor, name in (term.groups(default="") for term in found):
        if name and name not in known.sizes and name not in known.loops:
            around = f"; loops around are {', '.join(known.loops)}" if known.loops else ""
            raise MalformedTransformation(
                f"there is no size {name} in {text!r}; there are "
                f"{', '.join(known.sizes) or 'none'}{around}"
            )
        if len(factor) > _DIGITS:
            raise MalformedTransformation(f"an integer has at most {_DIGITS} digits in a sum")
        terms[name] = terms.get(name, 0) + int(f"{sign}{factor or 1}")
    if any(abs(value) >= 10**_DIGITS for value in terms.values()):
        raise MalformedTransformation(f"the terms of a sum add up to at most {_DIGITS} digits")
    return terms


def text_of_sum(terms: Mapping[str, int]) -> str:
    """A sum of multiples of names, and of a constant under the empty name: `2n-1`, `0`."""
    constant = terms.get("", 0)
    sizes = [
        f"{factor:+d}{name}".replace("1", "", 1) if abs(factor) == 1 else f"{factor:+d}{name}"
        for name, factor in terms.items()
        if name and factor
    ]
    return ("".join(sizes) + (f"{constant:+d}" if constant else "")).removeprefix("+") or "0"
