"""Tensors -> memrefs: each value gets a buffer, in place where nothing reads the old one later.

    %1 = linalg.fill ins(%x : f32) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
    ->  linalg.fill ins(%x : f32) outs(%b : memref<4xf32>)

Arguments that are tensors are never written; results become arguments (`results`).
"""

from __future__ import annotations

from xdsl.dialects import affine, func, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TensorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from .....dialects.affine import ForOp
from .....dialects.errors import SourceError
from ..cells import insert_before
from .buffers import Buffers, buffer_type
from .copies import copy_elements
from .tensor_operations import TENSOR_OPERATIONS, elementwise, structured


def is_tensor(value: SSAValue) -> bool:
    """Whether a value is a ranked tensor."""
    return isa(value.type, TensorType)


def bufferise(function: func.FuncOp) -> None:
    """Rewrites a function in place; raises SourceError for what has no buffers here."""
    block = function.body.block
    values = [*block.args, *(result for op in function.walk() for result in op.results)]
    if not any(is_tensor(value) for value in values):
        return
    _Bufferiser(function).run(block)
    for argument in reversed(list(block.args)):
        if is_tensor(argument):
            block.erase_arg(argument)
    end = block.last_op
    assert end is not None
    function.properties["function_type"] = FunctionType.from_lists(
        list(block.arg_types), [value.type for value in end.operands]
    )


def _without(loop: scf.ForOp | ForOp, initial: list[SSAValue]) -> scf.ForOp | ForOp:
    """A loop with the bounds and the body of another one, which loses it."""
    body = loop.detach_region(0)
    if isinstance(loop, scf.ForOp):
        return scf.ForOp(loop.lb, loop.ub, loop.step, initial, body)
    return ForOp.from_region(
        loop.lowerBoundOperands,
        loop.upperBoundOperands,
        initial,
        [each.type for each in initial],
        loop.lowerBoundMap,
        loop.upperBoundMap,
        body,
        loop.step,
    )


class _Bufferiser:
    def __init__(self, function: func.FuncOp) -> None:
        self.buffers = Buffers(function)
        self.done: list[Operation] = []

    def run(self, block: Block) -> None:
        for argument in [each for each in block.args if is_tensor(each)]:
            buffer = block.insert_arg(buffer_type(argument), argument.index)
            buffer.name_hint = argument.name_hint
            buffer.location = argument.location
            self.buffers.add(argument, buffer, None)
        self._block(block)
        for operation in reversed(self.done):
            operation.detach()
            operation.erase()

    def _block(self, block: Block) -> None:
        for operation in list(block.ops):
            self._operation(operation)

    def _operation(self, operation: Operation) -> None:
        has_tensors = any(map(is_tensor, (*operation.operands, *operation.results)))
        if not has_tensors and not operation.name.startswith("bufferization."):
            for region in operation.regions:
                for block in region.blocks:
                    self._block(block)
            return
        match operation:
            case func.ReturnOp():
                self._return(operation)
                return
            case scf.YieldOp() | affine.YieldOp():
                return  # the loop or branch around sees to it
            case scf.ForOp() | ForOp():
                self._loop(operation)
            case scf.IfOp():
                self._branch(operation)
            case _ if operation.name.startswith("linalg."):
                structured(operation, self.buffers)
            case _ if (rewrite := TENSOR_OPERATIONS.get(operation.name)) is not None:
                for region in operation.regions:  # the elements of what is padded or generated
                    self._block(region.block)
                rewrite(operation, self.buffers)
            case _ if operation.name.startswith(("arith.", "math.")):
                elementwise(operation, self.buffers)
            case _:
                raise SourceError.at(
                    operation,
                    f"'{operation.name}' of tensors is not supported",
                    hint="bufferise the program first, with mlir-opt -one-shot-bufferize",
                )
        self.done.append(operation)

    def _return(self, operation: func.ReturnOp) -> None:
        for number, value in enumerate(list(operation.operands)):
            if not is_tensor(value):
                continue
            buffer = self.buffers[value]
            if self.buffers.is_foreign(value):
                buffer = self.buffers.allocate_like(operation, value)
                copy_elements(operation, self.buffers[value], buffer)
            operation.operands[number] = buffer

    def _loop(self, loop: scf.ForOp | ForOp) -> None:
        """Each tensor that a loop carries has one buffer for all iterations."""
        body = loop.body.block
        initial = loop.iter_args if isinstance(loop, scf.ForOp) else loop.inits
        first = len(loop.operands) - len(initial)
        carried = [n for n, value in enumerate(initial) if is_tensor(value)]
        homes: list[SSAValue] = []
        for n in carried:
            buffer = self.buffers.destination(loop, first + n, loop.results[n])
            argument = body.args[1 + n]
            self.buffers.add(argument, buffer, body)
            homes.append(buffer)
        self._block(body)
        end = body.last_op
        assert end is not None
        moved: list[tuple[SSAValue, SSAValue]] = []
        for n, buffer in zip(carried, homes, strict=True):
            value = end.operands[n]
            if self.buffers[value] is buffer:
                continue
            others = [each for each in carried if each != n]
            if any(self.buffers.same_group(value, body.args[1 + each]) for each in others):
                copy = self.buffers.allocate_like(end, value)
                copy_elements(end, self.buffers[value], copy)
                moved.append((copy, buffer))
            else:
                moved.append((self.buffers[value], buffer))
        for source, buffer in moved:
            copy_elements(end, source, buffer)
        kept = [n for n in range(len(initial)) if n not in carried]
        end.operands = [end.operands[n] for n in kept]
        new = _without(loop, [initial[n] for n in kept])
        new.attributes |= loop.attributes
        insert_before(loop, new)
        for n, result in zip(kept, new.results, strict=True):
            loop.results[n].replace_all_uses_with(result)
        self._drop_later(body, [body.args[1 + n] for n in carried])

    def _drop_later(self, body: Block, arguments: list[BlockArgument]) -> None:
        """Tensor arguments of a loop: their uses go with the operations that are replaced."""
        for operation in [each for each in self.done if each.parent is not None]:
            if any(operand in arguments for operand in operation.operands):
                operation.operands = [
                    operand for operand in operation.operands if operand not in arguments
                ]
        for argument in reversed(arguments):
            body.erase_arg(argument)

    def _branch(self, branch: scf.IfOp) -> None:
        results = [n for n, value in enumerate(branch.results) if is_tensor(value)]
        homes: list[SSAValue] = []
        for n in results:
            kind = buffer_type(branch.results[n])
            if DYNAMIC_INDEX in kind.get_shape():
                raise SourceError.at(branch, f"a branch gives a tensor of unknown size: {kind}")
            buffer = self.buffers.allocate(branch, kind, [], branch.results[n].name_hint)
            self.buffers.add(branch.results[n], buffer, branch.parent)
            homes.append(buffer)
        kept = [n for n in range(len(branch.results)) if n not in results]
        for region in branch.regions:
            self._block(region.block)
            end = region.block.last_op
            assert isinstance(end, scf.YieldOp)
            for n, buffer in zip(results, homes, strict=True):
                copy_elements(end, self.buffers[end.operands[n]], buffer)
            end.operands = [end.operands[n] for n in kept]
        then, otherwise = branch.detach_region(0), branch.detach_region(0)
        new = scf.IfOp(branch.cond, [branch.results[n].type for n in kept], then, otherwise)
        insert_before(branch, new)
        for n, result in zip(kept, new.results, strict=True):
            branch.results[n].replace_all_uses_with(result)
