"""Statements of a time step in one vector loop, each whole vectors behind what it reads.

A statement that reads the neighbours of what another one writes runs behind it. Where it does so by
a whole vector, both run in one vector loop: the values are still in registers, where the neighbours
are shuffles of them (lowering/memory/shifted_vectors.py), and the arrays pass through the caches
once for both (Li et al., "An efficient vectorization scheme for stencil computation", IPDPS 2022).

    for j: S0[j]                       vector j: S0[j]                 (the first vector)
    for j: S1[j - 1], reads j - 2   -> vector j: S0[j]; S1[j - 8]
           to j of S0                  vector j: S1[j - 8]             (the last vector)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from ..estimate.program_statistics import ProgramStatistics
from ..polyhedral.isl_context import coalesced
from ..polyhedral.schedule_tree import Loop, loops, loops_around, statements
from ..schedules.affine_sums import text_of_sum
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from ..transformations.shift import Shift
from ..transformations.split import Split

LONGEST = 1
"""Vectors by which the last statement may be behind the first one: registers are few."""

LONG = 32
"""Vectors of a row: what runs before and after the common loop must not count."""

_IN, _PARAM = isl.dim_type.in_, isl.dim_type.param

Sum = Mapping[str, int]
"""Factors of sizes and loops by name; the constant has the empty name."""


def staggered_statements(
    schedule: Schedule, band: Sequence[Loop], statistics: ProgramStatistics, width: int
) -> Schedule | None:
    """The statements of a band that go over whole rows, staggered by vectors of `width`.

    None where there are less than two of them, where rows are short, or where that is not legal.
    """
    names = list(band[0].schedule)
    rows = [n for n in names if len(statistics.statements[n].spans) == len(band)]
    others = tuple(names[: len(names) - len(rows)])
    if len(rows) < 2 or names != [*others, *rows]:
        return None
    behind = _behind(band[-1], rows)
    trips = min(statistics.statements[name].trips(band)[-1] for name in rows)
    if behind is None or max(behind) > LONGEST or trips < LONG * width:
        return None
    loop = f"{rows[0]}.{band[-1].name}"
    try:
        if others:
            schedule = schedule.apply(Distribute((loop,), others))
        for name, vectors in reversed(list(zip(rows, behind, strict=True))):
            if vectors:
                schedule = schedule.apply(Shift((loop,), vectors * (width - 1), (name,)))
        return _common_part(schedule, rows, band[-1].name)
    except TransformationError:
        return None


def _behind(inner: Loop, rows: Sequence[str]) -> list[int] | None:
    """By how many iterations of the loop each statement is behind the first."""
    first = inner.schedule[rows[0]]
    result: list[int] = []
    for name in rows:
        aff = inner.schedule[name]
        count = aff.dim(_IN)
        if [_factor(aff, _IN, k) for k in range(count)] != [
            _factor(first, _IN, k) for k in range(count)
        ]:
            return None
        result.append(_constant(aff) - _constant(first))
    return result if result == sorted(result) else None


def _common_part(schedule: Schedule, rows: Sequence[str], inner: str) -> Schedule | None:
    """The loop around statements in three: that in the middle runs all of them in each iteration.

    Raises TransformationError.
    """
    ranges = [_range(schedule, name) for name in rows]
    known = [each for each in ranges if each is not None]
    latest = _largest([first for first, _ in known])
    earliest = _largest([{n: -f for n, f in end.items()} for _, end in known])
    if len(known) < len(rows) or latest is None or earliest is None:
        return None
    common = f"{rows[latest]}.{inner}"
    cuts = (
        (known[latest][0], [first for first, _ in known]),
        (known[earliest][1], [end for _, end in known]),
    )
    for at, all_of_them in cuts:
        if any(each != at for each in all_of_them):
            schedule = schedule.apply(Split((common,), text_of_sum(at)))
    middle = schedule.loop(common)
    for loop in loops(schedule.outer(middle)[-1]):
        names = statements(loop)
        if loop.name == inner and loop is not middle and len(names) > 1:
            schedule = schedule.apply(Distribute((f"{names[0]}.{inner}",)))
    return schedule


def _range(schedule: Schedule, name: str) -> tuple[Sum, Sum] | None:
    """First value of the innermost loop around a statement, and that behind the last one."""
    *outer, inner = loops_around(schedule.tree, name)
    scop = schedule.scop
    domain = scop.statement(name).domain.intersect_params(scop.context)
    parameters = domain.get_space().params()
    affs = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(outer))
    for loop in outer:
        affs = affs.add(loop.schedule[name].align_params(parameters))
    values = parameters.set_from_params().add_dims(isl.dim_type.set, len(outer))
    space = domain.get_space().map_from_domain_and_range(values)
    around = isl.Map.from_multi_aff(isl.MultiAff.from_aff_list(space, affs))
    value = isl.Map.from_aff(inner.schedule[name].align_params(parameters))
    reached = around.intersect_domain(domain).reverse().apply_range(value)
    names = [loop.name for loop in outer]
    first = _only_sum(reached.dim_min(0), reached.domain(), names)
    last = _only_sum(reached.dim_max(0), reached.domain(), names)
    if first is None or last is None:
        return None
    return first, {**last, "": last.get("", 0) + 1}


def _only_sum(function: isl.PwAff, domain: isl.Set, names: Sequence[str]) -> Sum | None:
    """The function as a sum over loops and sizes; None where it is another one in places."""
    pieces = coalesced(function.gist(domain)).get_pieces()
    if len(pieces) != 1:
        return None
    aff = pieces[0][1]
    if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
        return None
    sizes = [str(aff.get_dim_name(_PARAM, k)) for k in range(aff.dim(_PARAM))]
    sums = {name: _factor(aff, _IN, k) for k, name in enumerate(names)}
    sums |= {name: _factor(aff, _PARAM, k) for k, name in enumerate(sizes)}
    return {"": _constant(aff), **{name: f for name, f in sums.items() if f}}


def _largest(sums: Sequence[Sum]) -> int | None:
    """Which sum is the largest, where they differ by constants."""
    if not sums:
        return None
    varying = [{name: f for name, f in each.items() if name} for each in sums]
    if any(each != varying[0] for each in varying):
        return None
    return max(range(len(sums)), key=lambda position: sums[position].get("", 0))


def _factor(aff: isl.Aff, kind: isl.dim_type, position: int) -> int:
    return aff.get_coefficient_val(kind, position).to_python()


def _constant(aff: isl.Aff) -> int:
    return aff.get_constant_val().to_python()
