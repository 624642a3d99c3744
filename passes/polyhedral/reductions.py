"""Recognition of reductions: `A[f] = A[f] op expression`, with an associative operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from .isl_context import coalesced
from .scop import Access, Statement

_ASSOCIATIVE = (
    *("addf", "mulf", "maximumf", "maxnumf", "minimumf", "minnumf"),
    *("addi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"),
)

COMBINES: Mapping[str, str] = {
    **{f"arith.{name}": name for name in _ASSOCIATIVE},
    "arith.subf": "addf",
    "arith.subi": "addi",
}
"""What operations combine their operands by: differences are sums, in which one is negated."""

INEXACT = ("addf", "mulf", "maxnumf", "minnumf")
"""Only these give other results when they are reassociated: for rounding, and since `maxnumf` and
`minnumf` may choose either of -0.0 and 0.0. `maximumf` and `minimumf` order the zeros, and a NaN
stays one."""

# Operation -> what it accumulates, and the operands through which the accumulated value may pass.
_STEPS: dict[str, tuple[str, tuple[int, ...]]] = {
    name: (kind, (0,) if name.startswith("arith.sub") else (0, 1))
    for name, kind in COMBINES.items()
}
_STEPS["math.fma"] = ("addf", (2,))


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
            allows(step, FastMathFlag.REASSOC) for step in self.steps
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
    if len(statement.writes) != 1 or statement.is_opaque:
        return None
    store = statement.writes[0]
    candidates = [
        access
        for access in statement.reads
        if access.array is store.array and access.map.results == store.map.results
    ]
    if len(candidates) != 1:
        return None
    load = candidates[0]
    for kind in dict.fromkeys(kind for kind, _ in _STEPS.values()):
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


def _steps(
    statement: Statement, kind: str, value: SSAValue, accumulated: SSAValue
) -> list[Operation] | None:
    """Operations of one kind from `value` back to `accumulated`, each used once; None if none."""
    if value is accumulated:
        return [] if _is_used_once(statement, value) else None
    operation = value.owner
    if not isinstance(operation, Operation) or operation not in statement.body:
        return None
    step_kind, passing = _STEPS.get(operation.name, ("", ()))
    if step_kind != kind or not _is_used_once(statement, value):
        return None
    for position in passing:
        steps = _steps(statement, kind, operation.operands[position], accumulated)
        if steps is not None:
            return [operation, *steps]
    return None


def _is_used_once(statement: Statement, value: SSAValue) -> bool:
    return sum(1 for _ in _uses(statement, value)) == 1


def _uses(statement: Statement, value: SSAValue) -> Iterator[Operation]:
    return (op for op in statement.body for operand in op.operands if operand is value)
