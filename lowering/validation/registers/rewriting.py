"""Loop IR before and after passes that change it in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects import func, memref
from xdsl.dialects import vector as xdsl_vector
from xdsl.ir import Block, Operation, Region, SSAValue

from ....dialects import affine, vector
from ....passes.polyhedral.fused_products import LEFT, SEPARATE, fused_operand
from ...loops.alias_analysis import touched_memrefs
from ...loops.operations import operations
from .values import is_pure

_T = TypeVar("_T")

_WRITES = (
    *(affine.StoreOp, affine.VectorStoreOp, xdsl_vector.MaskedStoreOp, vector.ScatterOp),
    memref.DeallocOp,
)
"""What may be left out with the array that it writes to, or frees."""

_NO_MEANING = {"nontemporal", SEPARATE, LEFT}
"""Attributes that are hints, or that say which product an addition is fused with."""


@dataclass(frozen=True, eq=False)
class Rewriting:
    """A function before and after passes changed it.

    `operations` and `blocks` say which operation and block of `before` one of `after` was. They
    only suggest what to compare. `name` is what the passes do.
    """

    before: func.FuncOp
    after: func.FuncOp
    operations: Mapping[Operation, Operation]
    blocks: Mapping[Block, Block]
    name: str

    @property
    def is_identity(self) -> bool:
        """Whether nothing is different but hints for caches, and local arrays only stored to."""
        gone = self._unread()
        one, other = (
            [op for op in found if op not in gone and not isinstance(op, affine.PrefetchOp)]
            for found in (operations(self.before), operations(self.after))
        )
        if len(one) != len(other):
            return False
        values: dict[SSAValue, SSAValue] = {}
        for before, after in zip(one, other, strict=True):
            if (
                self.operations.get(after) is not before
                or len(before.operands) != len(after.operands)
                or any(map(_differ, map(values.get, before.operands), after.operands))
                or _differ_in(before.properties, after.properties)
                or _differ_in(_meaning(before), _meaning(after))
                or fused_operand(before) != fused_operand(after)
                or list(map(_arguments, before.regions)) != list(map(_arguments, after.regions))
            ):
                return False
            values |= dict(zip(before.results, after.results, strict=True))
            for region, copy in zip(before.regions, after.regions, strict=True):
                for block, twin in zip(region.blocks, copy.blocks, strict=True):
                    values |= dict(zip(block.args, twin.args, strict=True))
        return True

    def _unread(self) -> set[Operation]:
        """What is gone of allocations of which nothing is left, and what was computed for them."""
        kept = set(self.operations.values())
        gone = {op for op in operations(self.before) if op not in kept}
        arrays = {op.results[0] for op in gone if isinstance(op, memref.AllocOp | memref.AllocaOp)}
        return {
            op
            for op in gone
            if is_pure(op)
            or not arrays.isdisjoint(op.results)
            or (isinstance(op, _WRITES) and arrays.issuperset(touched_memrefs(op)))
        }


class _Snapshot:
    """A copy of a function; `operations` and `blocks` of the copy, by those of the function."""

    def __init__(self, function: func.FuncOp) -> None:
        self.copy = function.clone()
        pairs = zip(operations(function), operations(self.copy), strict=True)
        self.operations = dict(pairs)
        self.blocks = {
            block: copy
            for operation, twin in self.operations.items()
            for region, other in zip(operation.regions, twin.regions, strict=True)
            for block, copy in zip(region.blocks, other.blocks, strict=True)
        }


class History:
    """What passes do to a function in place, one after the other."""

    def __init__(self, function: func.FuncOp) -> None:
        self.function = function
        self.last = _Snapshot(function)
        self.rewritings: list[Rewriting] = []

    def note(self, name: str) -> None:
        """Remembers how the function has changed since the last time, and what did it."""
        earlier, self.last = self.last, _Snapshot(self.function)
        self.rewritings.append(
            Rewriting(
                earlier.copy,
                self.last.copy,
                _by_copy(earlier.operations, self.last.operations),
                _by_copy(earlier.blocks, self.last.blocks),
                name,
            )
        )


def _by_copy(earlier: Mapping[_T, _T], later: Mapping[_T, _T]) -> dict[_T, _T]:
    return {copy: earlier[original] for original, copy in later.items() if original in earlier}


def _differ(one: object, other: object) -> bool:
    return one is not other


def _differ_in(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return one.keys() != other.keys() or any(one[key] is not other[key] for key in one)


def _meaning(operation: Operation) -> Mapping[str, object]:
    attributes = operation.attributes.items()
    return {name: value for name, value in attributes if name not in _NO_MEANING}


def _arguments(region: Region) -> list[int]:
    return [len(block.args) for block in region.blocks]
