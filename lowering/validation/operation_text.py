"""Texts of operations in certificates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from struct import pack

from xdsl.dialects.arith import CmpfOp, SelectOp
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation, SSAValue
from xdsl.printer import Printer

from .verdict import NotKnownError

_SSA = re.compile(r"%[\w$.-]+")


def operation_text(operation: Operation, names: Mapping[SSAValue, str]) -> str:
    """The text of an operation with one result, with these names."""
    stream = StringIO()
    Printer(stream).print_op(operation)
    values = [*operation.results, *operation.operands]
    text = stream.getvalue()
    if len(operation.results) != 1 or len(_SSA.findall(text)) != len(values):
        raise NotKnownError(f"{operation.name} in a statement")
    given = iter(values)
    text = _SSA.sub(lambda _: names[next(given)], text)
    if isinstance(operation, SelectOp):
        return _extremum(operation, names) or text
    return re.sub(r"constant 0x\w+", lambda found: _constant(operation, found[0]), text)


def _constant(operation: Operation, text: str) -> str:
    """Infinities and the usual number that is none by their names, others by their bits."""
    value = operation.properties.get("value")
    if not isinstance(value, FloatAttr):
        return text
    names = {pack("d", float(name)): name for name in ("inf", "-inf", "nan")}
    return f"constant {names.get(pack('d', value.value.data), text.split()[1])}"


def _extremum(operation: SelectOp, names: Mapping[SSAValue, str]) -> str | None:
    """A selection of one of two numbers by comparison of these, as one operation on both."""
    compared = operation.cond.owner
    numbers = {operation.lhs, operation.rhs}
    if not isinstance(compared, CmpfOp) or {compared.lhs, compared.rhs} != numbers:
        return None
    text = operation_text(compared, names)
    found = re.search(r"arith\.cmpf [ou]([gl])[te],", text)
    if found is None:
        return None
    is_first = operation.lhs is compared.lhs
    kind = "cmpmaxf" if (found[1] == "g") == is_first else "cmpminf"
    own = f"{names[operation.results[0]]} = arith.{kind} {'first' if is_first else 'second'}"
    return f"{own} {text.partition('arith.cmpf ')[2]}"
