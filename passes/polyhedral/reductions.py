"""Recognition of reductions: `A[f] = A[f] op expression`, with an associative operation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from .isl_context import coalesced
from .reduction_steps import BY_COMPARISON, KINDS, step
from .scatter_reductions import scattered_updates
from .scop import Access, Statement

INEXACT = ("addf", "mulf", "maxnumf", "minnumf", *BY_COMPARISON)
"""Only these give other results when they are reassociated: for rounding, and since `maxnumf` and
`minnumf` may choose either of -0.0 and 0.0, comparisons the first one. `maximumf` and `minimumf`
order the zeros, and a NaN stays one."""


@dataclass(frozen=True, eq=False)
class Accumulation:
    """A reduction statement: its store, the load of the same element, and the operations between.

    `operation` names what is accumulated (`addf`, `maxsi`, ...). `steps` leads from the load to the
    store. `reassociable` says whether the steps may be done in any order without changing the
    result, or with the program's permission (`fastmath<reassoc>` on each).
    """

    operation: str
    load: Access
    store: Access
    steps: tuple[Operation, ...]

    @property
    def reassociable(self) -> bool:
        """Whether other orders of the steps are allowed without asking the user."""
        return self.operation not in INEXACT or all(
            allows(each, FastMathFlag.REASSOC) for each in self.steps
        )

    @property
    def pairs(self) -> isl.Map:
        """Instances that accumulate in the same element: `{ S[t] -> S[u] }`."""
        return self.store.relation.apply_range(self.store.relation.reverse())


def allows(operation: Operation, flag: FastMathFlag) -> bool:
    """Whether the program itself gives an operation this licence."""
    flags = operation.properties.get("fastmath")
    return isinstance(flags, FastMathFlagsAttr) and flag in flags.data


def find_accumulation(statement: Statement) -> Accumulation | None:
    """How a statement accumulates, None if it does not."""
    found = find_partial_accumulation(statement)
    is_whole = found is not None and found.store is statement.writes[0]
    return found if is_whole else None


def find_partial_accumulation(statement: Statement) -> Accumulation | None:
    """How those instances accumulate that load nothing else from their element, if there are any.

    The relation of the store has these alone, where they are not all.
    """
    if len(statement.writes) != 1:
        return None
    if statement.is_opaque:
        return _scattered(statement)
    store = statement.writes[0]
    candidates = [
        access
        for access in statement.reads
        if access.array is store.array and access.map.results == store.map.results
    ]
    if len(candidates) != 1:
        return None
    load = candidates[0]
    for kind in KINDS:
        steps = _steps(statement, kind, store.op.operands[0], load.op.results[0])
        if steps:
            break
    else:
        return None
    others = [r for r in statement.reads if r.array is store.array and r is not load]
    if others:
        alone = reduce(isl.Map.subtract, (other.relation for other in others), store.relation)
        if alone.is_empty():
            return None
        if not alone.is_equal(store.relation):
            store = replace(store, relation=coalesced(alone))
    return Accumulation(kind, load, store, tuple(reversed(steps)))


def _scattered(statement: Statement) -> Accumulation | None:
    """How an opaque statement accumulates: in any element of which its region may update."""
    found = scattered_updates(statement)
    if found is None:
        return None
    call, updates = found
    store = statement.writes[0]
    loads = [read for read in statement.reads if read.array is store.array]
    if len(loads) != 1 or loads[0].op is not call or loads[0].unknown != store.unknown:
        return None
    return Accumulation(updates.operation, loads[0], store, updates.steps)


def _steps(
    statement: Statement, kind: str, value: SSAValue, accumulated: SSAValue, uses: int = 1
) -> list[Operation] | None:
    """Operations of one kind from `value` back to `accumulated`; None if there are none.

    Each is used by the next one alone: once, or also in the comparison by which it is selected.
    """
    if sum(1 for _ in _uses(statement, value)) != uses:
        return None
    if value is accumulated:
        return []
    operation = value.owner
    if not isinstance(operation, Operation) or operation not in statement.body:
        return None
    own = 2 if kind in BY_COMPARISON else 1
    for position in step(kind, operation):
        steps = _steps(statement, kind, operation.operands[position], accumulated, own)
        if steps is not None:
            return [operation, *steps]
    return None


def _uses(statement: Statement, value: SSAValue) -> Iterator[Operation]:
    return (op for op in statement.body for operand in op.operands if operand is value)
