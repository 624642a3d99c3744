"""Simulation of loop IR and its rewriting, side by side: memory and registers hold the same.

Both access the same elements in the same order, apart from loads that are gone, whose users get
values from registers, and stores that are gone or come later. The rewriting is right when

- a load that is gone is of an address whose value is known, and its users have that value;
- no load that is still there, or is added, can see what is out of date in memory;
- an added access is to an element that its block accesses anyway, or a loop in it that runs;
- an added store writes the value that its address has;
- a value that a branch now results in is what each of its blocks has stored to one address;
- a value that a loop carries is that of one address at the beginning of every iteration;
- at the end of every loop and branch nothing is out of date that was not so before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import affine as xdsl_affine
from xdsl.dialects import func, memref, scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ....dialects import affine
from ....dialects.memref import is_memref
from ...loops.alias_analysis import is_inside
from ...loops.place_access import stored_value
from ...nest.index_expression import Comparison, Index
from ..verdict import NotKnownError
from .addresses import Address, Addresses, Numbers, Placed, is_impossible
from .loop_accesses import LoopAccesses
from .memory import Memory
from .rewriting import Rewriting
from .values import Named, Values, is_elementwise, is_gather, is_pure

_LOOPS = (xdsl_affine.ForOp, affine.ParallelOp)
_BRANCHES = (xdsl_affine.IfOp, scf.IfOp)
_YIELDS = (xdsl_affine.YieldOp, scf.YieldOp, func.ReturnOp)
Masks = frozenset[SSAValue]

_ALLOCATIONS = (memref.AllocOp, memref.AllocaOp)


def check_rewriting(rewriting: Rewriting) -> None:
    """Raises NotKnownError unless memory and values are proved to be the same after as before."""
    if rewriting.is_identity:
        return
    try:
        _Simulation(rewriting).run()
    except NotKnownError as error:
        raise NotKnownError(f"values in registers: {error}") from error


class _Simulation:
    def __init__(self, rewriting: Rewriting) -> None:
        self.rewriting = rewriting
        self.twins = rewriting.operations
        self.twin_blocks = rewriting.blocks
        self.still_there = {*self.twins.values()}
        self.values = Values(self.twins)
        numbers = Numbers()
        self.before = Addresses(numbers, self.values.canonical)
        self.after = Addresses(numbers, self.values.origin)
        self.loaded: dict[SSAValue, Address] = {}
        self.accesses = LoopAccesses(self.before)
        self.accessed: dict[tuple[Operation, bool], set[Address]] = {}

    def run(self) -> None:
        """Raises NotKnownError."""
        before, after = self.rewriting.before.body.block, self.rewriting.after.body.block
        state = Memory()
        self._arguments(before, after)
        self._block(before, after, state)
        if any(address.memref in before.args for address in state.stale):
            raise NotKnownError("a store to an argument is left out")

    def _arguments(self, before: Block, after: Block, masks: Sequence[Masks] = ()) -> None:
        """Arguments are equal; the last ones in the lanes of masks."""
        if [arg.type for arg in before.args] != [a.type for a in after.args[: len(before.args)]]:
            raise NotKnownError("the arguments of a block have changed")
        exact = len(before.args) - len(masks)
        self.values.name_all(before.args[:exact], after.args[:exact])
        for own, other, lanes in zip(before.args[exact:], after.args[exact:], masks, strict=False):
            self.values.name(own, Named(other, lanes))

    def _block(self, before: Block, after: Block, state: Memory) -> None:
        """Simulates a block of the function as it was, and what it has become."""
        left = iter(before.ops)
        for operation in after.ops:
            if is_pure(operation):
                self.values.define(operation)
                continue
            twin = self._twin(operation)
            if twin is None:
                self._added(operation, before, state)
                continue
            self._gone(left, twin, state)
            if operation in self.twins:
                self._kept(operation, twin, state)
            elif isinstance(operation, xdsl_affine.ForOp):
                self._carrying(operation, twin, state)
            elif operation.results:
                self._selecting(operation, twin, state)
            else:
                self._guarded(operation, twin, state)
        self._gone(left, None, state)

    def _twin(self, operation: Operation) -> Operation | None:
        """What an operation was: a loop for one that now carries values, or for its guard.

        A branch for one that now has a result.
        """
        if operation in self.twins:
            return self.twins[operation]
        if isinstance(operation, xdsl_affine.IfOp) and operation.results:
            inside = operation.then_region.block
        else:
            loop = _loop_in(operation)
            inside = None if loop is None else loop.body.block
        twin = None if inside is None else self.twin_blocks.get(inside)
        return None if twin is None else twin.parent_op()

    def _gone(self, left: Iterator[Operation], end: Operation | None, state: Memory) -> None:
        """Operations that are no longer there, up to one that is."""
        for operation in left:
            if operation is end:
                return
            if is_pure(operation):
                self.values.evaluate(operation)
                continue
            if isinstance(operation, _YIELDS) and not operation.operands:
                continue
            if isinstance(operation, xdsl_affine.ForOp) and self.accesses.never_runs(operation):
                continue
            address = self.before.address(operation)
            if address is None:
                raise NotKnownError(f"{operation.name} is gone")
            masks = _masks(address)
            if operation.results:
                values = state.known.get(address, ())
                if not values or values[0].type != operation.results[0].type:
                    raise NotKnownError(f"a load of {address} is gone")
                self.values.name(operation.results[0], Named(values[0], masks))
            else:
                name = self.values.names.get(stored_value(operation))
                is_known = name is not None and name.masks <= masks
                placed = self.accesses.placed(operation, address)
                state.write(placed, name.value if name is not None and is_known else None)
                state.stale[address] = placed
        if end is not None:
            raise NotKnownError(f"{end.name} is in another place")

    def _added(self, operation: Operation, around: Block, state: Memory) -> None:
        """An operation of the rewritten function alone, in what was a block or is in it."""
        if isinstance(operation, _YIELDS):
            return
        address = self.after.address(operation)
        if address is None:
            raise NotKnownError(f"{operation.name} is added")
        if not self._is_made_anyway(operation, address, around):
            raise NotKnownError(f"an access to {address} is added that may not be made")
        if operation.results:
            state.check_current(Placed(address, self.before.conditions(around)))
            self.loaded[operation.results[0]] = address
            self._loaded(operation.results[0], address, state)
        elif not state.holds(address, self.values.leader(stored_value(operation))):
            raise NotKnownError(f"a store to {address} is added")
        else:
            state.stale.pop(address, None)

    def _loaded(self, result: SSAValue, address: Address, state: Memory) -> None:
        """The rewritten function loads what is in memory.

        Under a mask, what is known already has other values in lanes that are off; a load that is
        gone has what was loaded last.
        """
        values = state.known.get(address, ())
        if not values or values[0].type != result.type:
            state.known[address] = (result,)
        elif address.mask is None:
            self.values.equate(result, values[0])
        else:
            state.known[address] = (result, *values)

    def _kept(self, operation: Operation, twin: Operation, state: Memory) -> None:
        address = self.before.address(twin)
        self._check_same(operation, twin, address)
        if address is not None:
            placed = self.accesses.placed(twin, address)
            if operation.results:
                state.check_current(placed)
                self._loaded(operation.results[0], address, state)
            else:
                state.write(placed, self.values.leader(stored_value(operation)))
                state.stale.pop(address, None)
        elif isinstance(operation, _LOOPS):
            self._loop(operation, twin, state)
            return
        elif isinstance(operation, _BRANCHES):
            self._branch(operation, twin, state)
            return
        elif isinstance(operation, memref.DeallocOp):
            state.free(self.values.canonical(twin.operands[0]))
        elif operation.regions or (_memrefs(operation) and not _is_harmless(operation)):
            raise NotKnownError(f"{operation.name} may access anything")
        self.values.name_all(twin.results, operation.results)

    def _check_same(self, operation: Operation, twin: Operation, address: Address | None) -> None:
        """The operation is the same, of the same values; a store, in the lanes that it writes."""
        kinds = [
            (op.name, op.properties, op.attributes, [*op.result_types]) for op in (operation, twin)
        ]
        if kinds[0] != kinds[1] or len(operation.operands) != len(twin.operands):
            raise NotKnownError(f"{operation.name} has changed")
        lanes = self._lanes(twin, address)
        for own, other in zip(twin.operands, operation.operands, strict=True):
            if not self.values.are_equal(own, other, lanes.get(own, frozenset())):
                raise NotKnownError(f"{operation.name} has another operand")

    def _lanes(self, twin: Operation, address: Address | None) -> dict[SSAValue, Masks]:
        """Operands that have to be equal in the lanes of masks alone.

        What a loop carries is equal in the same lanes in all iterations, and what a branch results
        in is equal in those of its blocks.
        """
        if address is not None and not twin.results:
            return {stored_value(twin): _masks(address)}
        if isinstance(twin, _YIELDS) and isinstance(twin.parent_op(), _BRANCHES):
            return {own: self._known_lanes(own) for own in twin.operands}
        loop = twin.parent_op() if isinstance(twin, xdsl_affine.YieldOp) else twin
        if not isinstance(loop, xdsl_affine.ForOp):
            return {}
        masks = self._carried_lanes(loop)
        operands = twin.operands[len(twin.operands) - len(masks) :]
        lanes: dict[SSAValue, Masks] = {}
        for own, each in zip(operands, masks, strict=True):
            lanes[own] = each & lanes.get(own, each)
        return lanes

    def _carried_lanes(self, loop: xdsl_affine.ForOp) -> list[Masks]:
        """The lanes in which what a loop carries has to be equal.

        Those in which it is so at the beginning, and among them those in which it is stored at the
        end of an iteration, and those in which loads were that are gone.
        """
        stored: dict[SSAValue, Masks] = {}
        for operation in loop.body.block.ops:
            address = None if operation.results else self.before.address(operation)
            mask = None if address is None else address.mask
            if mask is not None and not is_inside(mask, loop.body.block):
                stored[stored_value(operation)] = frozenset({mask})
        end = loop.body.block.last_op
        yielded = () if end is None else end.operands
        return [
            self._known_lanes(first) | stored.get(last, frozenset()) | self._lanes_gone(last, loop)
            for first, last in zip(loop.inits, yielded, strict=True)
        ]

    def _lanes_gone(self, value: SSAValue, loop: xdsl_affine.ForOp) -> Masks:
        """The lanes of loads that are gone, of what a loop computes, lane by lane, of them."""
        found, seen = set[SSAValue](), set[SSAValue]()
        waiting: list[SSAValue] = [value]
        block = loop.body.block
        while waiting:
            each = waiting.pop()
            if each in seen or not is_inside(each, block):
                continue
            seen.add(each)
            owner = each.owner
            if isinstance(each, BlockArgument):
                carried = each.index - (len(block.args) - len(loop.inits))
                end = block.last_op
                if carried >= 0 and end is not None:
                    waiting.append(end.operands[carried])
            elif isinstance(owner, Operation) and is_elementwise(owner):
                waiting += owner.operands
            elif isinstance(owner, Operation) and owner not in self.still_there:
                address = self.before.address(owner)
                mask = None if address is None else address.mask
                if mask is not None and not is_inside(mask, block):
                    found.add(mask)
        return frozenset(found)

    def _known_lanes(self, value: SSAValue) -> Masks:
        """The lanes in which a value has a name."""
        return self.values.names.get(value, Named(value)).masks

    def _forget_stores(self, operation: Operation, state: Memory) -> None:
        """Forgets all that an operation of the function as it was may store to."""
        memrefs = {address.memref for address in state.known}
        if memrefs:
            stores = self.accesses.stores_in(operation)
            state.forget(each for each in stores if each.address.memref in memrefs)

    def _loop(self, operation: Operation, twin: Operation, state: Memory) -> None:
        """A loop that carries what it has carried before."""
        self._forget_stores(twin, state)
        block, after = twin.regions[0].block, operation.regions[0].block
        if len(block.args) != len(after.args):
            raise NotKnownError("a loop carries other values")
        inside = state.copy()
        masks = self._carried_lanes(twin) if isinstance(twin, xdsl_affine.ForOp) else []
        self._arguments(block, after, masks)
        self._block(block, after, inside)
        state.leave(inside)
        for own, other, lanes in zip(twin.results, operation.results, masks, strict=False):
            self.values.name(own, Named(other, lanes))

    def _branch(self, operation: Operation, twin: Operation, state: Memory) -> None:
        outside = state.copy()
        for region, other in zip(twin.regions, operation.regions, strict=True):
            for block, after in zip(region.blocks, other.blocks, strict=True):
                inside = outside.copy()
                self._block(block, after, inside)
                state.leave(inside)
        self._forget_stores(twin, state)
        ends = [region.block.last_op for region in twin.regions if region.blocks]
        for position, (own, other) in enumerate(zip(twin.results, operation.results, strict=True)):
            yielded = (end.operands[position] for end in ends if end is not None)
            lanes = Masks().union(*map(self._known_lanes, yielded))
            self.values.name(own, Named(other, lanes))

    def _selecting(self, operation: Operation, twin: Operation, state: Memory) -> None:
        """A branch whose result is what all of its blocks have stored to one address."""
        if operation.properties != twin.properties or not all(
            map(self.values.are_equal, twin.operands, operation.operands)
        ):
            raise NotKnownError("the condition of a branch has changed")
        outside, found = state.copy(), set[Address]()
        for region, other in zip(twin.regions, operation.regions, strict=True):
            inside, end = outside.copy(), other.block.last_op
            self._block(region.block, other.block, inside)
            left_out = inside.stale.keys() - outside.stale.keys()
            found |= left_out
            if len(left_out) != 1 or end is None or len(end.operands) != 1:
                raise NotKnownError("a branch leaves out other stores than that of its result")
            if not inside.holds(next(iter(left_out)), self.values.leader(end.operands[0])):
                raise NotKnownError("a branch has another result than what it has stored")
        self._forget_stores(twin, state)
        if len(found) != 1:
            raise NotKnownError("the result of a branch was stored to several addresses")
        address = found.pop()
        state.known[address] = (operation.results[0],)
        state.stale[address] = self.accesses.placed(twin, address)

    def _guarded(self, guard: Operation, loop: Operation, state: Memory) -> None:
        """A loop that carries values, with loads before and stores behind, where it runs at all."""
        assert isinstance(guard, xdsl_affine.IfOp) and isinstance(loop, xdsl_affine.ForOp)
        runs = self.before.conditions(loop.body.block)
        for comparison in self.after.condition(guard):
            for negated in _negations(comparison):
                if not is_impossible([*runs, negated]):
                    raise NotKnownError("a loop that carries values may be left out")
        if guard.else_region.blocks or guard.results:
            raise NotKnownError("a loop that carries values has another branch")
        carrying = _loop_in(guard)
        assert carrying is not None and loop.parent is not None
        inside = state.copy()
        for operation in guard.then_region.block.ops:
            if is_pure(operation):
                self.values.define(operation)
            elif operation is carrying:
                self._carrying(carrying, loop, inside)
            else:
                self._added(operation, loop.parent, inside)
        state.leave(inside)
        self._forget_stores(loop, state)

    def _is_made_anyway(self, operation: Operation, address: Address, around: Block) -> bool:
        """Whether its block makes such an access, too, or a loop in it that certainly runs."""
        block = operation.parent
        assert block is not None
        made = self.accesses.is_loaded if operation.results else self.accesses.is_stored
        return made(address, around) or any(
            address in self._made_by(loop, is_store=not operation.results)
            for loop in block.ops
            if isinstance(loop, xdsl_affine.ForOp) and loop not in self.twins
        )

    def _made_by(self, loop: xdsl_affine.ForOp, *, is_store: bool) -> set[Address]:
        """What a loop accesses in its first iteration, if it certainly has one."""
        if (loop, is_store) not in self.accessed:
            before = self.twin_blocks[loop.body.block].parent_op()
            assert isinstance(before, xdsl_affine.ForOp)
            guard, known = loop.parent_op(), list[Comparison]()
            if isinstance(guard, xdsl_affine.IfOp) and guard not in self.twins:
                known += self.after.condition(guard)
            runs = self.accesses.runs(before, known)
            found = self.accesses.first(before, is_store=is_store) if runs else set[Address]()
            self.accessed[loop, is_store] = found
        return self.accessed[loop, is_store]

    def _carrying(self, after: xdsl_affine.ForOp, before: Operation, state: Memory) -> None:
        """A loop that carries values which it has stored and loaded before."""
        assert isinstance(before, xdsl_affine.ForOp)
        self._check_bounds(after, before)
        block = after.body.block
        variable = self.before.number(before.body.block.args[0])
        addresses = self._carried(after, before, state)
        self._forget_stores(before, state)
        kept = self.accesses.kept(before)
        late = {address: kept[address] for address in addresses if address in kept}
        inside = state.copy()
        inside.stale |= late
        self._arguments(before.body.block, block)
        for address, value in zip(addresses, block.args[1:], strict=True):
            inside.known[address] = (value,)
        start = inside.copy()
        self._block(before.body.block, block, inside)
        start.leave(inside)
        end = block.last_op
        assert isinstance(end, xdsl_affine.YieldOp)
        following = Index.variable(variable) + before.step.value.data
        for address, value in zip(addresses, end.operands, strict=True):
            if not inside.holds(address.at(variable, following), self.values.leader(value)):
                raise NotKnownError(f"a loop carries another value than {address} has next")
        state.stale |= late
        for address, value in zip(addresses, after.results, strict=True):
            if not self.accesses.varies(address, before):
                state.known[address] = (value,)

    def _check_bounds(self, after: xdsl_affine.ForOp, before: xdsl_affine.ForOp) -> None:
        """The loop has the same iterations, and carried nothing before."""
        bounds = [(*loop.lowerBoundOperands, *loop.upperBoundOperands) for loop in (before, after)]
        maps = [(loop.lowerBoundMap, loop.upperBoundMap, loop.step) for loop in (before, after)]
        if before.inits or maps[0] != maps[1] or not all(map(self.values.are_equal, *bounds)):
            raise NotKnownError("the bounds of a loop have changed")

    def _carried(
        self, after: xdsl_affine.ForOp, before: xdsl_affine.ForOp, state: Memory
    ) -> list[Address]:
        """The addresses of which a loop carries the values, each of one."""
        lower = self.accesses.lower(before)
        variable = self.before.number(before.body.block.args[0])
        candidates: dict[Address, list[Address]] = {}
        for address in self.accesses.carried(before):
            if len(lower) == 1:
                candidates.setdefault(address.at(variable, lower[0]), []).append(address)
            elif not address.depends_on(variable):
                candidates.setdefault(address, []).append(address)
        found: dict[Address, None] = {}
        for value in after.inits:
            leader, loaded = self.values.leader(value), self.loaded.get(value)
            for first in candidates if loaded is None else (loaded,):
                if not state.holds(first, leader):
                    continue
                address = next((a for a in candidates.get(first, ()) if a not in found), None)
                if address is not None:
                    found[address] = None
                    break
            else:
                raise NotKnownError("a loop carries a value of an unknown address")
        return list(found)


def _loop_in(operation: Operation) -> xdsl_affine.ForOp | None:
    """The operation, if it is a loop, or the loop in a guard."""
    if isinstance(operation, xdsl_affine.ForOp):
        return operation
    if isinstance(operation, xdsl_affine.IfOp):
        loops = [op for op in operation.then_region.block.ops if isinstance(op, xdsl_affine.ForOp)]
        return loops[0] if len(loops) == 1 else None
    return None


def _negations(comparison: Comparison) -> list[Comparison]:
    less = Comparison(">=", -comparison.left - 1)
    more = Comparison(">=", comparison.left - 1)
    return [less] if comparison.kind == ">=" else [less, more]


def _masks(address: Address) -> frozenset[SSAValue]:
    return frozenset() if address.mask is None else frozenset({address.mask})


def _memrefs(operation: Operation) -> list[SSAValue]:
    return [value for value in (*operation.operands, *operation.results) if is_memref(value.type)]


def _is_harmless(operation: Operation) -> bool:
    return isinstance(operation, (*_ALLOCATIONS, affine.PrefetchOp)) or is_gather(operation)
