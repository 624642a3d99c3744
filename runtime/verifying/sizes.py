"""Small sizes at which two programs that are not proved equal are tried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from ...passes.polyhedral.extents import infer_extents
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.scop import Scop

# Smaller and larger than the usual tiles and unroll factors, multiples of them and not.
_EXTENT = 8
_EQUAL_SIZES = (3, 2, 1, 5, 4, 7, 9, 12, 17, 33, 0)


def candidates(
    first: Scop, second: Scop, suggested: Mapping[str, int] | None, assumed: isl.Set | None
) -> Iterator[dict[str, int]]:
    """Values of all sizes of both programs, which have the same parameters.

    Arrays are as small as they can be for the first program, but for what is suggested.
    """
    names = list(dict.fromkeys(p.name for scop in (first, second) for p in scop.parameters))
    choices: list[Mapping[str, int]] = [] if suggested is None else [suggested]
    choices += [dict.fromkeys(names, size) for size in _EQUAL_SIZES]
    choices += [{name: 3 + (n * step) % 7 for n, name in enumerate(names)} for step in (1, 3)]
    seen: list[dict[str, int]] = []
    if not names:
        choices = [dict[str, int]()]
    for choice in choices:
        sizes = infer_extents(second, infer_extents(first, choice))
        every = (each.name for scop in (first, second) for each in scop.sizes)
        # Of arrays whose subscripts depend on data, which may be any.
        sizes = dict.fromkeys(every, _EXTENT) | sizes
        if sizes not in seen and _is_allowed(sizes, assumed):
            seen.append(sizes)
            yield sizes


def _is_allowed(sizes: Mapping[str, int], assumed: isl.Set | None) -> bool:
    if assumed is None:
        return True
    with ISL_LOCK:
        for name, value in sizes.items():
            position = assumed.find_dim_by_name(isl.dim_type.param, name)
            if position >= 0:
                assumed = assumed.fix_val(isl.dim_type.param, position, isl.Val(value))
        return not assumed.is_empty()
