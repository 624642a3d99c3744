"""isl context: errors as exceptions, one thread at a time, bounded computations."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TypeVar

import islpy as isl
from xdsl.ir import Operation

from ...dialects.errors import SourceError
from ...support.fork_safety import held_in_forks
from ...support.forked_trial import survives
from .time_limit import TimeLimit

# Objects of one isl context share reference counts and an error state without any locking, and
# islpy keeps all objects in one context. Whoever uses isl from several threads takes this lock.
ISL_LOCK = threading.RLock()
held_in_forks(ISL_LOCK)

# Warnings on standard error are of no use to a user, and an abort would take the process along.
isl.DEFAULT_CONTEXT.set_on_error(isl.on_error.CONTINUE)

# The iterator of a loop with a stride is the loop's value, not the number of the iteration.
isl.DEFAULT_CONTEXT.set_ast_build_scale_strides(0)

# The largest shipped kernels need half a million of these. Operations on large systems of
# constraints take longer: in a second there are between 100,000 and five million.
MAXIMAL_OPERATIONS = 100_000_000

MAXIMAL_SECONDS = 10.0
"""CPU time of one step of a compile: the dependences, a transformation, the loops."""


MOST_PIECES = 100
"""Pieces of a set or relation that `coalesced` tries to merge, pair by pair."""

MOST_QUOTIENTS = 60
"""In all pieces together; with more, merging is tried in a copy of the process first."""

MOST_SECONDS = 2
"""CPU time of such a trial."""

_Pieces = TypeVar("_Pieces", isl.Set, isl.Map, isl.UnionMap, isl.PwAff, isl.PwMultiAff)


class TooComplexError(Exception):
    """A computation that isl did not finish within its number of operations or its time."""


@contextmanager
def bounded(operations: int | None = None, seconds: float | None = None) -> Generator[None]:
    """Takes the lock, and raises TooComplexError when isl needs too many operations or too long.

    Within another bound, there are at most as many as that one allows, and its time goes on.
    """
    operations = MAXIMAL_OPERATIONS if operations is None else operations
    context = isl.DEFAULT_CONTEXT
    with ISL_LOCK:
        before = context.get_max_operations()
        operations = min(operations, before or operations)
        context.reset_operations()
        context.set_max_operations(operations)
        limit = TimeLimit(MAXIMAL_SECONDS if seconds is None else seconds)
        try:
            yield
        except SourceError:
            raise
        except Exception as error:  # of isl, or of who got None instead of a text from it
            if limit.stop():
                raise TooComplexError(f"isl gave up after {limit.seconds:g} seconds") from error
            if is_exhausted():
                raise TooComplexError(f"isl gave up after {operations} operations") from error
            raise
        finally:
            limit.leave()
            context.set_max_operations(before)
            context.reset_operations()


def coalesced(relation: _Pieces) -> _Pieces:
    """A set, relation or function in fewer pieces, or as it is where isl fails at merging them.

    isl's `coalesce` stops at some relations ("original tableau does not correspond to ..."), and
    ends the process at some of hundreds of pieces, or of a dozen with seven quotients each, or with
    pieces that have rational points but none of integers.
    """
    pieces, quotients = _size(relation)
    if pieces > MOST_PIECES:
        return relation
    if quotients and isinstance(relation, isl.Map):
        relation = without_empty_pieces(relation)
    if quotients > MOST_QUOTIENTS and not survives(relation.coalesce, MOST_SECONDS):
        return relation
    try:
        return relation.coalesce()
    except isl.Error:
        if is_exhausted():
            raise
        return relation


def without_empty_pieces(relation: isl.Map) -> isl.Map:
    """The pieces of a relation that have integer points."""
    pieces = relation.get_basic_maps()
    kept = [piece for piece in pieces if not piece.is_empty()]
    if len(kept) == len(pieces):
        return relation
    result = isl.Map.empty(relation.get_space())
    for piece in kept:
        result = result.union(isl.Map.from_basic_map(piece))
    return result


def _size(
    relation: isl.Set | isl.Map | isl.UnionMap | isl.PwAff | isl.PwMultiAff,
) -> tuple[int, int]:
    """The numbers of pieces, and of quotients in all of them, of the largest map of a relation."""
    match relation:
        case isl.Set():
            pieces = relation.get_basic_sets()
        case isl.Map():
            pieces = relation.get_basic_maps()
        case isl.UnionMap():
            maps = relation.get_map_list()
            sizes: list[tuple[int, int]] = [_size(maps.get_at(n)) for n in range(maps.n_map())]
            return max((n for n, _ in sizes), default=0), max((n for _, n in sizes), default=0)
        case _:
            return _size(relation.domain())
    return len(pieces), sum(piece.dim(isl.dim_type.div) for piece in pieces)


@contextmanager
def bounded_for(
    function: Operation, subject: str, operations: int | None = None
) -> Generator[None]:
    """`bounded`, with a SourceError at a function of which isl cannot compute `subject`."""
    try:
        with bounded(operations):
            yield
    except (TooComplexError, isl.Error) as error:
        reason = error if isinstance(error, TooComplexError) else "isl fails on them"
        raise SourceError.at(
            function,
            f"{subject} are too complex: {reason}",
            hint="simplify subscripts, bounds and conditions, or split the function",
        ) from error


def is_exhausted() -> bool:
    """Whether isl refuses to compute anything further; its error messages do not always tell."""
    try:
        isl.Set("{ [i] : exists (j : i = 2j) and 0 <= i < 9 }").is_empty()
    except isl.Error:
        return True
    return False
