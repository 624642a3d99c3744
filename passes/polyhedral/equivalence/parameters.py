"""Two programs over the same parameters: those of one signature, by position and dimension."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import islpy as isl
from xdsl.dialects import func

from ....dialects.errors import SourceError
from ..schedule_tree import Leaf, Loop, Sequence, Tree
from ..scop import Array, Parameter, Scop, Statement

_PARAM = isl.dim_type.param
_T = TypeVar("_T", isl.Set, isl.Map, isl.Aff)


def check_signatures(first: func.FuncOp, second: func.FuncOp) -> None:
    """Raises SourceError where two functions do not take and return the same types."""
    if first.function_type != second.function_type:
        name, other = first.sym_name.data, second.sym_name.data
        raise SourceError.at(
            second,
            f"'@{other}' has another signature than '@{name}': "
            f"{second.function_type} and {first.function_type}",
            hint="programs that are compared take and return the same types, in order",
        )


def with_parameters_of(other: Scop, scop: Scop) -> Scop:
    """`other` with the names that `scop` gives to the same sizes."""
    names = {_place(size): size.name for size in scop.sizes}
    taken = set(names.values())
    renaming: dict[str, str] = {}
    for size in other.sizes:
        name = names.get(_place(size))
        if name is None:
            name = size.name
            while name in taken:
                name += "_"
            taken.add(name)
        renaming[size.name] = name
    return _renamed(other, renaming)


def _place(size: Parameter) -> tuple[int, int | None]:
    return size.argument, size.dimension


def _renamed(scop: Scop, names: Mapping[str, str]) -> Scop:
    arrays = {
        array: replace(
            array,
            shape=tuple(names[e] if isinstance(e, str) else e for e in array.shape),
        )
        for array in scop.arrays
    }
    return replace(
        scop,
        parameters=tuple(replace(p, name=names[p.name]) for p in scop.parameters),
        context=_rename(scop.context, names),
        arrays=tuple(arrays.values()),
        statements=tuple(_statement(each, arrays, names) for each in scop.statements),
        tree=_tree(scop.tree, names),
        returns=tuple(arrays[array] for array in scop.returns),
    )


def _statement(
    statement: Statement, arrays: Mapping[Array, Array], names: Mapping[str, str]
) -> Statement:
    accesses = tuple(
        replace(access, array=arrays[access.array], relation=_rename(access.relation, names))
        for access in statement.accesses
    )
    return replace(statement, domain=_rename(statement.domain, names), accesses=accesses)


def _tree(tree: Tree, names: Mapping[str, str]) -> Tree:
    match tree:
        case Loop(schedule=schedule, body=body):
            values = {name: _rename(value, names) for name, value in schedule.items()}
            return replace(tree, schedule=values, body=_tree(body, names))
        case Sequence(children):
            return Sequence(tuple(_tree(child, names) for child in children))
        case Leaf():
            return tree


def _rename(value: _T, names: Mapping[str, str]) -> _T:
    # All at once, through names that nobody uses: two names may change places.
    for prefix in ("'", ""):
        for position in range(value.dim(_PARAM)):
            name = value.get_dim_name(_PARAM, position) or ""
            new = f"'{names[name]}" if prefix else name.removeprefix("'")
            value = value.set_dim_name(_PARAM, position, new)
    return value
