"""Structured operations of linalg on memrefs -> loops over elements.

linalg.matmul ins(%A, %B : ...) outs(%C : ...)

->  affine.for %m = 0 to %M {
      affine.for %n = 0 to %N {
        affine.for %k = 0 to %K {
          %c = affine.load %C[%m, %n]
          ...
          affine.store %d, %C[%m, %n]
"""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue

from .....dialects.affine import LoadOp, StoreOp
from .....dialects.errors import SourceError
from .....dialects.linalg import GenericOp, IndexOp, MapOp, ReduceOp, StructuredOp
from .....dialects.linalg.structured import body_of
from .....dialects.memref import is_memref
from ..cells import insert_before
from .emission import erase, loop_nest
from .iteration_spaces import iteration_space
from .linalg_bodies import named_body


def expand_structured(operation: StructuredOp) -> None:
    """Replaces the operation by loops; raises SourceError."""
    operands = (*operation.inputs, *operation.outputs)
    space = iteration_space(operation)
    bounds = space.bounds(operation, operands)
    variables, end = loop_nest(operation, bounds)
    maps = [AffineMapAttr(each) for each in space.maps]
    is_named = not isinstance(operation, GenericOp | MapOp | ReduceOp)
    values: list[SSAValue] = []
    for number, (operand, subscripts) in enumerate(zip(operands, maps, strict=True)):
        is_window = is_named and operation.name.startswith("linalg.pooling_") and number == 1
        if is_memref(operand.type) and not is_window:
            load = LoadOp(operand, variables, subscripts)
            insert_before(end, load)
            values.append(load.result)
        else:
            values.append(operand)
    inputs = values[: len(operation.inputs)]
    if is_named:
        results = [named_body(operation, end, inputs, values[-1])]
    else:
        results = _written_body(operation, end, values, variables)
    for output, subscripts, value in zip(
        operation.outputs, maps[len(operation.inputs) :], results, strict=True
    ):
        insert_before(end, StoreOp(value, output, variables, subscripts))
    _drop_unused_loads(values)
    erase(operation)


def _drop_unused_loads(values: list[SSAValue]) -> None:
    for value in values:
        if isinstance(value.owner, LoadOp) and not value.uses:
            erase(value.owner)


def _written_body(
    operation: StructuredOp, end: Operation, values: list[SSAValue], variables: list[SSAValue]
) -> list[SSAValue]:
    """Moves the body before `end`; the values that it yields."""
    region = body_of(operation)
    if region is None or len(region.blocks) != 1:
        raise SourceError.at(operation, f"the body of '{operation.name}' is not one block")
    block = region.block
    # Bodies of linalg.map may leave out the old element of the output.
    if not len(operation.inputs) <= len(block.args) <= len(values):
        raise SourceError.at(operation, f"the body of '{operation.name}' has other arguments")
    for argument, value in zip(block.args, values, strict=False):
        if argument.type != value.type:
            raise SourceError.at(operation, f"an argument of the body is not of {value.type}")
        argument.replace_all_uses_with(value)
    for inner in list(block.walk()):
        if isinstance(inner, IndexOp):
            number = inner.dim.value.data
            if not 0 <= number < len(variables):
                raise SourceError.at(inner, f"there is no loop {number}")
            inner.result.replace_all_uses_with(variables[number])
            erase(inner)
    last = block.last_op
    assert last is not None
    results = list(last.operands)
    erase(last)
    if len(results) != len(operation.outputs):
        raise SourceError.at(operation, f"the body of '{operation.name}' yields other results")
    assert end.parent is not None
    for inner in list(block.ops):
        inner.detach()
        end.parent.insert_op_before(inner, end)
    return results
