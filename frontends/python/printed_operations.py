"""Operations of arith and math in Python."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.mathematics import ExternalOp

BINARY = {
    "arith.addf": "+",
    "arith.subf": "-",
    "arith.mulf": "*",
    "arith.divf": "/",
    "arith.addi": "+",
    "arith.subi": "-",
    "arith.muli": "*",
    "arith.floordivsi": "//",
    "arith.andi": "&",
    "arith.ori": "|",
    "arith.xori": "^",
    "arith.shli": "<<",
    "arith.shrsi": ">>",
    "math.powf": "**",
}

CALLS = {
    "arith.maximumf": "np.maximum",
    "arith.minimumf": "np.minimum",
    "arith.maxnumf": "np.fmax",
    "arith.minnumf": "np.fmin",
    "arith.maxsi": "np.maximum",
    "arith.minsi": "np.minimum",
    "arith.remf": "np.fmod",
    "math.absf": "abs",
    "math.absi": "abs",
    "math.atan2": "np.arctan2",
    "math.hypot": "np.hypot",
    **{f"math.a{name}": f"np.arc{name}" for name in ("cos", "sin", "tan", "cosh", "sinh", "tanh")},
    **{
        f"math.{name}": f"np.{name}"
        for name in ("sqrt", "exp", "exp2", "log", "log2", "log10", "log1p", "expm1", "sin", "cos")
    },
    **{f"math.{name}": f"np.{name}" for name in ("floor", "ceil", "trunc", "copysign")},
    "math.roundeven": "np.rint",
    **{f"math.{name}": f"np.{name}" for name in ("tan", "sinh", "cosh", "tanh", "cbrt")},
}

OF_MATH = ("math.erf", "math.erfc")
"""Functions of Python's `math` that NumPy does not have."""

CASTS = (
    "arith.extf",
    "arith.truncf",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
    "arith.sitofp",
    "arith.uitofp",
    "arith.fptosi",
    "arith.index_cast",
)

UNSIGNED_OPERATIONS = {
    "arith.maxui": "np.maximum({}, {})",
    "arith.minui": "np.minimum({}, {})",
    "arith.divui": "({} // {})",
    "arith.remui": "({} % {})",
    "arith.shrui": "({} >> {})",
}
"""Operations on unsigned numbers, with their operands."""

EXTENSIONS = ("arith.extui", "arith.uitofp")
"""What reads an element as an unsigned number."""

FLOAT_PREDICATES = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
FIRST_UNSIGNED, SIGNED_TO_UNSIGNED = 6, 4
INTEGER_PREDICATES = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">="}


LOGICAL = {"arith.andi": "and", "arith.ori": "or", "arith.xori": "not"}
"""Operations on truth values."""


def operation_name(operation: Operation) -> str:
    """The name of an operation, or of the function of the C library that it calls."""
    if isinstance(operation, ExternalOp):
        return f"math.{operation.function}"
    return operation.name


def is_true(value: SSAValue) -> bool:
    """Whether a value is the constant that is true."""
    constant = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    return isinstance(constant, IntegerAttr) and constant.value.data != 0


def bare(text: str) -> str:
    """An expression without the parentheses around it."""
    if not text.startswith("("):
        return text
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:-1] if position == len(text) - 1 else text
    return text


def takes_unsigned(operation: Operation) -> bool:
    """Whether an operation reads its operands as unsigned numbers."""
    if isinstance(operation, arith.CmpiOp):
        return operation.predicate.value.data >= FIRST_UNSIGNED
    return operation.name in (*EXTENSIONS, *UNSIGNED_OPERATIONS, "arith.index_castui")
