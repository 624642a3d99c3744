"""Hoisting of loads that a block makes in any case, to before the conditionals that repeat them.

A branch that computes nothing from its own load is a selection, of which LLVM makes vectors. Where
both branches load, it makes one load from either address:

    if j >= 1:                                    %x = load a[j]
      %0 = load a[j - 1]; store %0, v             if j >= 1:
    else:                                           %0 = load a[j - 1]; store %0, v
      %1 = load a[j]; store %1, v         ->      else:
    %x = load a[j]                                  store %x, v
    %y = load v                                   %y = load v

Loads that are anticipated: Knoop, Ruething and Steffen, "Lazy code motion", 1992.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from xdsl.dialects import affine as xdsl_affine
from xdsl.dialects import func, memref
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import affine
from ..loops.alias_analysis import touched_memrefs
from ..loops.operations import operations


def hoist_anticipated_loads(function: func.FuncOp) -> None:
    """Moves loads of blocks before conditionals that make them as well, in place."""
    inside = operations(function)
    conditionals = [op for op in inside if isinstance(op, xdsl_affine.IfOp)]
    if not conditionals or any(isinstance(op, memref.CastOp) for op in inside):
        return
    for block in dict.fromkeys(op.parent for op in conditionals):
        if block is not None:
            _hoist(block)


def _hoist(block: Block) -> None:
    """Moves loads of a block."""
    branches: dict[Hashable, list[Operation]] = {}
    first: dict[Hashable, Operation] = {}
    for op in tuple(block.ops):
        if isinstance(op, xdsl_affine.IfOp):
            _forget(op, branches)
            for load in _loads(operations(op)[1:]):
                key = _key(load)
                if key not in branches:
                    first[key] = op
                branches.setdefault(key, []).append(load)
            _forget(op, branches)
        elif isinstance(op, _LOADS):
            repeated = branches.pop(_key(op), None)
            if repeated:
                anticipated = op.clone()
                block.insert_op_before(anticipated, first[_key(op)])
                _replace([*repeated, op], anticipated.results[0])
        else:
            _forget(op, branches)


_LOADS = (xdsl_affine.LoadOp, affine.VectorLoadOp)


def _loads(found: Iterable[Operation]) -> Sequence[Operation]:
    return [op for op in found if isinstance(op, _LOADS)]


def _key(load: Operation) -> Hashable:
    return load.name, *load.operands, *load.properties.values(), load.results[0].type


def _replace(loads: Iterable[Operation], value: SSAValue) -> None:
    for load in loads:
        load.results[0].replace_all_uses_with(value)
        load.detach()
        load.erase()


def _forget(op: Operation, branches: dict[Hashable, list[Operation]]) -> None:
    """Leaves out the loads of what an operation may write to."""
    if not branches:
        return
    written = {
        touched
        for inner in operations(op)
        if not isinstance(inner, _LOADS)
        for touched in touched_memrefs(inner)
    }
    for key in [key for key, loads in branches.items() if loads[0].operands[0] in written]:
        del branches[key]
