"""Operations that steps of reductions are made of."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

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

# Operation -> what it accumulates, and the operands through which the accumulated value may pass.
_STEPS: dict[str, tuple[str, tuple[int, ...]]] = {
    name: (kind, (0,) if name.startswith("arith.sub") else (0, 1))
    for name, kind in COMBINES.items()
}
_STEPS["math.fma"] = ("addf", (2,))

KINDS: tuple[str, ...] = tuple(dict.fromkeys(kind for kind, _ in _STEPS.values()))
"""What may be accumulated, by the name of the operation that combines."""


def step(kind: str, operation: Operation) -> tuple[int, ...]:
    """The operands through which the accumulated value may pass; none if it is of another kind."""
    step_kind, passing = _STEPS.get(operation.name, ("", ()))
    return passing if step_kind == kind else ()
