"""Widened loads: used only through an extension, `extsi A[i, k]`, whose result a copy can hold.

Short integers are multiplied in pairs, as 16 bits each: a copy of bytes holds these. One of f16 or
bf16 holds f32, in which they are computed with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import f32, i16
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.arith import ExtFOp, ExtSIOp, ExtUIOp
from ...dialects.narrow_floats import is_narrow_float
from .integer_ranges import integer_width
from .scop import Access, Statement

_BYTE, _SHORT = 8, 16

Extension = type[ExtSIOp] | type[ExtUIOp] | type[ExtFOp]


@dataclass(frozen=True)
class WidenedLoad:
    """A load of bytes or narrow floats and the extensions, all of one kind, that take it."""

    load: Operation
    extensions: tuple[Operation, ...]
    kind: Extension

    @property
    def held(self) -> Attribute:
        """The type of what a copy holds."""
        return f32 if self.kind is ExtFOp else i16


def widened_load(statement: Statement, access: Access) -> WidenedLoad | None:
    """The extensions to more bits than a copy holds, or as many, that a load is for, if it is."""
    value = access.op.results[0]
    users = [op for op in statement.body if value in op.operands]
    if is_narrow_float(value.type) and users and all(isinstance(op, ExtFOp) for op in users):
        return WidenedLoad(access.op, tuple(users), ExtFOp)
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
    """What another load reads, in the type that a copy holds."""
    return widened.kind.create(operands=[load.results[0]], result_types=[widened.held])


def take_widened(statement: Statement, widened: Iterable[WidenedLoad]) -> Statement:
    """The statement whose loads read what copies hold."""
    loads = {each.load: each.held for each in widened}
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
                result_types=[loads[op]],
            )
        elif op in extensions and isinstance(op, ExtFOp):
            values[op.results[0]] = values[op.operands[0]]
            continue
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
