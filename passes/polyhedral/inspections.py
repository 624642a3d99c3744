"""Bounds-check hoisting: subscripts from data that are compared with the extents once.

    for i, j: .. = A[x[i]][j]    ->    for i: is x[i] outside of A?    for i, j: .. = A[x[i]][j]

What a gather's subscripts are computed from does not change while the function runs, as far as
it is in arguments that the function never writes. So they are compared once for all gathers that
have the same ones, and for all iterations of the loops that they do not depend on. Those that are
computed anew in each iteration by more than a few operations are compared where they are. So are
those that floating-point numbers are turned into: fast math may round them differently in the
loops, and what no integer is near to becomes any.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import islpy as isl
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from .gathers import is_index_cast, is_index_sum
from .isl_context import coalesced
from .linear_terms import linear_terms
from .scop import Access, Scop, Statement

MOST_OPERATIONS = 6
"""Operations that compute a subscript twice, ahead of the loops and in them: casts, offsets."""

_KEY = "inspections"
_Subscript = tuple[memref.LoadOp, int]


@dataclass(frozen=True)
class Inspection:
    """The part of a statement that computes some `subscripts` of its gathers, by position.

    The `part` has the loops that they depend on, and one instance for each value of those.
    """

    part: Statement
    subscripts: Mapping[memref.LoadOp, tuple[int, ...]]


@dataclass(frozen=True)
class Inspections:
    """What is compared ahead of the loops: all subscripts of the `gathers`, by statement."""

    parts: tuple[Inspection, ...] = ()
    gathers: Mapping[str, frozenset[memref.LoadOp]] = field(
        default_factory=dict[str, frozenset[memref.LoadOp]]
    )


def inspections(scop: Scop) -> Inspections:
    """What is compared ahead of the loops of a program."""
    found = scop.memory.get(_KEY)
    if found is None:
        numbers = (IntegerType, IndexType, AnyFloat)
        are_numbers = all(isinstance(array.element_type, numbers) for array in scop.returns)
        found = scop.memory[_KEY] = _find(scop) if are_numbers else Inspections()
    assert isinstance(found, Inspections)
    return found


def _find(scop: Scop) -> Inspections:
    written = {write.array.value for each in scop.statements for write in each.writes}
    known: dict[Hashable, isl.Set] = {}
    parts: list[Inspection] = []
    gathers: dict[str, frozenset[memref.LoadOp]] = {}
    for statement in scop.statements:
        loads = [op for op in statement.body if isinstance(op, memref.LoadOp)]
        if not loads or any(isinstance(op, func.CallOp) for op in statement.body):
            continue
        slices = _Slices(statement, written)
        is_copy = len(loads) == 1 and slices.only_writes()
        inspected = [op for op in loads if slices.is_known_ahead(op, is_copy=is_copy)]
        gathers[statement.name] = frozenset(inspected)
        for group, subscripts in slices.by_loops(inspected).items():
            new = list(slices.without_known(group, subscripts, known))
            if new:
                name = f"{statement.name}_subscripts{len(parts)}"
                parts.append(slices.inspection(name, group, new))
    return Inspections(tuple(parts), gathers)


class _Group(NamedTuple):
    """Loops that subscripts depend on, and one of them along which they are linear.

    Such a subscript is the least and the greatest at both ends of that loop.
    """

    dims: tuple[int, ...]
    along: int | None


class _Slices:
    """What computes the subscripts of a statement's gathers."""

    def __init__(self, statement: Statement, written: set[SSAValue]):
        self._statement = statement
        self._written = written
        self._reads = {access.op: access for access in statement.reads}
        self._inside = set(statement.body)

    def only_writes(self) -> bool:
        """Whether the statement reads no array that it writes."""
        written = {write.array.name for write in self._statement.writes}
        return not any(read.array.name in written for read in self._statement.reads)

    def is_known_ahead(self, gather: memref.LoadOp, *, is_copy: bool) -> bool:
        """Whether the subscripts of a gather do not change, and are worth computing twice.

        Not those of each iteration, if it does no more than to copy an element.
        """
        return all(self._is_known(index, is_copy) for index in gather.indices)

    def _is_known(self, index: SSAValue, is_copy: bool) -> bool:
        parts = self._slice([index])
        for part in parts:
            access = self._reads.get(part) if isinstance(part, Operation) else None
            if access is not None:
                if access.array.argument is None or access.array.value in self._written:
                    return False
            elif isinstance(part, memref.LoadOp) or _has_floats(part):
                return False
        loops = self._loops(parts)
        if len(loops) < len(self._statement.loops) or self._along(index, loops) is not None:
            return True
        return len(parts) <= MOST_OPERATIONS and not is_copy

    def by_loops(self, gathers: Iterable[memref.LoadOp]) -> Mapping[_Group, Sequence[_Subscript]]:
        """The subscripts of gathers by the loops that they depend on."""
        groups: dict[_Group, list[_Subscript]] = {}
        for gather in gathers:
            for position, index in enumerate(gather.indices):
                dims = tuple(sorted(self._loops(self._slice([index]))))
                group = _Group(dims, self._along(index, dims))
                groups.setdefault(group, []).append((gather, position))
        return groups

    def _along(self, index: SSAValue, dims: Collection[int]) -> int | None:
        """The innermost of these loops along which a subscript is linear, if there is one."""
        return max((dim for dim in dims if self._is_linear(index, dim)), default=None)

    def _is_linear(self, value: SSAValue, dim: int) -> bool:
        """Whether an index is linear in one loop, where all others stay."""
        if value in self._statement.indices:
            expression = self._statement.indices[value]
            terms = linear_terms(expression)[0]
            rounded = (each for each in terms if not isinstance(each, AffineDimExpr))
            return not any(dim in each.used_dims() for each in rounded)
        if dim not in self._loops(self._slice([value])):
            return True
        operation = value.owner
        assert isinstance(operation, Operation)
        return (is_index_sum(operation) or is_index_cast(operation)) and all(
            self._is_linear(operand, dim) for operand in operation.operands
        )

    def without_known(
        self,
        group: _Group,
        subscripts: Iterable[_Subscript],
        known: dict[Hashable, isl.Set],
    ) -> Iterable[_Subscript]:
        """Those that are not compared yet; they join what is `known`."""
        instances, dims = self._instances(group), group.dims
        for gather, position in subscripts:
            key = (gather.memref, position, self._key(gather.indices[position], dims))
            before = known.get(key)
            if before is not None and instances.is_subset(before):
                continue
            known[key] = instances if before is None else before.union(instances)
            yield gather, position

    def inspection(self, name: str, group: _Group, subscripts: Sequence[_Subscript]) -> Inspection:
        """The part of the statement that computes subscripts, in the loops of the group."""
        statement, dims = self._statement, group.dims
        parts = self._slice([gather.indices[position] for gather, position in subscripts])
        by_gather: dict[memref.LoadOp, tuple[int, ...]] = {}
        for gather, position in subscripts:
            by_gather[gather] = (*by_gather.get(gather, ()), position)
        kept = self._kept(dims)
        part = Statement(
            name,
            tuple(statement.loops[k] for k in dims),
            self._instances(group).set_tuple_name(name),
            tuple(self._restricted(a, name, dims) for a in statement.reads if a.op in parts),
            tuple(op for op in statement.body if op in parts or op in by_gather),
            {
                value: expression.replace_dims_and_symbols(kept, [])
                for value, expression in statement.indices.items()
                if expression.used_dims() <= set(dims)
            },
        )
        return Inspection(part, by_gather)

    def _slice(self, values: Sequence[SSAValue]) -> dict[Operation | SSAValue, None]:
        """The operations that values are computed by, and the affine ones among these values."""
        pending, found = list(values), dict[Operation | SSAValue, None]()
        while pending:
            value = pending.pop()
            if value in self._statement.indices:
                found[value] = None
            elif value.owner in self._inside and value.owner not in found:
                assert isinstance(value.owner, Operation)
                found[value.owner] = None
                pending += [] if value.owner in self._reads else value.owner.operands
        return found

    def _loops(self, parts: Iterable[Operation | SSAValue]) -> set[int]:
        used: set[int] = set()
        for part in parts:
            if isinstance(part, SSAValue):
                used |= self._statement.indices[part].used_dims()
            elif part in self._reads:
                for expression in self._reads[part].map.results:
                    used |= expression.used_dims()
        return used

    def _key(self, value: SSAValue, dims: tuple[int, ...]) -> Hashable:
        """Equal for values that are computed alike from the same loops, in any statement."""
        kept = self._kept(dims)
        if value in self._statement.indices:
            return str(self._statement.indices[value].replace_dims_and_symbols(kept, []))
        if value.owner not in self._inside:
            return value
        assert isinstance(value.owner, Operation)
        access = self._reads.get(value.owner)
        if access is not None:
            results = (each.replace_dims_and_symbols(kept, []) for each in access.map.results)
            return access.array.name, tuple(map(str, results))
        attributes = {**value.owner.properties, **value.owner.attributes}
        operands = tuple(self._key(operand, dims) for operand in value.owner.operands)
        return value.owner.name, value.type, frozenset(attributes.items()), operands

    def _kept(self, dims: tuple[int, ...]) -> Sequence[AffineExpr]:
        """What the loops of the statement become in one of some of them."""
        kept = [AffineExpr.constant(0)] * len(self._statement.loops)
        for position, dim in enumerate(dims):
            kept[dim] = AffineExpr.dimension(position)
        return kept

    def _others(self, dims: tuple[int, ...]) -> Sequence[int]:
        return [k for k in reversed(range(len(self._statement.loops))) if k not in dims]

    def _instances(self, group: _Group) -> isl.Set:
        domain = self._statement.domain
        for k in self._others(group.dims):
            domain = domain.project_out(isl.dim_type.set, k, 1)
        domain = domain.reset_tuple_id()
        if group.along is None:
            return domain
        position = group.dims.index(group.along)
        pairs = isl.Map.from_domain_and_range(domain, domain)
        for k in range(len(group.dims)):
            if k != position:
                pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        pairs = pairs.order_lt(isl.dim_type.in_, position, isl.dim_type.out, position)
        ends = domain.subtract(pairs.domain()).union(domain.subtract(pairs.range()))
        return coalesced(ends)

    def _restricted(self, access: Access, name: str, dims: tuple[int, ...]) -> Access:
        relation, kept = access.relation, self._kept(dims)
        for k in self._others(dims):
            relation = relation.project_out(isl.dim_type.in_, k, 1)
        results = (each.replace_dims_and_symbols(kept, []) for each in access.map.results)
        return replace(
            access,
            map=AffineMap(len(dims), access.map.num_symbols, tuple(results)),
            relation=relation.set_tuple_name(isl.dim_type.in_, name),
        )


def _has_floats(part: Operation | SSAValue) -> bool:
    """Whether an operation takes or makes floating-point numbers."""
    values = (*part.operands, *part.results) if isinstance(part, Operation) else ()
    return any(isinstance(value.type, AnyFloat) for value in values)
