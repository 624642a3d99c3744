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

from collections.abc import Hashable, Iterable
from typing import TypeVar

from xdsl.dialects import affine as xdsl_affine
from xdsl.dialects import func, memref, vector
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import affine
from ..loops.alias_analysis import touched_memrefs
from ..loops.operations import operations
from .movable_operands import form, hoist

_LOADS = (xdsl_affine.LoadOp, affine.VectorLoadOp, vector.MaskedLoadOp)

_VIEWS = (memref.CastOp, memref.SubviewOp)

_Key = tuple[SSAValue, Hashable]
"""The memref that is loaded from, and all else that says what."""

_T = TypeVar("_T")


def hoist_anticipated_loads(function: func.FuncOp) -> None:
    """Moves loads before conditionals, in place; leaves out those that are there already."""
    inside = operations(function)
    conditionals = [op for op in inside if isinstance(op, xdsl_affine.IfOp)]
    if not conditionals or any(isinstance(op, _VIEWS) for op in inside):
        return  # One array may have two names.
    for block in dict.fromkeys(op.parent for op in conditionals):
        if block is not None:
            _hoist(block)


def _hoist(block: Block) -> None:
    made: dict[_Key, Operation] = {}
    repeated: dict[_Key, list[Operation]] = {}
    first: dict[_Key, Operation] = {}
    for op in tuple(block.ops):
        if isinstance(op, _LOADS):
            key = _key(op)
            if key in made:
                _replace([op], made[key])
                continue
            made[key] = op
            loads = repeated.pop(key, None)
            if loads is not None:
                hoist(op.operands, first[key])
                made[key] = op.clone()
                block.insert_op_before(made[key], first[key])
                _replace([*loads, op], made[key])
            continue
        written = _written(op)
        _forget(written, made)
        _forget(written, repeated)
        if isinstance(op, xdsl_affine.IfOp):
            for load in [inner for inner in operations(op) if isinstance(inner, _LOADS)]:
                key = _key(load)
                if key in made:
                    _replace([load], made[key])
                elif key[0] not in written:
                    if key not in repeated:
                        first[key] = op
                    repeated.setdefault(key, []).append(load)


def _key(load: Operation) -> _Key:
    extras = (*load.properties.items(), *load.attributes.items(), load.results[0].type)
    return load.operands[0], (load.name, *map(form, load.operands), *extras)


def _replace(loads: Iterable[Operation], by: Operation) -> None:
    for load in loads:
        load.results[0].replace_all_uses_with(by.results[0])
        load.detach()
        load.erase()


def _written(op: Operation) -> set[SSAValue]:
    """The memrefs that an operation may write to."""
    return {
        touched
        for inner in operations(op)
        if not isinstance(inner, _LOADS)
        for touched in touched_memrefs(inner)
    }


def _forget(written: set[SSAValue], loads: dict[_Key, _T]) -> None:
    for key in [key for key in loads if key[0] in written]:
        del loads[key]
