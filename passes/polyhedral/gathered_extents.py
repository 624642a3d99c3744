"""Extents of arrays with subscripts that are not affine: ranges of what these are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import islpy as isl
from xdsl.dialects import arith, func, memref
from xdsl.dialects.affine import LoadOp, StoreOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineSymExpr

from ...dialects.external import touched_memrefs
from ...dialects.opaque import callee_of
from .affine_text import to_text
from .counting import fix_parameters
from .integer_ranges import Range, integer_ranges, integer_width
from .linear_terms import linear_terms
from .scop import Array, Scop, Statement

_LARGEST = (1 << 31) - 2
"""The highest subscript that says something: beyond, it may be any integer."""

_CASTS = ("arith.index_cast", "arith.index_castui")

_Known = Mapping[SSAValue, Range]


def extent_of_ranges(
    scop: Scop, array: Array, dimension: int, sizes: Mapping[str, int]
) -> int | None:
    """How many elements along a dimension such accesses may need; None for any number.

    p[i * (i + 1) / 2 + j], i < 10, j <= i   ->   55
    """
    needed = 0
    for statement in scop.statements:
        if not any(array.value in operation.operands for operation in _irregular(statement)):
            continue
        known = _ranges(scop, statement, sizes)
        for values in _subscripts(statement, array, dimension, known):
            if values is None or values.low < 0 or values.high > _LARGEST:
                return None
            needed = max(needed, values.high + 1)
    return needed


def _irregular(statement: Statement) -> Iterator[Operation]:
    """The gathers and calls of outlined functions in a statement."""
    for operation in statement.body:
        if isinstance(operation, memref.LoadOp | func.CallOp):
            yield operation


def _subscripts(
    statement: Statement, array: Array, dimension: int, known: _Known
) -> Iterator[Range | None]:
    for operation in _irregular(statement):
        if isinstance(operation, memref.LoadOp) and operation.memref is array.value:
            yield _values(operation.indices[dimension], known)
        elif isinstance(operation, func.CallOp):
            callee = callee_of(operation)
            pairs = list(zip(callee.body.block.args, operation.arguments, strict=True))
            inside = list(callee.walk())
            ranges = _with_casts(
                inside,
                {inner: each for inner, outer in pairs if (each := _values(outer, known))},
            )
            names = {inner for inner, outer in pairs if outer is array.value}
            for each in inside:
                if names.intersection(touched_memrefs(each)):
                    yield None
                elif isinstance(each, LoadOp | StoreOp) and each.memref in names:
                    yield _subscript(each, dimension, ranges)


def _subscript(access: LoadOp | StoreOp, dimension: int, known: _Known) -> Range | None:
    """The range of a subscript, by the map that computes it."""
    whole = access.map.data
    terms, constant = linear_terms(whole.results[dimension])
    low = high = constant
    for term, factor in terms.items():
        match term:
            case AffineDimExpr(position):
                values = _values(access.indices[position], known)
            case AffineSymExpr(position):
                values = _values(access.indices[whole.num_dims + position], known)
            case _:
                values = None
        if values is None:
            return None
        ends = values.low * factor, values.high * factor
        low, high = low + min(ends), high + max(ends)
    return Range(low, high)


def _values(subscript: SSAValue, known: _Known) -> Range | None:
    """The range of an index, which may be a choice or a conversion of integers."""
    if subscript in known:
        return known[subscript]
    operation = subscript.owner
    if isinstance(operation, Operation) and operation.name in _CASTS:
        source = operation.operands[0]
        bits = integer_width(source.type)
        if source not in known and bits is not None:
            return Range.of(bits, signed=operation.name == _CASTS[0])
        return _values(source, known)
    if isinstance(operation, arith.SelectOp):
        one, other = (_values(each, known) for each in (operation.lhs, operation.rhs))
        if one is not None and other is not None:
            return Range(min(one.low, other.low), max(one.high, other.high))
    return None


def _with_casts(operations: Iterable[Operation], known: dict[SSAValue, Range]) -> _Known:
    """The ranges of what operations compute from values with ranges that are `known`."""
    given = {**known}
    for operation in operations:
        if isinstance(operation, arith.IndexCastOp) and operation.input in known:
            bits = integer_width(operation.result.type) or 64
            if known[operation.input].fits(bits, signed=True):
                given[operation.result] = known[operation.input]
    return integer_ranges(operations, given)


def _ranges(scop: Scop, statement: Statement, sizes: Mapping[str, int]) -> _Known:
    """The ranges of what a statement computes, in iterations for these sizes."""
    given: dict[SSAValue, Range] = {}
    for value, expression in statement.indices.items():
        found = _affine_range(scop, statement, expression, sizes)
        if found is not None:
            given[value] = found
    return _with_casts(statement.body, given)


def _affine_range(
    scop: Scop, statement: Statement, expression: AffineExpr, sizes: Mapping[str, int]
) -> Range | None:
    """The values of an affine expression; None where sizes that are not known bound them."""
    symbols = [parameter.name for parameter in scop.parameters]
    text = to_text(expression, statement.loops, symbols)
    instance = f"{statement.name}[{', '.join(statement.loops)}]"
    values = isl.Map(f"[{', '.join(symbols)}] -> {{ {instance} -> [{text}] }}")
    reached = fix_parameters(values.intersect_domain(statement.domain).range(), sizes)
    if reached.is_empty():
        return Range(0, 0)
    reached = reached.project_out(isl.dim_type.param, 0, reached.dim(isl.dim_type.param))
    low, high = reached.dim_min_val(0), reached.dim_max_val(0)
    if not low.is_int() or not high.is_int():
        return None
    return Range(low.to_python(), high.to_python())
