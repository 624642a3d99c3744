"""Promises and modes that MLIR's arithmetic operations carry and xDSL's lack: exact, nneg ...

They are kept as attributes of the operation, under MLIR's names, and printed again.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

EXACT, NON_NEGATIVE, OVERFLOW, ROUNDING, FAST_MATH = (
    "isExact",
    "nonNeg",
    "overflowFlags",
    "roundingmode",
    "fastmath",
)

_KEYWORDS = {EXACT: "exact", NON_NEGATIVE: "nneg"}
_SETS = {OVERFLOW: ("overflow", IntegerOverflowAttr), FAST_MATH: ("fastmath", FastMathFlagsAttr)}
_ROUNDING_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")


def parse_flags(parser: Parser, names: Collection[str]) -> dict[str, Attribute]:
    """What stands between the operands and the attributes, by the names of the attributes."""
    found: dict[str, Attribute] = {}
    for name in names:
        if name in _KEYWORDS:
            if parser.parse_optional_keyword(_KEYWORDS[name]) is not None:
                found[name] = UnitAttr()
        elif name in _SETS:
            if parser.parse_optional_keyword(_SETS[name][0]) is not None:
                found[name] = (
                    IntegerOverflowAttr(IntegerOverflowAttr.parse_parameter(parser))
                    if name == OVERFLOW
                    else FastMathFlagsAttr(FastMathFlagsAttr.parse_parameter(parser))
                )
        else:
            for mode, keyword in enumerate(_ROUNDING_MODES):
                if parser.parse_optional_keyword(keyword) is not None:
                    found[name] = IntegerAttr(mode, i32)
    return found


def print_flags(printer: Printer, operation: Operation, names: Collection[str]) -> None:
    """As `parse_flags` reads them, and then the other attributes."""
    for name in names:
        attribute = operation.attributes.get(name)
        if attribute is None:
            continue
        if name in _KEYWORDS:
            printer.print_string(f" {_KEYWORDS[name]}")
        elif isinstance(attribute, IntegerOverflowAttr | FastMathFlagsAttr):
            printer.print_string(f" {_SETS[name][0]}")
            attribute.print_parameter(printer)
        else:
            printer.print_string(f" {_ROUNDING_MODES[_mode(attribute)]}")
    rest = {k: v for k, v in operation.attributes.items() if k not in names}
    printer.print_op_attributes(rest)


def verify_flags(operation: Operation) -> None:
    """Raises VerifyException for values that mean nothing, and for rounding in another way."""
    attributes = operation.attributes
    for name, kind in (
        *((name, UnitAttr) for name in _KEYWORDS),
        *((name, kind) for name, (_, kind) in _SETS.items()),
    ):
        if name in attributes and not isinstance(attributes[name], kind):
            raise VerifyException(f"'{name}' is no {kind.name}")
    if ROUNDING in attributes and _mode(attributes[ROUNDING]) != 0:
        raise VerifyException("only rounding 'to_nearest_even' is supported")


def use_attributes(operation: Operation) -> None:
    """Makes attributes of the flags that the generic form of an operation has as properties."""
    if not isinstance(operation, IRDLOperation):
        return
    known = operation.get_irdl_definition().properties
    for name in (*_KEYWORDS, *_SETS, ROUNDING):
        if name in operation.properties and name not in known:
            operation.attributes[name] = operation.properties.pop(name)


def _mode(attribute: Attribute) -> int:
    value = attribute.value.data if isinstance(attribute, IntegerAttr) else -1
    if not 0 <= value < len(_ROUNDING_MODES):
        raise VerifyException(f"'{ROUNDING}' is none of {', '.join(_ROUNDING_MODES)}")
    return value
