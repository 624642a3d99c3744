"""Operations that steps of reductions are made of."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from .selected_extrema import selected_extremum

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

BY_COMPARISON = ("cmpmaxf", "cmpminf")
"""Extrema of floats that are selected by comparison, whatever is selected of NaN and zeros."""

KINDS: tuple[str, ...] = (*dict.fromkeys(kind for kind, _ in _STEPS.values()), *BY_COMPARISON)
"""What may be accumulated, by the name of the operation that combines."""


def step(kind: str, operation: Operation) -> tuple[int, ...]:
    """The operands through which the accumulated value may pass; none if it is of another kind."""
    if kind in BY_COMPARISON:
        found = (
            (k, selected_extremum(operation, each)) for k, each in enumerate(operation.operands)
        )
        return tuple(k for k, step in found if step and step.is_maximum == (kind == "cmpmaxf"))
    step_kind, passing = _STEPS.get(operation.name, ("", ()))
    return passing if step_kind == kind else ()
