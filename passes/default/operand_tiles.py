"""Which terms of a contraction over its own results need elements of the same tile."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from ..polyhedral.schedule_tree import Loop
from ..polyhedral.scop import Access

_DIMS, _PARAMS = isl.dim_type.in_, isl.dim_type.param


@dataclass(frozen=True)
class Bound:
    """The terms before `at`, or from it on (`is_lower`), whose operand is in an earlier tile.

    `loop` is the loop whose tile it is. `at` is a sum as `split` has it: without the tile, which
    `size` times the tile loop adds (with `is_lower`, subtracts).
    """

    loop: str
    offset: str
    is_lower: bool

    def at(self, tile: str, size: int) -> str:
        """The value of the loop over terms."""
        return f"{'-' if self.is_lower else ''}{size}{tile}{self.offset}"


def bounds(
    statement: str, table: tuple[Loop, Loop], terms: Loop, store: Access, read: Access
) -> tuple[Bound, ...] | None:
    """For what terms the element that is read was finished in an earlier tile of the table.

    In a loop of the table, the iteration that wrote it is `terms + b`, `b - terms`, or the
    iteration of the read itself and a constant. None where it is something else.
    """
    found: list[Bound] = []
    for loop in table:
        value = _writer_value(statement, loop, store, read)
        if value is None:
            return None
        own, term = loop.schedule[statement], terms.schedule[statement]
        forward, backward = value.sub(term), value.add(term)
        if _is_fixed(forward):
            found.append(Bound(loop.name, _sum(forward.neg()), is_lower=False))
        elif _is_fixed(backward):
            found.append(Bound(loop.name, _sum(backward.add_constant_val(isl.Val(1))), True))
        elif not _is_fixed(value.sub(own)):
            return None
    return tuple(found) or None


def _writer_value(statement: str, loop: Loop, store: Access, read: Access) -> isl.Aff | None:
    """The value of a loop at which an instance of the statement writes what another one reads."""
    writers = read.relation.apply_range(store.relation.reverse())
    values = writers.apply_range(isl.Map.from_aff(loop.schedule[statement]))
    hull = isl.Map.from_basic_map(values.affine_hull())
    if values.is_empty() or not hull.is_single_valued():
        return None
    pieces: list[isl.Aff] = []
    function = isl.PwMultiAff.from_map(hull)
    function.get_pw_aff(0).foreach_piece(lambda _, aff: pieces.append(aff))
    return pieces[0] if len(pieces) == 1 else None


def _is_fixed(function: isl.Aff) -> bool:
    """Whether a function of the instances is the same for all."""
    return function.dim(isl.dim_type.div) == 0 and not function.involves_dims(
        _DIMS, 0, function.dim(_DIMS)
    )


def _sum(function: isl.Aff) -> str:
    """A fixed function as the end of a sum: `+n-1`."""
    factors = [
        (function.get_coefficient_val(_PARAMS, k).to_python(), function.get_dim_name(_PARAMS, k))
        for k in range(function.dim(_PARAMS))
    ]
    terms = [f"{factor:+d}{name}" for factor, name in factors if factor]
    constant = function.get_constant_val().to_python()
    return "".join(terms) + (f"{constant:+d}" if constant else "")
