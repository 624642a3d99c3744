"""Loop peeling of the first and the last iteration, where guards single them out.

Fusion runs what begins or ends a sum in the first or last iteration of its loop. The loop without
guards keeps the sum in a register:

    for k in [0, p):                      if 0 < p:
      if k == 0:                            for j: vector: C[i, j] = 0; C[i, j] += A[i, 0] * B[0, j]
        for j: vector: C[i, j] = 0   ->   for k in [1, p):
      for j: vector: C[i, j] += ...         for j: vector: C[i, j] += A[i, k] * B[k, j]

LLVM does the same with scalars.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .index_expression import (
    Comparison,
    Index,
    conjuncts,
    decide,
)
from .nest import Block, Call, For, Guard, Nest, Once, substitute, walk, with_children
from .simplification import simplify
from .unrolled_copies import unrolled_copies

MOST_COPIES = 32
"""Of statements in a body that is there twice then."""


def peel_loops(nest: Nest) -> Nest:
    """The nest with peeled sequential loops that have only vectors and unrolled loops inside."""
    nest = with_children(nest, peel_loops)
    return _peeled(nest) if isinstance(nest, For) and _can_be_peeled(nest) else nest


def _can_be_peeled(nest: For) -> bool:
    inner = [node for node in walk(nest.body) if isinstance(node, For)]
    calls = sum(isinstance(node, Call) for node in walk(nest.body))
    return (
        not nest.is_explicit
        and not nest.loop.parallel
        and nest.step == 1
        and nest.size is None
        and len(nest.lower) == len(nest.upper) == 1
        and any(each.loop.vector is not None for each in inner)
        and all(loop.is_explicit for loop in inner)
        and calls * unrolled_copies(nest.body) <= MOST_COPIES
    )


def _peeled(nest: For) -> Nest:
    value = Index.variable(nest.variable)
    lower, upper = nest.lower[0], nest.upper[0]
    asked = {comparison for node in walk(nest.body) for comparison in _comparisons(node)}
    before: list[Nest] = []
    after: list[Nest] = []
    rest = nest
    if asked & _singling_out(value, lower, -1):
        before.append(_iteration(rest, lower))
        lower += 1
        body = simplify(rest.body, (value - lower,))
        rest = replace(rest, lower=(lower,), body=body)
    if asked & _singling_out(value, upper - 1, 1):
        after.append(_iteration(rest, upper - 1))
        upper -= 1
        body = simplify(rest.body, (upper - 1 - value,))
        rest = replace(rest, upper=(upper,), body=body)
    parts = [each for each in (*before, rest, *after) if each != Block(())]
    return parts[0] if len(parts) == 1 else Block(tuple(parts))


def _comparisons(nest: Nest) -> Sequence[Comparison]:
    return (conjuncts(nest.condition) or ()) if isinstance(nest, Guard) else ()


def _singling_out(value: Index, one: Index, sign: int) -> set[Comparison]:
    """What is true of one value alone: the first, with a negative sign, or the last of a range."""
    beyond = (value - one) * sign
    return {Comparison("==", beyond), Comparison("==", -beyond), Comparison(">=", beyond)}


def _iteration(nest: For, value: Index) -> Nest:
    """One iteration of a loop, if this runs so often."""
    values = {nest.variable: value}
    body = substitute(nest.body, values)
    runs = Comparison(">=", nest.upper[0] - nest.lower[0] - 1)
    if decide(runs) is False:
        return Block(())
    once = Once(nest.loop, value if nest.value is None else nest.value.substitute(values), body)
    return once if decide(runs) else Guard(runs, once)
