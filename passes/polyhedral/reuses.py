"""Pairs of statements that share array elements, and the loops that can carry the reuse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from xdsl.ir.affine import AffineMap

from .dependences import DependenceKind
from .schedule_tree import Leaf, Loop, Tree
from .scop import Access, AccessKind, Scop

Path = tuple[Loop | int, ...]
"""The way from the root of a tree to a statement: loops, and places in sequences."""

_KINDS = {
    (AccessKind.WRITE, AccessKind.READ): DependenceKind.FLOW,
    (AccessKind.READ, AccessKind.WRITE): DependenceKind.ANTI,
    (AccessKind.WRITE, AccessKind.WRITE): DependenceKind.OUTPUT,
    (AccessKind.READ, AccessKind.READ): DependenceKind.INPUT,
}


@dataclass(frozen=True)
class Group:
    """Accesses of two statements to one array; `kinds` are those that have the same accesses."""

    kinds: tuple[DependenceKind, ...]
    source: str
    target: str
    array: str
    sources: tuple[Access, ...]
    targets: tuple[Access, ...]


@dataclass(frozen=True)
class Carrier:
    """The innermost common position of two statements' paths in the tree.

    `loop` is the loop there, None where they are in different parts of a sequence.
    """

    depth: int
    loop: str | None


def paths(tree: Tree, outer: Path = ()) -> dict[str, Path]:
    """The way to every statement."""
    match tree:
        case Leaf(name):
            return {name: outer}
        case Loop(body=body):
            return paths(body, (*outer, tree))
        case _:
            found: dict[str, Path] = {}
            for place, child in enumerate(tree.children):
                found |= paths(child, (*outer, place))
            return found


def carriers(source: Path, target: Path) -> Iterator[Carrier]:
    """Where instances of two statements can be in order, outermost first."""
    for depth, (one, other) in enumerate(zip(source, target, strict=False)):
        if isinstance(one, Loop):
            assert one is other, "statements part in a sequence"
            yield Carrier(depth, one.name)
        elif one != other:
            if isinstance(other, int) and one < other:
                yield Carrier(depth, None)
            return


def groups(scop: Scop, tree: Tree) -> Iterator[Group]:
    """All pairs of statements that use an array, in textual order."""
    used: dict[tuple[str, str], dict[AccessKind, dict[AffineMap, Access]]] = {}
    for statement in scop.statements:
        for access in statement.accesses:
            by_kind = used.setdefault((access.array.name, statement.name), {})
            by_kind.setdefault(access.kind, {}).setdefault(access.map, access)
    present = paths(tree)
    for array in scop.arrays:
        users = [s for a, s in used if a == array.name and s in present]
        for source, target in product(users, repeat=2):
            before, after = used[array.name, source], used[array.name, target]
            kinds: dict[tuple[frozenset[AffineMap], frozenset[AffineMap]], list[DependenceKind]]
            kinds = defaultdict(list)
            accesses: dict[object, tuple[tuple[Access, ...], tuple[Access, ...]]] = {}
            for (one, sources), (other, targets) in product(before.items(), after.items()):
                key = frozenset(sources), frozenset(targets)
                kinds[key].append(_KINDS[one, other])
                accesses[key] = tuple(sources.values()), tuple(targets.values())
            for key, found in kinds.items():
                yield Group(tuple(found), source, target, array.name, *accesses[key])
