"""Types of expressions that are numbers."""

from __future__ import annotations

from ...dialects.errors import SourceError
from .c_types import CType, IntegerType, NumberType
from .tree import Expression


def number_type(node: Expression) -> NumberType:
    """The type of an expression that is a number; raises SourceError."""
    if isinstance(node.type, NumberType):
        return node.type
    raise SourceError(_no_number(node.type), node.place)


def is_signed(node: Expression) -> bool:
    """Whether an expression is a signed integer."""
    return isinstance(node.type, IntegerType) and node.type.signed


def _no_number(kind: CType) -> str:
    name = str(kind)
    hint = "; use double" if name == "long double" else ""
    if "_Complex" in name:
        hint = "; use float complex or double complex"
    return f"a value of type '{kind}' is not supported{hint}"
