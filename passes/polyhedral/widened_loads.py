"""Widened loads: used only through one extension, `extsi A[i, k]`, so that a copy can hold its result.

Short integers are multiplied in pairs, as 16 bits each: a copy of bytes holds these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import IntegerType, i16
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.arith import ExtSIOp, ExtUIOp
from .scop import Access, Statement

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
    if not isinstance(value.type, IntegerType) or value.type.width.data != 8 or not users:
        return None
    for kind in (ExtSIOp, ExtUIOp):
        if all(isinstance(op, kind) and _bits(op.results[0].type) > 16 for op in users):
            return WidenedLoad(access.op, tuple(users), kind)
    return None


def _bits(kind: Attribute) -> int:
    assert isinstance(kind, IntegerType)
    return kind.width.data


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
            copies[op] = ExtSIOp(values[op.operands[0]], op.results[0].type)
        elif any(operand in values for operand in op.operands):
            copies[op] = op.clone(values)
        if op in copies:
            values |= zip(op.results, copies[op].results, strict=True)
        body.append(copies.get(op, op))
    accesses = tuple(replace(a, op=copies.get(a.op, a.op)) for a in statement.accesses)
    return replace(statement, accesses=accesses, body=tuple(body))
