"""Costs of the elementary functions that are code of our own.

They are straight-line code, the same for scalars and for vectors (`lowering/llvm/elementary`).
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Operation

from ...dialects.mathematics import ExternalOp
from ..machine.target import Target
from ..polyhedral.scop import Statement

OPERATIONS: Mapping[str, tuple[int, int]] = {
    "acos": (49, 56),
    "acosh": (107, 111),
    "asin": (44, 51),
    "asinh": (118, 122),
    "atan": (56, 62),
    "atan2": (83, 89),
    "atanh": (95, 99),
    "cbrt": (66, 70),
    "cos": (56, 63),
    "cosh": (53, 59),
    "erf": (52, 78),
    "erfc": (116, 135),
    "exp": (32, 38),
    "exp10": (41, 45),
    "exp2": (28, 34),
    "expm1": (44, 50),
    "fdim": (7, 6),
    "hypot": (19, 42),
    "log": (40, 45),
    "log10": (55, 60),
    "log1p": (68, 73),
    "log2": (53, 58),
    "pow": (145, 161),
    "sin": (58, 65),
    "sinh": (66, 72),
    "tan": (76, 80),
    "tanh": (57, 63),
}
"""Instructions for f32 and f64, by the name in the C library; one on twice as many bits is two."""

SQUARE_ROOTS: Mapping[str, int] = {"acos": 1, "acosh": 1, "asin": 1, "asinh": 1, "hypot": 1}
"""Square roots among them."""

DIVISIONS: Mapping[str, int] = {
    "acosh": 2,
    "asinh": 3,
    "atan": 1,
    "atan2": 1,
    "atanh": 3,
    "cosh": 1,
    "erfc": 2,
    "log": 1,
    "log10": 1,
    "log1p": 2,
    "log2": 1,
    "pow": 1,
    "sinh": 1,
    "tan": 1,
    "tanh": 1,
}
"""Divisions among them."""

_CRITICAL = 0.4
"""The part of the instructions that wait for each other: what Estrin's scheme leaves."""

INTERLEAVED = 2
"""Registers of a vector whose instructions take turns, so that fewer wait for each other."""

OVERLAP = 0.7
"""What they take each, over one by itself (measured: prices of options, a cell of an LSTM)."""


def function_name(operation: Operation) -> str:
    """The name of a function in the C library."""
    if isinstance(operation, ExternalOp):
        return operation.function
    return operation.name.removeprefix("math.").replace("powf", "pow")


def elementary_cycles(operation: Operation, target: Target, lanes: float) -> float:
    """Cycles for a scalar, or for so many lanes; 0 where it is none of these functions."""
    cycles = _weighted(operation, target, target.cycles, 1.0)
    if not cycles:
        return 0.0
    registers = lanes / target.lanes(operation.results[0].type)
    # Not all lanes of the last vector count: on average there may be fewer than two registers.
    return cycles * (registers * OVERLAP if registers > INTERLEAVED / 1.5 else max(1.0, registers))


def has_elementary_functions(statement: Statement, target: Target) -> bool:
    """Whether a statement calls one of these functions."""
    return any(elementary_cycles(operation, target, 1.0) for operation in statement.body)


def instructions(operation: Operation) -> int:
    """Those of the function's code; 0 where it is none of these functions."""
    name = function_name(operation)
    if name not in OPERATIONS or not operation.results:
        return 0
    single, double = OPERATIONS[name]
    kind = operation.results[0].type
    return single if isinstance(kind, Float32Type) else double * isinstance(kind, Float64Type)


def elementary_latency(operation: Operation, target: Target) -> float:
    """Cycles from the argument to the result; 0 where it is none of these functions."""
    return _weighted(operation, target, target.latencies, _CRITICAL)


def _weighted(
    operation: Operation, target: Target, cycles: Mapping[str, float], share: float
) -> float:
    count = instructions(operation)
    if not count or not target.fuses_multiply_adds:
        return 0.0
    name = function_name(operation)
    divisions, roots = DIVISIONS.get(name, 0), SQUARE_ROOTS.get(name, 0)
    others = (count - divisions - roots) * share * cycles["additions"]
    return others + divisions * cycles["divisions"] + roots * cycles["square_roots"]
