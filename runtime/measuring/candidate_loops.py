"""Loop IR of a candidate, within a limit of code size."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.dialects import func

from ...dialects.errors import SourceError
from ...lowering.generate import generate
from ...lowering.loops.ir_builder import TooManyOperationsError
from ...passes.polyhedral.isl_context import TooComplexError, bounded
from ...passes.polyhedral.schedule_tree import Loop, leaves
from ...passes.schedules.schedule import Schedule

LARGEST = 300
"""Operations of loop IR of a random candidate: 6 % have more, and take long in every stage."""

MOST_UNROLLED = 250
"""Operations, loads not counted, that unrolling asks for: of those with more, few end below
`LARGEST`."""

LARGEST_OF_SEARCHES = 6500
"""Operations of loop IR of a schedule that a search starts from, or that it runs."""

OPERATIONS = 500_000
"""Of isl, to make the loops of a random candidate: the slowest 1 % take a tenth of that time."""

OPERATIONS_OF_SEARCHES = 20_000_000
"""The same for schedules of searches: some four seconds."""


class TooLarge(Exception):
    """Code that exceeds a limit of operations, which `str` tells."""


def candidate_loops(
    schedule: Schedule, sizes: Mapping[str, int], *, is_of_search: bool
) -> func.FuncOp:
    """Loop IR of a candidate; those of searches may be larger. Raises TooLarge, SourceError."""
    if not is_of_search and unrolled_operations(schedule) > MOST_UNROLLED:
        raise TooLarge(LARGEST)
    most = LARGEST_OF_SEARCHES if is_of_search else LARGEST
    try:
        with bounded(OPERATIONS_OF_SEARCHES if is_of_search else OPERATIONS):
            return generate(schedule, sizes, most=most)
    except TooManyOperationsError as error:
        raise TooLarge(most) from error
    except SourceError as error:
        if isinstance(error.__cause__, TooComplexError):
            raise TooLarge(most) from error
        raise


def unrolled_operations(schedule: Schedule) -> int:
    """Operations of the statements, without loads, as often as unrolling repeats them."""
    total = 0
    for leaf, loops in leaves(schedule.tree):
        statement = schedule.scop.statement(leaf.statement)
        loads = {access.op for access in statement.reads}
        own = sum(operation not in loads for operation in statement.body)
        total += own * prod(_copies(loop) for loop in loops)
    return total


def _copies(loop: Loop) -> int:
    """How often the body of a loop is unrolled, as far as that is known of the loop alone."""
    if loop.unroll is None or (loop.unroll == 0 and loop.within is None):
        return 1
    whole = 0 if loop.within is None else max(1, loop.within.size // (loop.vector or 1))
    return min(loop.unroll, whole) if loop.unroll and whole else loop.unroll or whole
