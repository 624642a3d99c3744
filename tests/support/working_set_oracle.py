"""Working sets by enumeration: what is touched between two instances, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from loopwright.passes.polyhedral.dependences import DependenceKind
from loopwright.passes.polyhedral.reuses import Path, carriers, paths
from loopwright.passes.polyhedral.schedule_tree import Loop, Tree
from loopwright.passes.polyhedral.scop import AccessKind, Scop

from .scop_execution import Instance, instances, value_of

Time = tuple[int, ...]
Element = tuple[str, tuple[int, ...]]
Key = tuple[DependenceKind, str, str, str, str | None]
"""Kind, source, target, array, carrying loop."""

KINDS = {
    (AccessKind.WRITE, AccessKind.READ): DependenceKind.FLOW,
    (AccessKind.READ, AccessKind.WRITE): DependenceKind.ANTI,
    (AccessKind.WRITE, AccessKind.WRITE): DependenceKind.OUTPUT,
    (AccessKind.READ, AccessKind.READ): DependenceKind.INPUT,
}


def enumerated(scop: Scop, tree: Tree, sizes: dict[str, int]) -> dict[Key, tuple[int, int]]:
    """Different elements up to the nearest and the farthest target of the first source."""
    ways = paths(tree)
    symbols = [sizes[parameter.name] for parameter in scop.parameters]
    when = {i: _time(ways[i[0]], i, sizes) for i in instances(scop, sizes) if i[0] in ways}
    order = sorted(when, key=lambda instance: when[instance])
    uses = {instance: list(_uses(scop, instance, symbols)) for instance in order}
    touched = [
        {(array, element[scop_depth(scop, array) :]) for array, element, _ in uses[instance]}
        for instance in order
    ]
    users: dict[Element, list[tuple[int, AccessKind]]] = {}
    for number, instance in enumerate(order):
        for array, element, kind in uses[instance]:
            users.setdefault((array, element), []).append((number, kind))
    pairs: dict[Key, dict[int, set[int]]] = {}
    for (array, _), those in users.items():
        for (one, kind), (other, its_kind) in product(those, repeat=2):
            source, target = order[one], order[other]
            if one < other and when[source] != when[target]:
                loop = _carrier(ways, when, source, target)
                key = (KINDS[kind, its_kind], source[0], target[0], array, loop)
                pairs.setdefault(key, {}).setdefault(one, set()).add(other)
    return {
        key: (
            len(set[Element]().union(*touched[first : min(by_source[first]) + 1])),
            len(set[Element]().union(*touched[first : max(by_source[first]) + 1])),
        )
        for key, by_source in pairs.items()
        for first in [min(by_source)]
    }


def scop_depth(scop: Scop, array: str) -> int:
    """How many subscripts of an array only tell iterations apart."""
    return next(each.scope_depth for each in scop.arrays if each.name == array)


def _carrier(
    ways: dict[str, Path], when: dict[Instance, Time], source: Instance, target: Instance
) -> str | None:
    """The loop at the first place where the times differ."""
    one, other = when[source], when[target]
    depth = next(place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    known = {each.depth: each.loop for each in carriers(ways[source[0]], ways[target[0]])}
    return known[depth]


def _time(way: Path, instance: Instance, sizes: dict[str, int]) -> Time:
    name, iteration = instance
    return tuple(
        value_of(entry.schedule[name], iteration, sizes) if isinstance(entry, Loop) else entry
        for entry in way
    )


def _uses(
    scop: Scop, instance: Instance, symbols: list[int]
) -> Iterator[tuple[str, tuple[int, ...], AccessKind]]:
    name, iteration = instance
    for access in scop.statement(name).accesses:
        yield access.array.name, access.map.eval(iteration, symbols), access.kind
