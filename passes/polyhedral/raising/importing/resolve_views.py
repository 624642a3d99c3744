"""Replaces accesses to views by accesses to the memrefs that they are views of."""

from __future__ import annotations

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, IntegerAttr, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.hints import isa

from .....dialects.affine import LoadOp, StoreOp
from .....dialects.errors import SourceError
from .....dialects.external import PRINTED_ARRAYS, ExternalCallOp
from ..cells import insert_before
from .emission import apply, erase, index_value, loop_nest
from .views import VIEWS, View


def resolve_views(function: func.FuncOp) -> None:
    """Rewrites a function in place; raises SourceError for views that are no affine ones.

    %v = memref.subview %A[%o] [4] [2] : ...
    affine.load %v[%i]                          ->  affine.load %A[%i * 2 + %o]
    """
    found: dict[SSAValue, View] = {}
    for operation in list(function.walk()):
        if (make := VIEWS.get(operation.name)) is not None:
            source = operation.operands[0]
            view = found.get(source)
            if view is None:
                view = View.of_all(source, operation)
            found[operation.results[0]] = make(operation, view)
        elif isinstance(operation, memref.DimOp):
            _dimension(operation, found)
        elif operation.name in ("memref.load", "affine.load"):
            _access(operation, 0, found)
        elif operation.name in ("memref.store", "affine.store"):
            _access(operation, 1, found)
        elif isinstance(operation, ExternalCallOp):
            _pass_copies(operation, found)
    for operation in reversed(list(function.walk())):
        if operation.name in VIEWS:
            view = found[operation.results[0]]
            if operation.results[0].uses:
                _replace(operation, view)
            erase(operation)


def _dimension(operation: memref.DimOp, found: dict[SSAValue, View]) -> None:
    view = found.get(operation.source)
    owner = operation.index.owner
    if view is None or not isinstance(owner, Operation) or owner.name != "arith.constant":
        return
    value = owner.properties["value"]
    position = value.value.data if isinstance(value, IntegerAttr) else -1
    if not 0 <= position < len(view.sizes):
        raise SourceError.at(operation, f"the memref has no dimension {position}")
    operation.result.replace_all_uses_with(index_value(operation, view.sizes[position]))
    erase(operation)


def _access(operation: Operation, position: int, found: dict[SSAValue, View]) -> None:
    """Redirects a load or store, whose memref is operand `position`."""
    view = found.get(operation.operands[position])
    if view is None:
        return
    given = list(operation.operands[position + 1 :])
    if isinstance(operation, LoadOp | StoreOp):
        own = operation.map.data
        symbols = own.num_symbols + len(view.symbols)
        inner = [
            each.replace_dims_and_symbols(
                [AffineExpr.dimension(n) for n in range(own.num_dims)],
                [AffineExpr.symbol(n) for n in range(own.num_symbols)],
            )
            for each in own.results
        ]
        results = tuple(
            each.replace_dims_and_symbols(
                inner,
                [AffineExpr.symbol(own.num_symbols + n) for n in range(len(view.symbols))],
            )
            for each in view.map.results
        )
        function = AffineMapAttr(AffineMap(own.num_dims, symbols, results))
        operands = [*given, *view.symbols]
        new: Operation = (
            LoadOp(view.base, operands, function)
            if isinstance(operation, LoadOp)
            else StoreOp(operation.value, view.base, operands, function)
        )
    else:
        subscripts = [
            apply(
                operation,
                AffineMap(view.map.num_dims, view.map.num_symbols, (each,)),
                [*given, *view.symbols],
            )
            for each in view.map.results
        ]
        new = (
            memref.LoadOp.get(view.base, subscripts)
            if position == 0
            else memref.StoreOp.get(operation.operands[0], view.base, subscripts)
        )
    new.attributes |= operation.attributes
    insert_before(operation, new)
    for old, result in zip(operation.results, new.results, strict=True):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    erase(operation)


def _pass_copies(call: ExternalCallOp, found: dict[SSAValue, View]) -> None:
    """Parts of memrefs that a call takes: it gets a copy, which is copied back afterwards.

    memref.external "f"(%v)  ->  copy %v to %c; memref.external "f"(%c); copy %c to %v
    """
    following = call.next_op
    assert following is not None
    for position, operand in enumerate(call.operands):
        view = found.get(operand)
        is_read = call.callee.data in PRINTED_ARRAYS
        if view is None or view.is_whole or not (is_read or view.is_injective):
            continue
        assert isa(view.base.type, MemRefType)
        shape = [each if isinstance(each, int) else DYNAMIC_INDEX for each in view.sizes]
        dynamic = [each for each in view.sizes if isinstance(each, SSAValue)]
        copy = memref.AllocOp.get(view.base.type.element_type, shape=shape, dynamic_sizes=dynamic)
        insert_before(call, copy)
        place = AffineMapAttr(view.map)
        for anchor in (call,) if is_read else (call, following):
            variables, end = loop_nest(anchor, view.sizes)
            identity = AffineMapAttr(AffineMap.identity(len(variables)))
            there = (view.base, [*variables, *view.symbols], place)
            here = (copy.memref, variables, identity)
            source, destination = (there, here) if anchor is call else (here, there)
            load = LoadOp(*source)
            insert_before(end, load, StoreOp(load.result, *destination))
        call.operands[position] = copy.memref


def _replace(operation: Operation, view: View) -> None:
    """Uses that are no accesses: the base stands for a view that has all of it."""
    uses = list(operation.results[0].uses)
    if all(use.operation.name in VIEWS or use.operation.name == "memref.dealloc" for use in uses):
        for use in uses:
            if use.operation.name == "memref.dealloc":
                erase(use.operation)
        return
    if not view.is_whole:
        user = next(use.operation for use in uses)
        raise SourceError.at(
            user,
            "a part of a memref is passed on",
            hint="load and store its elements, or pass the whole memref with offsets",
        )
    operation.results[0].replace_all_uses_with(view.base)
