"""The schedule tree: an immutable tree of named loops and sequences.

Three kinds of node. A `Loop` runs its body once per value of an affine function of the instances,
in increasing order; a `Sequence` runs its children one after the other; a `Leaf` is one statement.
A *chain* is a run of loops directly inside each other; a chain that is permutable is a band.

    gemm:  Loop i -> Sequence( Loop j -> Leaf S0,  Loop k -> Loop j -> Leaf S1 )
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from ...support.summaries import summary


@dataclass(frozen=True)
class Leaf:
    """One statement; at most one instance of it is left here."""

    statement: str


@dataclass(frozen=True)
class Sequence:
    """Children executed in order."""

    children: tuple[Tree, ...]

    # Trees are asked again and again while they are searched, and share most of their nodes.
    @cached_property
    def statements(self) -> tuple[str, ...]:
        """Names of the statements below, in textual order."""
        return tuple(name for child in self.children for name in statements(child))

    @cached_property
    def loops_below(self) -> tuple[Loop, ...]:
        """Every loop below, outer first, in textual order."""
        return tuple(loop for child in self.children for loop in loops(child))

    @cached_property
    def depth(self) -> int:
        """The most loops below that are inside each other."""
        return max(map(depth, self.children), default=0)

    def __repr__(self) -> str:
        return summary(self, f"of {len(self.children)}")


@dataclass(frozen=True)
class TileSize:
    """A point loop runs over `[size * t, size * t + size)`, with t the value of loop `tile`.

    A tile loop itself has no such mark: its schedule is `floor(f / size)`.
    """

    tile: str
    size: int


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop: `schedule` gives, per statement below, the loop's value as `{ S0[i, j] -> [(f)] }`.

    `name` is unique on every path from the root to a leaf. `within` is set on point loops.
    `parallel`, `vector` (width in elements) and `unroll` (factor; 0 = fully) say how it executes.
    With `run_time_size`, the name of an integer that calls give, it is a tile loop: it runs once
    for so many values of the function `f` of its schedule, from a multiple of that integer on.
    """

    name: str
    schedule: Mapping[str, isl.Aff]
    body: Tree
    within: TileSize | None = None
    parallel: bool = False
    vector: int | None = None
    unroll: int | None = None
    run_time_size: str | None = None

    @property
    def is_marked(self) -> bool:
        """Whether something says how it executes."""
        return self.parallel or self.vector is not None or self.unroll is not None

    @cached_property
    def statements(self) -> tuple[str, ...]:
        """Names of the statements below, in textual order."""
        return statements(self.body)

    @cached_property
    def loops_below(self) -> tuple[Loop, ...]:
        """Every loop below, outer first, in textual order."""
        return tuple(loops(self.body))

    @cached_property
    def depth(self) -> int:
        """The most loops that are inside each other, this one included."""
        return 1 + depth(self.body)

    def __repr__(self) -> str:
        return summary(self, f"{self.name} around {', '.join(self.schedule)}")


Tree = Loop | Sequence | Leaf


def statements(tree: Tree) -> tuple[str, ...]:
    """Names of the statements below, in textual order."""
    return (tree.statement,) if isinstance(tree, Leaf) else tree.statements


def depth(tree: Tree) -> int:
    """The most loops that are inside each other."""
    return 0 if isinstance(tree, Leaf) else tree.depth


def walk(tree: Tree) -> Iterator[Tree]:
    """Every node, parents first, in textual order."""
    yield tree
    match tree:
        case Loop(body=body):
            yield from walk(body)
        case Sequence(children):
            for child in children:
                yield from walk(child)
        case Leaf():
            pass


def loops(tree: Tree) -> Iterator[Loop]:
    """Every loop, outer first, in textual order."""
    if isinstance(tree, Loop):
        yield tree
    if not isinstance(tree, Leaf):
        yield from tree.loops_below


def path(tree: Tree, target: Tree) -> tuple[Tree, ...]:
    """Nodes from the root down to `target` itself (found by identity), both included.

    Raises KeyError when `target` is not in the tree.
    """
    if tree is target:
        return (tree,)
    children = tree.children if isinstance(tree, Sequence) else ()
    for child in (tree.body,) if isinstance(tree, Loop) else children:
        try:
            return (tree, *path(child, target))
        except KeyError:
            continue
    raise KeyError(target)


def leaves(tree: Tree, outer: tuple[Loop, ...] = ()) -> list[tuple[Leaf, tuple[Loop, ...]]]:
    """Every leaf with the loops around it, outermost first."""
    while isinstance(tree, Loop):
        outer, tree = (*outer, tree), tree.body
    if isinstance(tree, Leaf):
        return [(tree, outer)]
    return [item for child in tree.children for item in leaves(child, outer)]


def loops_around(tree: Tree, statement: str) -> tuple[Loop, ...]:
    """The loops around a statement, outermost first."""
    return next(outer for leaf, outer in leaves(tree) if leaf.statement == statement)


def place_of(loop: Loop, among: Iterable[Loop]) -> int:
    """The place of `loop` itself (found by identity) in a chain."""
    return next(place for place, other in enumerate(among) if other is loop)


def functions_text(tree: Tree) -> str:
    """What the loops of a tree iterate over, and its statements in their order, as text.

    Names of loops and marks are not in it: trees with the same text run in the same order.
    """
    match tree:
        case Leaf(name):
            return name
        case Loop(schedule=schedule, body=body):
            return f"[{', '.join(map(str, schedule.values()))}]({functions_text(body)})"
        case Sequence(children):
            return "; ".join(map(functions_text, children))


def nests(tree: Tree) -> tuple[Tree, ...]:
    """The top-level nests: what the root runs one after the other."""
    return tree.children if isinstance(tree, Sequence) else (tree,)


def nest_of(tree: Tree, statement: str) -> Tree:
    """The top-level nest of a statement."""
    return next(nest for nest in nests(tree) if statement in statements(nest))


def chain(loop: Loop) -> tuple[Loop, ...]:
    """The loops nested directly inside each other that start at `loop`, outermost first."""
    result = [loop]
    while isinstance(result[-1].body, Loop):
        result.append(result[-1].body)
    return tuple(result)


def chains(tree: Tree) -> list[tuple[Loop, ...]]:
    """The longest chains of directly nested loops, in textual order."""
    inner = {id(node.body) for node in loops(tree)}
    return [chain(loop) for loop in loops(tree) if id(loop) not in inner]


def rebuild(chain: tuple[Loop, ...], body: Tree) -> Tree:
    """Nests the loops of `chain` (outermost first) around `body`."""
    for loop in reversed(chain):
        body = replace(loop, body=body)
    return body


def run_time_sizes(tree: Tree) -> tuple[str, ...]:
    """Names of the tile sizes that calls give, outermost loop first."""
    names = (loop.run_time_size for loop in loops(tree))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def without_marks(tree: Tree) -> Tree:
    """The same order with every loop sequential, scalar and rolled."""
    match tree:
        case Loop(body=body):
            inner = without_marks(body)
            return replace(tree, body=inner, parallel=False, vector=None, unroll=None)
        case Sequence(children):
            return Sequence(tuple(without_marks(child) for child in children))
        case Leaf():
            return tree


def sequence(parts: Iterable[Tree]) -> Tree:
    """The parts in order: nested sequences are flattened, and one part stands for itself."""
    flat: list[Tree] = []
    for part in parts:
        flat.extend(part.children if isinstance(part, Sequence) else (part,))
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def replace_node(tree: Tree, target: Tree, new: Tree) -> Tree:
    """A copy of `tree` in which the node `target` (found by identity) is `new`."""
    if tree is target:
        return new
    match tree:
        case Loop(body=body):
            inner = replace_node(body, target, new)
            return tree if inner is body else replace(tree, body=inner)
        case Sequence(children):
            replaced = tuple(replace_node(child, target, new) for child in children)
            if all(a is b for a, b in zip(replaced, children, strict=True)):
                return tree
            return sequence(replaced)
        case Leaf():
            return tree


def restrict(tree: Tree, names: Container[str]) -> Tree | None:
    """The tree with only the statements in `names`; None when none of them is in it."""
    match tree:
        case Leaf(name):
            return tree if name in names else None
        case Loop(schedule=schedule, body=body):
            inner = restrict(body, names)
            kept = {name: aff for name, aff in schedule.items() if name in names}
            return None if inner is None else replace(tree, schedule=kept, body=inner)
        case Sequence(children):
            parts = [part for child in children if (part := restrict(child, names)) is not None]
            return sequence(parts) if parts else None


def union_schedule(loop: Loop) -> isl.MultiUnionPwAff:
    """The loop's schedule over all its statements: `[{ S0[i] -> [(i)]; S1[i, j] -> [(i)] }]`."""
    return sum_of_affs(tuple(loop.schedule.values()))


def sum_of_affs(affs: tuple[isl.Aff, ...]) -> isl.MultiUnionPwAff:
    """One-dimensional multi union piecewise affine function from functions on disjoint spaces."""
    result: isl.UnionPwAff | None = None
    for aff in affs:
        piece = isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(aff))
        result = piece if result is None else result.union_add(piece)
    assert result is not None, "a loop schedules at least one statement"
    return isl.MultiUnionPwAff.from_union_pw_aff(result)
