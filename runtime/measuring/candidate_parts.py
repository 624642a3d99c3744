"""Parts of a candidate: top-level nests that can be compiled apart from each other.

Most candidates of a search differ from the one before in one nest. What is generated for a nest
depends on its part of the tree and on its statements alone, unless nests share a local array, or
what is generated looks at the whole function: stores that go past the caches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from xdsl.ir import SSAValue

from ...passes.estimate.program_statistics import bytes_of
from ...passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, nests, statements
from ...passes.polyhedral.scop import Array, Scop, Statement
from ...passes.schedules.schedule import Schedule


def parts(schedule: Schedule, sizes: Mapping[str, int]) -> list[Schedule]:
    """Schedules of parts of the program that are the whole one after the other, by sizes known."""
    scop = schedule.scop
    if scop.returns or schedule.run_time_sizes or _goes_past_caches(schedule, sizes):
        return [schedule]
    groups: list[tuple[list[Tree], set[str]]] = []
    for nest in nests(schedule.tree):
        own = _local_arrays(scop, nest)
        first = next((k for k, (_, arrays) in enumerate(groups) if own & arrays), len(groups))
        joined = [tree for group, _ in groups[first:] for tree in group]
        groups[first:] = [([*joined, nest], own.union(*(arrays for _, arrays in groups[first:])))]
    trees = (group[0] if len(group) == 1 else Sequence(tuple(group)) for group, _ in groups)
    return [replace(schedule, tree=tree) for tree in trees] if len(groups) > 1 else [schedule]


def _local_arrays(scop: Scop, tree: Tree) -> set[str]:
    names = set(statements(tree))
    return {
        access.array.name
        for statement in scop.statements
        if statement.name in names
        for access in statement.accesses
        if access.array.is_local
    }


def _goes_past_caches(schedule: Schedule, sizes: Mapping[str, int]) -> bool:
    """Whether there may be stores that do: to arrays that are larger than the last cache."""
    return any(
        _bytes(array, sizes) > schedule.target.last_cache
        for array in schedule.scop.arrays
        if not array.is_local
    )


def _bytes(array: Array, sizes: Mapping[str, int]) -> int:
    """0 where an extent is not known: then no store goes past the caches."""
    extents = (sizes.get(str(extent), extent) for extent in array.shape)
    known = [extent for extent in extents if isinstance(extent, int)]
    return prod(known) * bytes_of(array.element_type) if len(known) == len(array.shape) else 0


MOST_STATEMENTS = 2000
"""Texts of statements that are remembered."""


class PartKeys:
    """Texts that are equal for parts of one program for which the same code is generated."""

    def __init__(self) -> None:
        self._statements: dict[int, tuple[Statement, str]] = {}

    def key(self, part: Schedule) -> str:
        """Everything that the code of a part depends on, but for the sizes."""
        scop = part.scop
        names = set(statements(part.tree))
        texts = (self._statement(scop, each) for each in scop.statements if each.name in names)
        return "\n".join((_tree(part.tree), *part.run_time_sizes, str(scop.context), *texts))

    def _statement(self, scop: Scop, statement: Statement) -> str:
        known = self._statements.get(id(statement))
        if known is None:
            if len(self._statements) >= MOST_STATEMENTS:
                self._statements.clear()
            # The statement is kept as well, so that its id stays its own.
            known = self._statements[id(statement)] = statement, _statement(scop, statement)
        return known[1]


def _tree(tree: Tree) -> str:
    match tree:
        case Leaf(statement):
            return statement
        case Sequence(children):
            return f"({'; '.join(map(_tree, children))})"
        case Loop():
            marks = tree.within, tree.parallel, tree.vector, tree.unroll, tree.run_time_size
            functions = [f"{name}: {aff}" for name, aff in tree.schedule.items()]
            return f"{tree.name} {functions} {marks} {{{_tree(tree.body)}}}"


def _statement(scop: Scop, statement: Statement) -> str:
    results: dict[SSAValue, str] = {
        result: f"%{number}.{place}"
        for number, operation in enumerate(statement.body)
        for place, result in enumerate(operation.results)
    }
    arguments: dict[SSAValue, str] = {
        value: f"argument {number}" for number, value in enumerate(scop.func.args)
    }
    accesses = {
        access.op: f"{access.kind} {_array(access.array)}{access.map}"
        for access in statement.accesses
    }

    def operand(value: SSAValue) -> str:
        if value in statement.indices:
            return str(statement.indices[value])
        return results.get(value) or arguments.get(value) or f"{value.name_hint}: {value.type}"

    lines = [f"{statement.name}{statement.loops} {statement.domain}"]
    for operation in statement.body:
        attributes = f"{operation.properties} {operation.attributes}"
        kinds = [str(result.type) for result in operation.results]
        operands = [operand(value) for value in operation.operands]
        access = accesses.get(operation, "")
        lines.append(f"{operation.name} {attributes} {kinds} {operands} {access}")
    return "\n".join(lines)


def _array(array: Array) -> str:
    return f"{array.name} {array.element_type} {array.shape} {array.argument} {array.scope_depth}"
