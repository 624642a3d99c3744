"""Rows of few elements that are computed element by element, in the order of memory.

    a0 = gather A[3 i] ...
    a1 = gather A[3 i + 1] ...
    a2 = gather A[3 i + 2] ...                for k < 3: a = gather A[3 i + k * lanes + 0, 1 ...]
    scatter B[3 i] ..., f(a0, c0)       ->               c = c0 c1 c2 c0 ...
    scatter B[3 i + 1] ..., f(a1, c1)                    scatter B[3 i + k * lanes + 0, 1 ...],
    scatter B[3 i + 2] ..., f(a2, c2)                            f(a, c)

Loading columns and storing them takes about as many shuffles as a row has elements, for each of
them; rows in order take none. What is the same in all rows is put in order outside of the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects import arith, func, vector
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IndexType, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from ...dialects.vector import GatherOp, ScatterOp, is_vector, vector_of
from ...passes.polyhedral.fused_products import fused_operand, fused_product
from ..loops.ir_builder import vector_constant
from ..loops.operations import operations
from .interleaved_loads import InterleavedLoads, interleaved_loads
from .interleaved_stores import InterleavedStores, interleaved_stores

_Columns = tuple[SSAValue, ...]
"""For each column of some rows, the vector of its elements. In order, they are as many vectors."""

_ELEMENTWISE = ("arith.", "math.")
"""Dialects whose operations treat each lane by itself."""


def elementwise_rows(function: func.FuncOp) -> None:
    """Computes rows in the order of memory where columns are moved less often then; in place.

    No two memrefs share memory.
    """
    scatters = (op for op in operations(function) if isinstance(op, ScatterOp))
    for block in dict.fromkeys(scatter.parent for scatter in scatters):
        if block is not None:
            _ElementwiseRows(block).rewrite()


class _ElementwiseRows:
    """The rewriting of a block.

    `known` has what operations on columns take, `made` what is in order already.
    """

    def __init__(self, block: Block) -> None:
        self._block = block
        stores = interleaved_stores(block, noalias=True)
        self._loads: Mapping[Operation, InterleavedLoads] = interleaved_loads(
            block, stores, noalias=True
        )
        groups = {id(group.last): group for group in stores.values() if not group.needs_mask}
        self._groups = [groups[id(op)] for op in block.ops if id(op) in groups]
        if self._groups:
            _separate_products(block)
        self._known: dict[_Columns, list[_Columns]] = {}
        self._made: dict[_Columns, list[SSAValue]] = {}

    def rewrite(self) -> None:
        """Rewrites what is stored together, where that is worth it."""
        found = [self._below(_stored(group)) for group in self._groups]
        inside = {op for below in found for columns in below for op in _owners(columns)}
        inside.update(scatter for group in self._groups for scatter in group.scatters)
        for group, below in zip(self._groups, found, strict=True):
            saved = sum(
                self._is_loaded(columns)
                and all(use.operation in inside for value in columns for use in value.uses)
                for columns in below
            )
            if sum(map(self._is_moved, below)) < 1 + saved:
                self._store(group)

    def _below(self, columns: _Columns) -> list[_Columns]:
        """All that some rows are made of, and themselves."""
        found: dict[_Columns, None] = {}
        pending = [columns]
        while pending:
            each = pending.pop()
            if each not in found:
                found[each] = None
                pending += self._operands(each)
        return [*found]

    def _operands(self, columns: _Columns) -> list[_Columns]:
        """What an operation on each element takes; nothing for what is loaded, or moved."""
        if columns not in self._known:
            self._known[columns] = self._found_operands(columns)
        return self._known[columns]

    def _found_operands(self, columns: _Columns) -> list[_Columns]:
        owners = _owners(columns)
        first = owners[0] if len(owners) == len(columns) else None
        if first is None or not first.name.startswith(_ELEMENTWISE) or not first.operands:
            return []
        lanes = _lanes(columns[0])
        if any(
            op.parent is not self._block
            or _form(op) != _form(first)
            or any(not is_vector(value.type) or _lanes(value) != lanes for value in op.operands)
            for op in owners
        ):
            return []
        operands = [*zip(*(op.operands for op in owners), strict=True)]
        return operands if self._stay_fused(owners, operands) else []

    def _stay_fused(self, owners: list[Operation], operands: list[_Columns]) -> bool:
        """Whether additions that are fused with products still have products as operands."""
        positions = {fused_operand(op) for op in owners}
        if len(positions) != 1:
            return False
        (position,) = positions
        if position is None:
            return True
        product = operands[position]
        return _are_everywhere(product) or bool(self._operands(product))

    def _is_loaded(self, columns: _Columns) -> bool:
        """Whether these are the columns of rows that are loaded, all of them and in order."""
        owners = _owners(columns)
        group = self._loads.get(owners[0]) if owners else None
        return (
            group is not None
            and group.mask is None
            and group.columns == tuple(range(group.stride))
            and tuple(gather.result for gather in group.gathers) == columns
        )

    def _is_moved(self, columns: _Columns) -> bool:
        """Whether columns have to be put in order in each iteration."""
        if self._is_loaded(columns) or self._operands(columns):
            return False
        owners = _owners(columns)
        return not owners or not all(
            isinstance(op, vector.BroadcastOp) or not op.operands for op in owners
        )

    def _store(self, group: InterleavedStores) -> None:
        first = group.scatters[0]
        for number, row in enumerate(self._in_order(_stored(group), group.last)):
            offsets = _offsets(number, row, group.last)
            _insert(ScatterOp(first.base, first.indices, offsets, first.mask, row), group.last)
        for scatter in group.scatters:
            _erase(scatter)

    def _in_order(self, columns: _Columns, place: Operation) -> list[SSAValue]:
        """The rows in the order of memory, made in front of `place` at the latest."""
        if columns not in self._made:
            operands = self._operands(columns)
            if self._is_loaded(columns):
                self._made[columns] = _loaded(columns)
            elif operands:
                rows = zip(*(self._in_order(each, place) for each in operands), strict=True)
                self._made[columns] = [_computed(columns[0], row, place) for row in rows]
            else:
                self._made[columns] = _moved(columns, place)
        return self._made[columns]


def _separate_products(block: Block) -> None:
    """Makes a product of scalars that an addition of vectors is fused with one of vectors."""
    for op in block.ops:
        position = fused_operand(op)
        if position is None or not isinstance(op.operands[position].owner, vector.BroadcastOp):
            continue
        product, kind = fused_product(op, position), op.operands[position].type
        assert product is not None and is_vector(kind)
        factors = [vector.BroadcastOp(factor, kind) for factor in product.operands]
        left, right = (factor.vector for factor in factors)
        made = arith.MulfOp(left, right, product.fastmath)
        block.insert_ops_before([*factors, made], op)
        op.operands[position] = made.result


def _stored(group: InterleavedStores) -> _Columns:
    return tuple(scatter.value_to_store for scatter in group.scatters)


def _owners(columns: _Columns) -> list[Operation]:
    """The operations whose only results the columns are, each once; none if one is not."""
    owners = [*dict.fromkeys(value.owner for value in columns)]
    found = [owner for owner in owners if isinstance(owner, Operation) and len(owner.results) == 1]
    return found if len(found) == len(owners) else []


def _form(operation: Operation) -> tuple[object, ...]:
    """What operations have in common of which the operands alone differ."""
    kinds = [value.type for value in (*operation.operands, *operation.results)]
    return operation.name, operation.properties, operation.attributes, kinds


def _lanes(value: SSAValue) -> int:
    assert is_vector(value.type)
    return value.type.get_shape()[0]


def _insert(operation: Operation, place: Operation) -> SSAValue | None:
    """Puts an operation in front of another one; its result, if it has one."""
    assert place.parent is not None
    place.parent.insert_op_before(operation, place)
    return operation.results[0] if operation.results else None


def _offsets(number: int, row: SSAValue, place: Operation, column: int = 0) -> SSAValue:
    """Where the elements of one of the vectors lie, from a column of the first row on."""
    lanes = _lanes(row)
    offsets = tuple(range(number * lanes - column, (number + 1) * lanes - column))
    constant = vector_constant(vector_of(IndexType(), lanes), offsets)
    _insert(constant, place)
    return constant.result


def _loaded(columns: _Columns) -> list[SSAValue]:
    """The rows, loaded where the first of their columns is: stores to others may come behind it."""
    gathers = [value.owner for value in columns]
    block = gathers[0].parent
    assert isinstance(block, Block)
    first = next(op for op in block.ops if op in gathers)
    assert isinstance(first, GatherOp)
    rows: list[SSAValue] = []
    for number in range(len(columns)):
        offsets = _offsets(number, columns[0], first, gathers.index(first))
        gather = GatherOp(first.base, first.indices, offsets, first.mask, first.pass_thru)
        _insert(gather, first)
        rows.append(gather.result)
    return rows


def _computed(column: SSAValue, row: Iterable[SSAValue], place: Operation) -> SSAValue:
    operation = column.owner
    assert isinstance(operation, Operation)
    clone = operation.clone()
    clone.operands = [*row]
    _insert(clone, place)
    return clone.results[0]


def _moved(columns: _Columns, place: Operation) -> list[SSAValue]:
    """Columns put in order by shuffles; what is the same everywhere stays as it is."""
    count, lanes, kind = len(columns), _lanes(columns[0]), columns[0].type
    assert is_vector(kind)
    if _are_everywhere(columns):
        return [columns[0]] * count
    rows: list[SSAValue] = []
    for number in range(count):
        places = [divmod(number * lanes + lane, count) for lane in range(lanes)]
        row, kept = columns[0], [lane for lane, _ in places]
        for column, value in enumerate(columns[1:], 1) if len({*columns}) > 1 else [(0, row)]:
            mask = [
                lanes + lane if column == each else kept[k] for k, (lane, each) in enumerate(places)
            ]
            elements = DenseArrayBase.from_list(i64, mask)
            shuffle = vector.ShuffleOp(row, value, elements, result_type=kind)
            _insert(shuffle, place)
            row, kept = shuffle.result, [*range(lanes)]
        rows.append(row)
    return rows


def _are_everywhere(columns: _Columns) -> bool:
    """Whether all vectors have the same constant or scalar in all lanes."""
    return all(_is_everywhere(columns[0], other) for other in columns)


def _is_everywhere(one: SSAValue, other: SSAValue) -> bool:
    """Whether two vectors have the same constant or scalar in all lanes."""
    match one.owner, other.owner:
        case vector.BroadcastOp() as first, vector.BroadcastOp() as second:
            return first.source is second.source
        case arith.ConstantOp() as first, arith.ConstantOp() as second:
            return first.value == second.value and _is_splat(first)
        case _:
            return False


def _is_splat(constant: arith.ConstantOp) -> bool:
    elements = constant.value
    return isinstance(elements, DenseIntOrFPElementsAttr) and len({*elements.get_values()}) == 1


def _erase(operation: Operation) -> None:
    """Erases an operation, and what nothing uses then."""
    pending = [operation]
    while pending:
        each = pending.pop()
        owners = [value.owner for value in each.operands]
        each.detach()
        each.erase()
        for owner in dict.fromkeys(owners):
            if isinstance(owner, Operation) and _is_unused(owner) and owner not in pending:
                pending.append(owner)


def _is_unused(operation: Operation) -> bool:
    is_pure = isinstance(operation, GatherOp) or operation.has_trait(Pure)
    return is_pure and not any(result.first_use for result in operation.results)
