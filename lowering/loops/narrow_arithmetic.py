"""Narrowing of integer arithmetic to the types in which it gives the same bits.

    %2 = arith.extui %0 : i8 to i32               %2 = arith.extui %0 : i8 to i16
    %3 = arith.extui %1 : i8 to i32               %3 = arith.extui %1 : i8 to i16
    %4 = arith.addi %2, %3 : i32          ->      %4 = arith.addi %2, %3 : i16
    %5 = arith.shrsi %4, %c1 : i32                %5 = arith.shrui %4, %c1 : i16
    %6 = arith.trunci %5 : i32 to i8              %6 = arith.trunci %5 : i16 to i8

A vector register holds twice or four times as many lanes then. Which operations have a narrower
form is told by `passes.polyhedral.arithmetic_widths`.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, func, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, IntegerType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.arith import DivSIOp, DivUIOp, ExtSIOp, ExtUIOp, ShRSIOp, ShRUIOp, TruncIOp
from ...dialects.vector import is_vector
from ...passes.polyhedral.arithmetic_widths import (
    Narrowed,
    is_unsigned,
    narrowed_operations,
    values_of,
)
from ...passes.polyhedral.integer_ranges import constant_of, integer_width
from .operations import operations

_BY_NAME: Mapping[str, type[Operation]] = {
    kind.name: kind
    for kind in (
        *(ShRSIOp, ShRUIOp, DivSIOp, DivUIOp, arith.RemSIOp, arith.RemUIOp),
        *(arith.MinSIOp, arith.MinUIOp, arith.MaxSIOp, arith.MaxUIOp),
    )
}
"""What the signed and the unsigned form of an operation may become."""

_MAY_BECOME_UNUSED = (ExtSIOp, ExtUIOp, TruncIOp, arith.ConstantOp, vector.BroadcastOp)

_SIGNED_TO_UNSIGNED = 4
"""From the number of a predicate of `arith.cmpi` to that of the unsigned one."""


def narrow_arithmetic(function: func.FuncOp) -> None:
    """Replaces integer arithmetic of a function by narrower operations, in place."""
    found = operations(function)
    if any(isinstance(each, ExtSIOp | ExtUIOp) for each in found):
        narrowed = narrowed_operations(found)
        if narrowed:
            _Narrowing(narrowed).run(found)


class _Narrowing:
    """The rewriting of a function. `forms` has the versions of values by width, made on demand."""

    def __init__(self, narrowed: Mapping[Operation, Narrowed]) -> None:
        self.narrowed = narrowed
        self.forms: dict[tuple[SSAValue, int], SSAValue] = {}

    def run(self, found: list[Operation]) -> None:
        for operation in found:
            if operation in self.narrowed:
                self._rewrite(operation, self.narrowed[operation])
            elif isinstance(operation, TruncIOp) and operation.operands[0].owner in self.narrowed:
                self._truncate(operation)
        for operation in self.narrowed:
            (result,) = operation.results
            if any(use.operation not in self.narrowed for use in result.uses):
                bits = integer_width(result.type)
                assert bits is not None
                result.replace_all_uses_with(self._form(result, bits))
        for operation in reversed(found):
            is_ours = operation in self.narrowed or isinstance(operation, _MAY_BECOME_UNUSED)
            if is_ours and operation.parent is not None and not operation.results[0].uses:
                _erase(operation)

    def _rewrite(self, operation: Operation, how: Narrowed) -> None:
        """Puts the narrow operation behind the wide one."""
        values = values_of(operation)
        conditions = operation.operands[: len(operation.operands) - len(values)]
        (result,) = operation.results
        properties = dict(operation.properties)
        properties.pop("overflowFlags", None)
        kind = _with_width(result.type, how.width)
        if isinstance(operation, arith.CmpiOp):
            kind = result.type
            properties["predicate"] = _predicate(operation, how)
        narrow = _BY_NAME.get(how.name, type(operation)).create(
            operands=[*conditions, *(self._form(value, how.width) for value in values)],
            result_types=[kind],
            properties=properties,
        )
        width = 1 if isinstance(operation, arith.CmpiOp) else how.width
        self.forms[result, width] = _placed(narrow, operation)

    def _truncate(self, operation: TruncIOp) -> None:
        """A truncation of what is narrow."""
        (value,), (result,) = operation.operands, operation.results
        asked = integer_width(result.type)
        assert asked is not None and isinstance(value.owner, Operation)
        width = self.narrowed[value.owner].width
        found = self._form(value, max(asked, width))
        if asked < width:
            made = TruncIOp.create(operands=[found], result_types=[result.type])
            found = _placed(made, operation)
        result.replace_all_uses_with(found)
        _erase(operation)

    def _form(self, value: SSAValue, width: int) -> SSAValue:
        """A value in so many bits."""
        found = self.forms.get((value, width))
        if found is None:
            found = self.forms[value, width] = self._made(value, width)
        return found

    def _made(self, value: SSAValue, width: int) -> SSAValue:
        kind, owner = _with_width(value.type, width), value.owner
        if not isinstance(owner, Operation):
            made = TruncIOp.create(operands=[value], result_types=[kind])
            assert owner.first_op is not None
            owner.insert_op_before(made, owner.first_op)
            return made.results[0]
        constant = constant_of(value)
        if constant is not None:
            return _placed(_constant(constant, kind), owner)
        if owner in self.narrowed:
            how = self.narrowed[owner]
            extend = ExtSIOp if how.signed else ExtUIOp
            narrow = self.forms[value, how.width]
            assert isinstance(narrow.owner, Operation)
            made = (TruncIOp if how.width > width else extend).create(
                operands=[narrow], result_types=[kind]
            )
            return _placed(made, narrow.owner)
        if isinstance(owner, vector.BroadcastOp):
            operands = [self._form(owner.source, width)]
            made = vector.BroadcastOp.create(operands=operands, result_types=[kind])
            return _placed(made, owner)
        if isinstance(owner, ExtSIOp | ExtUIOp):
            (source,) = owner.operands
            bits = integer_width(source.type)
            assert bits is not None
            if bits == width:
                return source
            resize = TruncIOp if bits > width else type(owner)
            return _placed(resize.create(operands=[source], result_types=[kind]), owner)
        return _placed(TruncIOp.create(operands=[value], result_types=[kind]), owner)


def _erase(operation: Operation) -> None:
    operation.detach()
    operation.erase()


def _placed(operation: Operation, behind: Operation) -> SSAValue:
    """The result of a new operation, which is put behind another one."""
    assert behind.parent is not None
    behind.parent.insert_op_after(operation, behind)
    (result,) = operation.results
    return result


def _predicate(operation: arith.CmpiOp, how: Narrowed) -> IntegerAttr:
    number = operation.predicate.value.data
    if is_unsigned(operation) and how.signed:
        number -= _SIGNED_TO_UNSIGNED
    elif not is_unsigned(operation) and not how.signed and number > 1:
        number += _SIGNED_TO_UNSIGNED
    return IntegerAttr(number, 64)


def _with_width(kind: Attribute, width: int) -> IntegerType | VectorType[IntegerType]:
    """The integer type, or vector of integers, with elements of so many bits."""
    element = IntegerType(width)
    return VectorType(element, kind.get_shape()) if is_vector(kind) else element


def _constant(value: int, kind: IntegerType | VectorType[IntegerType]) -> arith.ConstantOp:
    """The low bits of an integer, in all lanes."""
    element = kind.element_type if isinstance(kind, VectorType) else kind
    bits = element.width.data
    value = (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    if isinstance(kind, VectorType):
        return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(kind, [value]))
    return arith.ConstantOp(IntegerAttr(value, kind))
