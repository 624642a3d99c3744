"""Opaque regions: what is not affine becomes calls of outlined functions.

    affine.for %i = 0 to %n {                affine.for %i = 0 to %n {
      %k = affine.load %J[%i]                  %k = affine.load %J[%i]
      %0 = affine.load %A[%k]        ->        call @f_opaque0(%k, %v, %A) {loopwright.opaque}
      %1 = arith.addf %0, %v                 }
      affine.store %1, %A[%k]                func.func private @f_opaque0(...) {loopwright.opaque}
    }

Subscripts that depend on data, loops with such bounds, `scf.while`, calls of functions that are
only declared, and branches around these. A region is a run of operations in one block, the smallest
with all uses of its values. Each call is one statement, of which only the arrays it may access are
known.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.affine import ForOp, IfOp, LoadOp, ParallelOp, StoreOp
from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineSymExpr
from xdsl.traits import IsTerminator

from ....dialects.errors import SourceError
from ....dialects.external import ExternalCallOp, touched_memrefs
from ....dialects.opaque import OPAQUE
from ..fused_products import drop_needless_marks, fused_operand, fused_product
from ..gathers import is_irregular
from .affine_values import AffineValues, NotAffineError
from .if_conversion import is_on_data
from .repeated_subscripts import merge_repeated_subscripts

_KNOWN = frozenset(
    (
        *("affine.apply", "affine.for", "affine.if", "affine.load", "affine.store"),
        *("affine.yield", "memref.alloc", "memref.alloca", "memref.dealloc", "memref.dim"),
        "memref.external",
        *("scf.condition", "scf.for", "scf.if", "scf.while", "scf.yield"),
    )
)
_ALLOCATIONS = (memref.AllocOp, memref.AllocaOp)

# Runs of one block, each by its first and last operation.
_Runs = list[tuple[Operation, Operation]]


def outline_opaque_regions(function: func.FuncOp) -> None:
    """Outlines them in place; the function and those that it calls are a module then.

    Raises SourceError at what cannot be compiled in such a region.
    """
    if not _Finder(function).found():
        return
    merge_repeated_subscripts(function)
    runs = _Finder(function).found()
    name = function.sym_name.data
    outlined = [
        _outline(first, last, f"{name}_opaque{number}") for number, (first, last) in enumerate(runs)
    ]
    ModuleOp([function, *outlined])


class _Finder:
    """The opaque runs of a function, in textual order."""

    def __init__(self, function: func.FuncOp):
        self.function = function
        self.values = AffineValues(function)
        self.written = {
            operation.memref
            for operation in function.walk()
            if isinstance(operation, StoreOp | memref.StoreOp)
        }
        for operation in function.walk():
            self.written.update(touched_memrefs(operation))

    def found(self) -> _Runs:
        runs = self._runs(self.function.body.block, 0)
        if runs is None:
            raise SourceError.at(
                self.function, "the function returns what depends on parts that are not affine"
            )
        return runs

    def _runs(self, block: Block, depth: int) -> _Runs | None:
        """Those inside a block; None where all around it has to be opaque."""
        inner: dict[Operation, _Runs] = {}
        seeds: list[Operation] = []
        for operation in block.ops:
            runs = self._inside(operation, depth)
            if runs is None:
                seeds.append(operation)
            elif runs:
                inner[operation] = runs
        if not seeds:
            return [run for runs in inner.values() for run in runs]
        numbers = {operation: number for number, operation in enumerate(block.ops)}
        operations = list(numbers)
        spans: list[tuple[int, int]] = []
        for seed in seeds:
            span = self._closed(numbers, operations, numbers[seed], depth)
            if span is None:
                return None
            spans.append(span)
        spans = self._merged(spans)
        result: _Runs = []
        for operation, number in numbers.items():
            for first, last in spans:
                if number == first:
                    result.append((operations[first], operations[last]))
            if not any(first <= number <= last for first, last in spans):
                result += inner.get(operation, ())
        return result

    def _merged(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        merged: list[tuple[int, int]] = []
        for first, last in sorted(spans):
            if merged and first <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(last, merged[-1][1])
            else:
                merged.append((first, last))
        return merged

    def _closed(
        self, numbers: dict[Operation, int], operations: list[Operation], seed: int, depth: int
    ) -> tuple[int, int] | None:
        """The smallest run around an operation whose values nothing outside of it uses."""
        first = last = seed
        pending = [seed]
        seen = {seed}
        while pending:
            number = pending.pop()
            operation = operations[number]
            if operation.has_trait(IsTerminator):
                return None
            wanted = [numbers[user] for user in self._users(operation, numbers)]
            for array in _memrefs(operation):
                owner = array.owner
                if not isinstance(owner, Operation):
                    continue
                if owner in numbers:
                    # What lives in a loop is allocated anew in the outlined function.
                    wanted += [numbers[owner]] if depth else []
                elif owner.parent is not self.function.body.block and owner not in set(
                    operation.walk()
                ):
                    return None
            first, last = min([first, *wanted]), max([last, *wanted])
            for each in range(first, last + 1):
                if each not in seen:
                    seen.add(each)
                    pending.append(each)
        return first, last

    def _users(self, operation: Operation, numbers: dict[Operation, int]) -> Iterator[Operation]:
        """The operations of the block in which results are used."""
        for result in operation.results:
            for use in result.uses:
                user: Operation | None = use.operation
                while user is not None and user not in numbers:
                    user = user.parent_op()
                if user is not None:
                    yield user

    def _inside(self, operation: Operation, depth: int) -> _Runs | None:
        """The runs inside an operation; None where it is opaque itself."""
        match operation:
            case LoadOp() | StoreOp():
                return [] if self._is_access(operation) else None
            case scf.WhileOp() | ExternalCallOp():
                return None
            case ForOp() | scf.ForOp():
                if not self._has_affine_bounds(operation):
                    return None
                self.values.bind(operation.body.block.args[0], depth)
                return self._runs(operation.body.block, depth + 1)
            case ParallelOp():
                count = len(operation.body.block.args)
                for position, variable in enumerate(operation.body.block.args):
                    self.values.bind(variable, depth + position)
                return self._runs(operation.body.block, depth + count)
            case IfOp() | scf.IfOp():
                return self._branches(operation, depth)
            case _:
                return []

    def _branches(self, operation: IfOp | scf.IfOp, depth: int) -> _Runs | None:
        found: _Runs = []
        for region in operation.regions:
            for block in region.blocks:
                runs = self._runs(block, depth)
                if runs is None:
                    return None
                found += runs
        if isinstance(operation, IfOp):
            is_affine = self._are_affine(operation.args)
            return found if is_affine else None
        if is_on_data(operation):
            return None if found else []
        return found if self._is_affine_condition(operation.cond) else None

    def _is_affine_condition(self, condition: SSAValue) -> bool:
        owner = condition.owner
        if isinstance(owner, arith.AndIOp):
            return self._is_affine_condition(owner.lhs) and self._is_affine_condition(owner.rhs)
        return isinstance(owner, arith.CmpiOp) and self._are_affine((owner.lhs, owner.rhs))

    def _are_affine(self, values: Iterable[SSAValue]) -> bool:
        try:
            for value in values:
                self.values.expression(value, piecewise=True)
        except NotAffineError:
            return False
        return True

    def _has_affine_bounds(self, loop: ForOp | scf.ForOp) -> bool:
        try:
            if isinstance(loop, ForOp):
                self.values.map(loop.lowerBoundMap.data, loop.lowerBoundOperands, piecewise=True)
                self.values.map(loop.upperBoundMap.data, loop.upperBoundOperands, piecewise=True)
                return True
        except NotAffineError:
            return False
        step = loop.step.owner
        return (
            isinstance(loop.lb.type, IndexType)
            and isinstance(step, arith.ConstantOp)
            and isinstance(step.value, IntegerAttr)
            and step.value.value.data > 0
            and self._are_affine((loop.lb, loop.ub))
        )

    def _is_access(self, operation: LoadOp | StoreOp) -> bool:
        """Whether subscripts are affine, or those of a gather."""
        try:
            self.values.map(operation.map.data, list(operation.indices))
            return True
        except NotAffineError:
            pass
        return (
            isinstance(operation, LoadOp)
            and isinstance(operation.memref, BlockArgument)
            and operation.memref not in self.written
            and all(
                isinstance(each, AffineDimExpr | AffineSymExpr)
                for each in operation.map.data.results
            )
            and any(map(is_irregular, operation.indices))
        )


def _memrefs(operation: Operation) -> Iterator[SSAValue]:
    """The arrays that an operation and those inside it use."""
    for inner in operation.walk():
        for value in inner.operands:
            if isinstance(value.type, MemRefType):
                yield value


def _outline(first: Operation, last: Operation, name: str) -> func.FuncOp:
    """Moves a run of operations to a function, and calls it in their place."""
    block = first.parent
    assert block is not None
    moved = [first]
    while moved[-1] is not last:
        following = moved[-1].next_op
        assert following is not None
        moved.append(following)
    inside = dict.fromkeys(operation for each in moved for operation in each.walk())
    for operation in [each for each in inside if isinstance(each, memref.DeallocOp)]:
        if operation.memref.owner not in inside:  # of an array from outside
            del inside[operation]
            moved = [each for each in moved if each is not operation]
            operation.detach()
            operation.erase()
    for operation in inside:
        _check(operation)
    body = Block()
    copies = _copied(moved, inside, body)
    outside: dict[SSAValue, SSAValue] = {}
    block.insert_op_before(call := func.CallOp(name, [], []), moved[0])
    for operation in moved:
        operation.detach()
        body.add_op(operation)
    for operation in (*copies, *inside):
        for position, value in enumerate(operation.operands):
            owner = value.owner
            is_inner = owner in inside or owner in copies
            if isinstance(owner, Block):
                is_inner = owner.parent_op() in inside
            if is_inner:
                continue
            if value not in outside:
                argument = body.insert_arg(value.type, len(body.args))
                argument.name_hint = value.name_hint
                outside[value] = argument
            operation.operands[position] = outside[value]
    body.add_op(func.ReturnOp())
    call.operands = list(outside)
    call.location = moved[-1].location
    call.attributes[OPAQUE] = UnitAttr()
    kind = FunctionType.from_lists(list(body.arg_types), [])
    outlined = func.FuncOp(name, kind, Region(body), visibility=StringAttr("private"))
    outlined.attributes[OPAQUE] = UnitAttr()
    outlined.location = moved[-1].location
    drop_needless_marks(outlined)
    return outlined


def _copied(
    moved: list[Operation], inside: Container[Operation], body: Block
) -> dict[Operation, None]:
    """Copies constants and fused products, which have to be where they are used."""
    copies: dict[Operation, Operation] = {}
    for operation in [inner for each in moved for inner in each.walk()]:
        position = fused_operand(operation)
        product = None if position is None else fused_product(operation, position)
        for number, value in enumerate(operation.operands):
            owner = value.owner
            if not isinstance(owner, Operation) or owner in inside:
                continue
            if not isinstance(owner, arith.ConstantOp) and owner is not product:
                continue
            if owner not in copies:
                copies[owner] = copy = owner.clone()
                copy.location = owner.location
                copy.results[0].name_hint = owner.results[0].name_hint
                body.add_op(copy)
            operation.operands[number] = copies[owner].results[0]
    return dict.fromkeys(copies.values())


def _check(operation: Operation) -> None:
    known = operation.name in _KNOWN or operation.name.startswith(("arith.", "math."))
    if not known:
        raise SourceError.at(operation, f"'{operation.name}' cannot be part of what is not affine")
