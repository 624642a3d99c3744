"""Widened loads: used only through an extension, `extsi A[i, k]`, whose result a copy can hold.

Short integers are multiplied in pairs, as 16 bits each: a copy of bytes holds these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import i16
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.arith import ExtSIOp, ExtUIOp
from .integer_ranges import integer_width
from .scop import Access, Statement

_BYTE, _SHORT = 8, 16

Extension = type[ExtSIOp] | type[ExtUIOp]


@dataclass(frozen=True)
class WidenedLoad:
    """A load of bytes and the extensions, all of one kind, that take it."""

    load: Operation
    extensions: tuple[Operation, ...]
    kind: Extension


def widened_load(statement: Statement, access: Access) -> WidenedLoad | None:
    """The extensions to more than 16 bits that a load of bytes is for; None for other loads."""
    value = access.op.results[0]
    users = [op for op in statement.body if value in op.operands]
    if integer_width(value.type) != _BYTE or not users:
        return None
    for kind in (ExtSIOp, ExtUIOp):
        if all(isinstance(op, kind) and _is_wide(op.results[0].type) for op in users):
            return WidenedLoad(access.op, tuple(users), kind)
    return None


def _is_wide(kind: Attribute) -> bool:
    bits = integer_width(kind)
    return bits is not None and bits > _SHORT


def widen(widened: WidenedLoad, load: Operation) -> Operation:
    """What another load reads, in 16 bits."""
    return widened.kind(load.results[0], i16)


def take_widened(statement: Statement, widened: Iterable[WidenedLoad]) -> Statement:
    """The statement whose loads read 16 bits."""
    loads = {each.load for each in widened}
    extensions = {op for each in widened for op in each.extensions}
    values: dict[SSAValue, SSAValue] = {}
    copies: dict[Operation, Operation] = {}
    body: list[Operation] = []
    for op in statement.body:
        if op in loads:
            copies[op] = type(op).create(
                operands=op.operands,
                properties=op.properties,
                attributes=op.attributes,
                result_types=[i16],
            )
        elif op in extensions:
            copies[op] = ExtSIOp.create(
                operands=[values[op.operands[0]]], result_types=[op.results[0].type]
            )
        elif any(operand in values for operand in op.operands):
            copies[op] = op.clone(values)
        if op in copies:
            values |= zip(op.results, copies[op].results, strict=True)
        body.append(copies.get(op, op))
    accesses = tuple(replace(a, op=copies.get(a.op, a.op)) for a in statement.accesses)
    return replace(statement, accesses=accesses, body=tuple(body))
