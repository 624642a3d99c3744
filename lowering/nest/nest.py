"""The loop nest: loops with closed-form bounds, between isl's AST and the loop IR.

Pure data: what isl's AST says, with every expression an `Index` over numbered loop variables, so
that trip counts, strides and invariance can be asked before any operation is built.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace

from ...passes.polyhedral.schedule_tree import Leaf, Loop, Tree, path
from ...passes.polyhedral.schedule_tree import walk as walk_tree
from .index_expression import Condition, Index, condition_indices, decide, substitute_condition


@dataclass(frozen=True)
class For:
    """`for variable = max(lower) to min(upper) step` (upper excluded), made from `loop`.

    With `size`, a tile loop: the variable is the first value of each tile with values in between,
    a multiple of the size. An empty range may have one tile, too. `value` is the value of `loop`
    where that is not the variable, as isl counts the iterations of a loop with strides: it is there
    for loops whose values are asked for.
    """

    loop: Loop
    variable: int
    lower: tuple[Index, ...]
    upper: tuple[Index, ...]
    step: int
    body: Nest
    size: Index | None = None
    value: Index | None = None

    @property
    def is_explicit(self) -> bool:
        """Whether it is a vector loop, or unrolled by the schedule."""
        return self.loop.vector is not None or self.loop.unroll is not None

    @property
    def trip_count(self) -> int | None:
        """The number of iterations when it is the same in every execution, else None."""
        if len(self.lower) != 1 or len(self.upper) != 1 or self.size is not None:
            return None
        extent = self.upper[0] - self.lower[0]
        return max(0, -(-extent.constant // self.step)) if extent.is_constant else None


@dataclass(frozen=True)
class Once:
    """A single-iteration loop: its value is `value`."""

    loop: Loop
    value: Index
    body: Nest


@dataclass(frozen=True)
class Block:
    """Sequence of nests."""

    parts: tuple[Nest, ...]


@dataclass(frozen=True)
class Guard:
    """`then` where the condition holds, else `otherwise`."""

    condition: Condition
    then: Nest
    otherwise: Nest = Block(())


@dataclass(frozen=True)
class TileSplit:
    """A tile: `full` if the condition holds, and all bounds are simple, else `partial`."""

    condition: Condition
    full: Nest
    partial: Nest


@dataclass(frozen=True)
class Call:
    """One instance of a statement, with the values of its induction variables."""

    statement: str
    arguments: tuple[Index, ...]

    def substitute(self, values: Mapping[int, Index]) -> Call:
        """The instance when variables have these values."""
        return replace(self, arguments=tuple(each.substitute(values) for each in self.arguments))


Nest = For | Once | Block | Guard | TileSplit | Call


def walk(nest: Nest) -> Iterator[Nest]:
    """Every node, parents first."""
    yield nest
    for child in children(nest):
        yield from walk(child)


def children(nest: Nest) -> tuple[Nest, ...]:
    """The nests directly inside."""
    match nest:
        case For(body=body) | Once(body=body):
            return (body,)
        case Block(parts):
            return parts
        case Guard(_, then, otherwise):
            return then, otherwise
        case TileSplit(_, full, partial):
            return full, partial
        case Call():
            return ()


def with_children(nest: Nest, change: Callable[[Nest], Nest]) -> Nest:
    """The node with what becomes of the nests directly inside."""
    match nest:
        case For(body=body) | Once(body=body):
            return replace(nest, body=change(body))
        case Block(parts):
            return Block(tuple(map(change, parts)))
        case Guard(condition, then, otherwise):
            return Guard(condition, change(then), change(otherwise))
        case TileSplit(condition, full, partial):
            return TileSplit(condition, change(full), change(partial))
        case Call():
            return nest


def scattered_loops(nest: Nest, tree: Tree) -> list[Loop]:
    """Loops of which no node of the nest holds a whole iteration.

    isl makes several pieces of a loop, which run one after the other, or leaves out a loop that has
    one iteration at a time.
    """
    return [*split_loops(nest), *(loop for loop, _ in omitted_loops(nest, tree))]


def split_loops(nest: Nest) -> list[Loop]:
    """Loops of which the nest has several pieces, one after the other."""
    split: list[Loop] = []
    _collect_split(nest, split)
    return split


def restrict(nest: Nest, names: Container[str]) -> Nest:
    """The nest with only the calls of the statements in `names`; `Block(())` where none is left."""
    match nest:
        case For(body=body) | Once(body=body):
            inner = restrict(body, names)
            return inner if inner == Block(()) else replace(nest, body=inner)
        case Block(parts):
            kept = (restrict(part, names) for part in parts)
            return Block(tuple(part for part in kept if part != Block(())))
        case Guard(condition, then, otherwise):
            return Guard(condition, restrict(then, names), restrict(otherwise, names))
        case TileSplit(condition, full, rest):
            return TileSplit(condition, restrict(full, names), restrict(rest, names))
        case Call(statement):
            return nest if statement in names else Block(())


def substitute(nest: Nest, values: Mapping[int, Index]) -> Nest:
    """The nest when variables of loops around it have these values, without decided guards."""

    def of(index: Index) -> Index:
        return index.substitute(values)

    match nest:
        case For():
            return replace(
                nest,
                lower=tuple(map(of, nest.lower)),
                upper=tuple(map(of, nest.upper)),
                size=nest.size and of(nest.size),
                value=nest.value and of(nest.value),
                body=substitute(nest.body, values),
            )
        case Once(loop, value, body):
            return Once(loop, of(value), substitute(body, values))
        case Block(parts):
            return Block(tuple(substitute(part, values) for part in parts))
        case Guard(condition, then, otherwise):
            condition = substitute_condition(condition, values)
            known = decide(condition)
            if known is not None:
                return substitute(then if known else otherwise, values)
            return Guard(condition, substitute(then, values), substitute(otherwise, values))
        case TileSplit(condition, full, partial):
            condition = substitute_condition(condition, values)
            return TileSplit(condition, substitute(full, values), substitute(partial, values))
        case Call():
            return nest.substitute(values)


def omitted_loops(nest: Nest, tree: Tree) -> list[tuple[Loop, Call]]:
    """Loops of the tree around a statement that are in no node around its call, with the call."""
    outer = {
        node.statement: [loop for loop in path(tree, node) if isinstance(loop, Loop)]
        for node in walk_tree(tree)
        if isinstance(node, Leaf)
    }
    result: list[tuple[Loop, Call]] = []
    _collect_omitted(nest, (), outer, result)
    return result


def _collect_split(nest: Nest, result: list[Loop]) -> dict[int, Loop]:
    """The loops in `nest`, by identity; those in several parts of a block go to `result`."""
    match nest:
        case For(loop=loop, body=body) | Once(loop=loop, body=body):
            return {id(loop): loop, **_collect_split(body, result)}
        case Block(parts):
            found: dict[int, Loop] = {}
            for part in parts:
                own = _collect_split(part, result)
                result += [loop for key, loop in own.items() if key in found]
                found |= own
            return found
        case Guard(_, one, other) | TileSplit(_, one, other):
            return _collect_split(one, result) | _collect_split(other, result)
        case Call():
            return {}


def _collect_omitted(
    nest: Nest,
    inside: tuple[Loop, ...],
    outer: Mapping[str, list[Loop]],
    result: list[tuple[Loop, Call]],
) -> None:
    match nest:
        case For(loop=loop, body=body) | Once(loop=loop, body=body):
            _collect_omitted(body, (*inside, loop), outer, result)
        case Block(parts):
            for part in parts:
                _collect_omitted(part, inside, outer, result)
        case Guard(_, one, other) | TileSplit(_, one, other):
            _collect_omitted(one, inside, outer, result)
            _collect_omitted(other, inside, outer, result)
        case Call(statement):
            result += [
                (loop, nest)
                for loop in outer[statement]
                if not any(loop is other for other in inside)
            ]


def control_indices(nest: Nest) -> Iterator[Index]:
    """Every index that decides which iterations run: bounds, values and conditions of loops."""
    for node in walk(nest):
        if isinstance(node, For):
            yield from node.lower
            yield from node.upper
        elif isinstance(node, Once):
            yield node.value
        elif isinstance(node, Guard | TileSplit):
            yield from condition_indices(node.condition)


def is_uneven(nests: list[For]) -> bool:
    """Whether the amount of work differs much between iterations of the parallel loops.

    A partial tile at the end does not count: that is a bound `min(constant, tile start + size)`.
    Neither does a remainder, as where every second element of a row is first.
    """
    varying = {n.variable for n in nests}
    for node in walk(nests[-1].body):
        if not isinstance(node, For):
            continue
        extents = [u - low for u in node.upper for low in node.lower]
        if all(any(e.slope(v) != 0 for v in varying) for e in extents):
            return True
        if any(index.slope(v) != 0 for index in (*node.lower, *node.upper) for v in varying):
            varying.add(node.variable)
    return False
