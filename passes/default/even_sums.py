"""Sums of an odd number of products of short integers, without the last one: pairs of the rest."""

from __future__ import annotations

from contextlib import suppress

from ..estimate.scheduling_context import SchedulingContext
from ..polyhedral.schedule_tree import Loop, chain, nests, statements
from ..schedules.affine_sums import text_of_sum
from ..schedules.errors import TransformationError
from ..schedules.schedule import Schedule
from ..transformations.distribute import Distribute
from .contraction import recognise
from .integer_products import PAIR, adds_integers, paired_term
from .size_sums import size_sum
from .steps import split_parts

LEAST_TERMS = 8
"""Fewer terms are not worth another pass over the results."""


def even_sums(schedule: Schedule, context: SchedulingContext) -> Schedule | None:
    """Every such sum in two nests, of which the last has one term; None where there is none.

    for i: for j: for k < 63: C[i, j] += A[i, k] * B[k, j]
    ->  for i: for j: for k < 62: C[i, j] += A[i, k] * B[k, j]
        for i: for j: C[i, j] += A[i, 62] * B[62, j]
    """
    if not schedule.target.adds_products_in_pairs:
        return None
    result = schedule
    for nest in nests(schedule.tree):
        names = statements(nest)
        if isinstance(nest, Loop) and len(names) == 1:
            with suppress(TransformationError):
                result = _cut(result, names[0], chain(nest), context)
    return None if result is schedule else result


def _cut(
    schedule: Schedule, name: str, around: tuple[Loop, ...], context: SchedulingContext
) -> Schedule:
    """The sum of a statement in two nests; as it was, where that makes no pairs."""
    if not adds_integers(schedule.scop.statement(name)):
        return schedule
    statistics = context.statistics(schedule.scop)
    found = recognise(schedule, name, around, statistics)
    if found is None:
        return schedule
    factors = (*found.all_streamed, *found.broadcast)
    terms = {term: found.iterators[term] for term in found.terms}
    statement = statistics.statements[name].statement
    extents = found.extents
    if paired_term(statement, factors, terms, extents, schedule.target) is not None:
        return schedule
    even = {loop: extent - extent % PAIR for loop, extent in extents.items()}
    pair = paired_term(statement, factors, terms, even, schedule.target)
    if pair is None or extents[pair] < LEAST_TERMS:
        return schedule
    last = size_sum(statement.domain.dim_max(found.iterators[pair]))
    if last is None:
        return schedule
    outer = [loop.name for loop in around]
    outer = [f"{name}.{loop}" for loop in outer[: outer.index(pair)]]
    parts, _ = split_parts(schedule, name, pair, [text_of_sum(last)])
    return parts.apply(Distribute(tuple(outer))) if outer else parts
