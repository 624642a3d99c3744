"""Loop IR before and after passes that change it in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects import func
from xdsl.ir import Block, Operation, Region, SSAValue

from ...loops.operations import operations

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Rewriting:
    """A function before and after passes changed it.

    `operations` and `blocks` say which operation and block of `before` one of `after` was. They
    only suggest what to compare.
    """

    before: func.FuncOp
    after: func.FuncOp
    operations: Mapping[Operation, Operation]
    blocks: Mapping[Block, Block]

    @property
    def is_identity(self) -> bool:
        """Whether nothing has changed."""
        one, other = operations(self.before), operations(self.after)
        if len(one) != len(other):
            return False
        values: dict[SSAValue, SSAValue] = {}
        for before, after in zip(one, other, strict=True):
            if (
                self.operations.get(after) is not before
                or len(before.operands) != len(after.operands)
                or any(map(_differ, map(values.get, before.operands), after.operands))
                or _differ_in(before.properties, after.properties)
                or _differ_in(before.attributes, after.attributes)
                or list(map(_arguments, before.regions)) != list(map(_arguments, after.regions))
            ):
                return False
            values |= dict(zip(before.results, after.results, strict=True))
            for region, copy in zip(before.regions, after.regions, strict=True):
                for block, twin in zip(region.blocks, copy.blocks, strict=True):
                    values |= dict(zip(block.args, twin.args, strict=True))
        return True


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

    def note(self) -> None:
        """Remembers how the function has changed since the last time."""
        earlier, self.last = self.last, _Snapshot(self.function)
        self.rewritings.append(
            Rewriting(
                earlier.copy,
                self.last.copy,
                _by_copy(earlier.operations, self.last.operations),
                _by_copy(earlier.blocks, self.last.blocks),
            )
        )


def _by_copy(earlier: Mapping[_T, _T], later: Mapping[_T, _T]) -> dict[_T, _T]:
    return {copy: earlier[original] for original, copy in later.items() if original in earlier}


def _differ(one: object, other: object) -> bool:
    return one is not other


def _differ_in(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return one.keys() != other.keys() or any(one[key] is not other[key] for key in one)


def _arguments(region: Region) -> list[int]:
    return [len(block.args) for block in region.blocks]
