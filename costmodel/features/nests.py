"""The statements of a nest in their loop contexts, and their joint footprints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...passes.polyhedral.schedule_tree import Loop, Tree, leaves
from .linear import LinearForms
from .local_arrays import Kept, LocalArray, kept_dimensions
from .loop_context import LoopContext, LoopContexts, Query
from .loop_footprints import Footprint
from .sections import Surroundings
from .statements import StatementProfile


class Neighbour(NamedTuple):
    """Another statement of a nest; `common` is the number of loops that both share.

    `is_later` says that it comes later in the text.
    """

    place: LoopContext
    common: int
    is_later: bool


class NestedStatement(NamedTuple):
    """A statement in its nest.

    `totals` are the bytes that one execution of each loop around it touches, outermost first, then
    of the statement itself; `taken` what these take of the caches of levels 1 to 3; `shares` the
    statement's part. `neighbours` are the other statements under its outermost loop. `rows` are
    remembered by what is around.
    """

    place: LoopContext
    totals: tuple[float, ...]
    taken: tuple[tuple[float, ...], ...]
    shares: tuple[float, ...]
    neighbours: tuple[Neighbour, ...]
    rows: dict[Surroundings, bytes]

    @property
    def siblings(self) -> list[Neighbour]:
        """The other statements in its innermost loop, and in loops that are in there with it."""
        depth = len(self.place.loops)
        return [each for each in self.neighbours if each.common == depth]


class Nests:
    """Cache of nests: schedules share those that they leave unchanged."""

    MOST = 4096

    def __init__(
        self,
        statements: Mapping[str, StatementProfile],
        sizes: Mapping[str, int],
        locals_: Mapping[str, LocalArray],
        with_kept: Callable[[str, Kept], StatementProfile],
    ) -> None:
        """`with_kept` gives a statement where storage keeps dimensions of the local arrays."""
        self.statements = statements
        self._locals = locals_
        self._with_kept = cache(with_kept)
        self._forms = LinearForms(sizes)
        self._contexts = LoopContexts()
        self._known: dict[int, tuple[Tree, tuple[NestedStatement, ...]]] = {}
        self._groups: dict[tuple[int, ...], tuple[NestedStatement, ...]] = {}

    def of(
        self, nests: Sequence[Tree], *, is_kept: bool = True
    ) -> list[tuple[NestedStatement, ...]]:
        """The statements of nests that run at all, in textual order; new nests at one go.

        The nests are kept for the next time only if that `is_kept`; what was found out about their
        statements is, a while.
        """
        if len(self._known) > self.MOST:
            self._known.clear()
        if len(self._groups) > self.MOST:
            self._groups.clear()
        known = self._known if is_kept else {}
        unknown = {id(nest): nest for nest in nests if id(nest) not in known}
        found = [self._queries(nest) for nest in unknown.values()]
        places = iter(self._contexts.of([query for queries in found for query in queries]))
        for (key, nest), queries in zip(unknown.items(), found, strict=True):
            placed = self._grouped(
                [next(places) for _ in queries], [each.loops for each in queries]
            )
            # The nest is kept as well, so that its id stays its own.
            known[key] = nest, placed
        return [known[id(nest)][1] for nest in nests]

    def _queries(self, nest: Tree) -> list[Query]:
        paths = {
            leaf.statement: loops
            for leaf, loops in leaves(nest)
            if self.statements[leaf.statement].instances
        }
        forms = {
            name: tuple([self._forms.of(loop, name) for loop in loops])
            for name, loops in paths.items()
        }
        kept = kept_dimensions(self._locals, paths, forms)
        stored = frozenset[int]().union(*[self.statements[name].stored for name in paths])
        return [
            Query(self._profile(name, kept), kept, loops, forms[name], stored)
            for name, loops in paths.items()
        ]

    def _grouped(
        self, places: Sequence[LoopContext], paths: Sequence[tuple[Loop, ...]]
    ) -> tuple[NestedStatement, ...]:
        """The same statements that share as many loops are the same nest, whoever made it."""
        shared = [_common(path, following) for path, following in pairwise(paths)]
        key = (*map(id, places), *shared)
        found = self._groups.get(key)
        if found is None:
            # It keeps the places, so that their ids stay their own.
            found = self._groups[key] = _together(places, paths)
        return found

    def _profile(self, name: str, kept: Kept) -> StatementProfile:
        return self._with_kept(name, kept) if kept else self.statements[name]


def _together(
    places: Sequence[LoopContext], paths: Sequence[tuple[Loop, ...]]
) -> tuple[NestedStatement, ...]:
    if len(places) == 1:
        totals = places[0].footprint.totals
        plain, first, second = totals
        return (
            NestedStatement(places[0], plain, (first, second, plain), (1.0,) * len(plain), (), {}),
        )
    touched = _touched(paths, places)
    result: list[NestedStatement] = []
    for number, (path, place) in enumerate(zip(paths, places, strict=True)):
        own = place.footprint.totals
        # Level n is one execution of loop n; inside of the innermost, the statement itself.
        around = [touched[id(loop)] for loop in path]
        plain, first, second = (
            (*[whole[way] for whole, _ in around], own[way][-1]) for way in range(len(own))
        )
        shares = [part / alone for part, (_, alone) in zip(own[0][:-1], around, strict=True)]
        neighbours: list[Neighbour] = []
        for other, (its_path, its_place) in enumerate(zip(paths, places, strict=True)):
            common = 0 if other == number else _common(path, its_path)
            if common:
                neighbours.append(Neighbour(its_place, common, other > number))
        result.append(
            NestedStatement(
                place, plain, (first, second, plain), (*shares, 1.0), tuple(neighbours), {}
            )
        )
    return tuple(result)


def _common(path: Sequence[Loop], other: Sequence[Loop]) -> int:
    """How many loops two statements share."""
    count = 0
    for one, two in zip(path, other, strict=False):
        if one is not two:
            break
        count += 1
    return count


def _touched(
    paths: Sequence[tuple[Loop, ...]], places: Sequence[LoopContext]
) -> dict[int, tuple[Sequence[float], float]]:
    """What one execution of each loop touches, as `Footprint.totals` but in all.

    Arrays count once; the second number is the sum over the statements by themselves, in bytes.
    """
    inside: dict[int, tuple[int, list[Footprint]]] = {}
    for path, place in zip(paths, places, strict=True):
        for level, loop in enumerate(path):
            inside.setdefault(id(loop), (level, []))[1].append(place.footprint)
    touched: dict[int, tuple[Sequence[float], float]] = {}
    for key, (level, each) in inside.items():
        alone = sum([footprint.totals[0][level] for footprint in each])
        if len(each) == 1:
            whole: list[float] = [ways[level] for ways in each[0].totals]
        else:
            arrays = [footprint.arrays[:, level] for footprint in each]
            whole = np.maximum.reduce(arrays).sum(axis=1).tolist()
        touched[key] = whole, alone
    return touched
