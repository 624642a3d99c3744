"""Legality by enumeration: at small sizes, compare the order of all conflicting instances.

Nothing here uses dependences: two instances conflict when both access one element and at least one
of them writes it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

import islpy as isl

from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, statements
from loopwright.passes.polyhedral.scop import AccessKind, Scop, Statement

from .interpreter import evaluator
from .scop_execution import Instance, instances, value_of

Element = tuple[str, tuple[int, ...]]

# Values of functions that have been asked for, by iteration and sizes.
_VALUES: dict[int, tuple[isl.Aff, dict[tuple[tuple[int, ...], tuple[int, ...]], int]]] = {}


class Order(Enum):
    """How the first of two instances runs with respect to the second one."""

    BEFORE = "before"
    AFTER = "after"
    UNORDERED = "unordered"
    LOADS_FIRST = "in one vector, where all loads are before all stores"


@dataclass(frozen=True)
class Conflict:
    """Two instances in their original order, and what each does to a common element."""

    first: Instance
    second: Instance
    element: Element
    kinds: tuple[AccessKind, AccessKind]


def elements(
    scop: Scop, instance: Instance, sizes: Mapping[str, int]
) -> Iterator[tuple[Element, AccessKind]]:
    """What an instance accesses."""
    name, iteration = instance
    symbols = [sizes[parameter.name] for parameter in scop.parameters]
    for access in scop.statement(name).accesses:
        subscripts = evaluator(access.map.results, len(iteration))([*iteration, *symbols])
        yield (access.array.name, tuple(subscripts)), access.kind


def conflicts(scop: Scop, sizes: dict[str, int]) -> list[Conflict]:
    """All conflicting pairs of instances in the original order."""
    users: defaultdict[Element, list[tuple[Instance, AccessKind]]] = defaultdict(list)
    for instance in instances(scop, sizes):
        for element, kind in elements(scop, instance, sizes):
            users[element].append((instance, kind))
    found: dict[Conflict, None] = {}
    for element, accesses in users.items():
        for (one, kind), (other, other_kind) in itertools.combinations(accesses, 2):
            if one == other or AccessKind.WRITE not in (kind, other_kind):
                continue
            if order(scop.tree, one, other, sizes) is Order.BEFORE:
                found[Conflict(one, other, element, (kind, other_kind))] = None
            else:
                found[Conflict(other, one, element, (other_kind, kind))] = None
    return list(found)


def conflicts_of(
    scop: Scop, first: Instance, second: Instance, sizes: dict[str, int]
) -> list[Conflict]:
    """The conflicts between two instances, the first of which runs before the second one."""
    return [
        Conflict(first, second, element, (kind, other_kind))
        for element, kind in elements(scop, first, sizes)
        for other, other_kind in elements(scop, second, sizes)
        if element == other and AccessKind.WRITE in (kind, other_kind)
    ]


def order(tree: Tree, first: Instance, second: Instance, sizes: dict[str, int]) -> Order:
    """How two different instances run in the order of the tree, with its marks."""
    match tree:
        case Loop():
            return _order_in_loop(tree, first, second, sizes)
        case Sequence(children):
            homes = [_home(children, instance) for instance in (first, second)]
            if homes[0] == homes[1]:
                return order(children[homes[0]], first, second, sizes)
            return Order.BEFORE if homes[0] < homes[1] else Order.AFTER
        case Leaf():
            return Order.UNORDERED


def _order_in_loop(loop: Loop, first: Instance, second: Instance, sizes: dict[str, int]) -> Order:
    values = [_value(loop, instance, sizes) for instance in (first, second)]
    if values[0] == values[1]:
        return order(loop.body, first, second, sizes)
    if loop.parallel:
        return Order.UNORDERED
    if loop.vector is None:
        return Order.BEFORE if values[0] < values[1] else Order.AFTER
    # Whether in one vector or in two, as nobody knows where vectors begin.
    inner = order(loop.body, first, second, sizes)
    together = inner is Order.UNORDERED and first[0] == second[0]
    if values[0] > values[1]:
        return Order.UNORDERED if together else Order.AFTER
    return Order.LOADS_FIRST if together else inner


def _home(children: tuple[Tree, ...], instance: Instance) -> int:
    return next(n for n, child in enumerate(children) if instance[0] in statements(child))


def _value(loop: Loop, instance: Instance, sizes: dict[str, int]) -> int:
    aff = loop.schedule[instance[0]]
    # The function is kept as well, so that its id stays its own.
    _, values = _VALUES.setdefault(id(aff), (aff, {}))
    key = (instance[1], tuple(sizes.values()))
    if key not in values:
        values[key] = value_of(aff, instance[1], sizes)
    return values[key]


def respects(scop: Scop, tree: Tree, conflict: Conflict, sizes: dict[str, int]) -> bool:
    """Whether the tree keeps the order of two conflicting instances.

    Steps of reductions by one operation that is exact in any order may change places, but each
    reads and writes the element: no two may run together.
    """
    found = order(tree, conflict.first, conflict.second, sizes)
    if found is Order.AFTER:
        steps = [scop.statement(name) for name, _ in (conflict.first, conflict.second)]
        operations = {_exact_operation(step, conflict.element[0]) for step in steps}
        return len(operations) == 1 and None not in operations
    if found is not Order.LOADS_FIRST:
        return found is Order.BEFORE
    return conflict.kinds == (AccessKind.READ, AccessKind.WRITE) and _loads_first(
        scop.statement(conflict.first[0]), conflict.element[0]
    )


def _loads_first(statement: Statement, array: str) -> bool:
    kinds = [access.kind for access in statement.accesses if access.array.name == array]
    return AccessKind.READ not in kinds[kinds.index(AccessKind.WRITE) :]


_EXACT = {
    f"arith.{name}"
    for name in (
        *("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"),
        *("maximumf", "minimumf"),
    )
}


def _exact_operation(statement: Statement, array: str) -> str | None:
    """The op if the statement is `A[f] = A[f] op x`, with `x` not from A, once for each op."""
    own = [access for access in statement.accesses if access.array.name == array]
    if [access.kind for access in own] != [AccessKind.READ, AccessKind.WRITE]:
        return None
    load, store = own
    if load.map.results != store.map.results or len(statement.writes) != 1:
        return None
    value = load.op.results[0]
    operation = ""
    while value is not store.op.operands[0]:
        users = [use.operation for use in value.uses]
        if len(users) != 1 or users[0].name not in _EXACT:
            return None
        (user,) = users
        kind = user.name.replace("subi", "addi")
        if operation not in ("", kind) or (user.name == "arith.subi" and user.operands[1] is value):
            return None
        operation, value = kind, user.results[0]
    is_stored = [use.operation for use in value.uses] == [store.op]
    return operation if operation and is_stored else None


def is_legal(scop: Scop, tree: Tree, sizes: dict[str, int]) -> bool:
    """Whether the tree keeps the order of all conflicting instances at these sizes."""
    return all(respects(scop, tree, conflict, sizes) for conflict in conflicts(scop, sizes))
