"""What loops of the function as it was access: in any iteration, in all, and in the first one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import affine as xdsl_affine
from xdsl.ir import Block, Operation, Region, SSAValue

from ...nest.index_expression import Comparison, Index
from .addresses import Address, Addresses, Placed, is_impossible
from .values import is_pure


class LoopAccesses:
    """Accesses of loops, as `addresses` has them."""

    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses
        self._stores: dict[Operation, list[Placed]] = {}

    def placed(self, operation: Operation, address: Address) -> Placed:
        """An address, and the conditions around the operation."""
        return Placed(address, self.addresses.conditions(operation.parent))

    def stores_in(self, operation: Operation) -> list[Placed]:
        """All that an operation stores to, or those inside it."""
        if operation not in self._stores:
            found: list[Placed] = []
            for inner in _directly_in(operation):
                if inner.regions:
                    found += self.stores_in(inner)
                elif not inner.results and (address := self._address(inner)) is not None:
                    found.append(self.placed(inner, address))
            self._stores[operation] = found
        return self._stores[operation]

    def varies(self, address: Address, loop: xdsl_affine.ForOp) -> bool:
        """Whether an address may be another one in another iteration of a loop."""
        return any(_varies(value, loop) for value in self._values(address))

    def follows(self, address: Address, loop: xdsl_affine.ForOp) -> bool:
        """Whether nothing but the variable of a loop makes it another one there."""
        inside = [value for value in self._values(address) if _varies(value, loop)]
        return all(value is loop.body.block.args[0] for value in inside)

    def _values(self, address: Address) -> list[object]:
        numbers = {n for subscript in address.subscripts for n in subscript.variables()}
        return [
            *map(self.addresses.value, numbers),
            *([] if address.mask is None else [address.mask]),
        ]

    def kept(self, loop: xdsl_affine.ForOp) -> dict[Address, Placed]:
        """The addresses that stores of a loop, and of loops in it, go to in every iteration."""
        around = self.addresses.conditions(loop.parent)
        stores = (placed.address for placed in self.stores_in(loop))
        return {a: Placed(a, around) for a in stores if not self.varies(a, loop)}

    def carried(self, loop: xdsl_affine.ForOp) -> Iterator[Address]:
        """Addresses of which a loop may carry the value: kept ones, and those stored before."""
        yield from self.kept(loop)
        variable = self.addresses.number(loop.body.block.args[0])
        earlier = Index.variable(variable) - loop.step.value.data
        for operation in loop.body.block.ops:
            address = None if operation.results else self._address(operation)
            moves = address is not None and address.depends_on(variable)
            if address is not None and moves and self.follows(address, loop):
                yield address.at(variable, earlier)

    def first(self, loop: xdsl_affine.ForOp, *, is_store: bool) -> set[Address]:
        """What a loop certainly accesses in its first iteration, or stores to."""
        found: set[Address] = set()
        for operation in loop.body.block.ops:
            if isinstance(operation, xdsl_affine.ForOp):
                if self.runs(operation, ()):
                    found |= self.first(operation, is_store=is_store)
            elif not (is_store and operation.results):
                address = self._address(operation)
                found |= set() if address is None else {address}
        lower = self.lower(loop)
        variable = self.addresses.number(loop.body.block.args[0])
        moved = (each.at(variable, lower[0]) if len(lower) == 1 else each for each in found)
        return {each for each in moved if not self.varies(each, loop)}

    def is_loaded(self, address: Address, block: Block) -> bool:
        """Whether a block loads from an address whenever it runs."""
        return any(op.results and self._address(op) == address for op in block.ops)

    def is_stored(self, address: Address, block: Block) -> bool:
        """Whether all branches of one of a block's conditionals store to an address."""
        return any(
            op.regions and all(self._ends_stored(address, region) for region in op.regions)
            for op in block.ops
            if isinstance(op, xdsl_affine.IfOp)
        )

    def _ends_stored(self, address: Address, branch: Region) -> bool:
        """Whether a branch, or all branches of a conditional in it, store to an address."""
        return bool(branch.blocks) and (
            any(not op.results and self._address(op) == address for op in branch.block.ops)
            or self.is_stored(address, branch.block)
        )

    def runs(self, loop: xdsl_affine.ForOp, known: Sequence[Comparison]) -> bool:
        """Whether a loop certainly has an iteration, where these conditions hold, too."""
        upper = self.addresses.results(loop.upperBoundMap, loop.upperBoundOperands)
        around = (*known, *self.addresses.conditions(loop.parent))
        empty = (Comparison(">=", low - high) for low in self.lower(loop) for high in upper)
        return all(is_impossible([*around, each]) for each in empty)

    def never_runs(self, loop: xdsl_affine.ForOp) -> bool:
        """Whether a loop, which carries nothing, certainly has no iteration."""
        return not loop.inits and is_impossible(self.addresses.conditions(loop.body.block))

    def lower(self, loop: xdsl_affine.ForOp) -> list[Index]:
        """The lower bounds of a loop."""
        return self.addresses.results(loop.lowerBoundMap, loop.lowerBoundOperands)

    def _address(self, operation: Operation) -> Address | None:
        return None if is_pure(operation) else self.addresses.address(operation)


def _directly_in(operation: Operation) -> Iterator[Operation]:
    return (op for region in operation.regions for block in region.blocks for op in block.ops)


def _varies(value: object, loop: Operation) -> bool:
    """Whether a value may be another one in another iteration of a loop."""
    assert isinstance(value, SSAValue)
    owner = value.owner
    operation = owner.parent_op() if isinstance(owner, Block) else owner
    while operation is not None and operation is not loop:
        operation = operation.parent_op()
    if operation is None:
        return False
    if isinstance(owner, Block) or not is_pure(owner):
        return True
    return any(_varies(operand, loop) for operand in owner.operands)
