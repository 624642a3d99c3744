"""The statements of a nest under their loops, and what they touch together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from ...passes.schedule_tree import Loop, Tree, leaves
from .linear import LinearForms
from .local_arrays import Kept, LocalArray, kept_dimensions
from .placement import Placement, Placements
from .statements import StatementProfile


class Neighbour(NamedTuple):
    """Another statement of a nest; `common` is how many loops the two share, from the outermost.

    `is_later` says that it comes later in the text.
    """

    place: Placement
    common: int
    is_later: bool


@dataclass(frozen=True, eq=False)
class PlacedStatement:
    """A statement in its nest.

    `totals` are the bytes that one execution of each loop around it touches, outermost first, then
    of the statement itself; `taken` what these take of the caches of levels 1 to 3; `shares` the
    statement's part. `neighbours` are the other statements under its outermost loop. `rows` are
    remembered by what is around.
    """

    place: Placement
    totals: tuple[float, ...]
    taken: tuple[tuple[float, ...], ...]
    shares: tuple[float, ...]
    neighbours: tuple[Neighbour, ...]
    rows: dict[object, list[float]] = field(default_factory=dict[object, list[float]])

    @property
    def siblings(self) -> list[Neighbour]:
        """The other statements in its innermost loop, and in loops that are in there with it."""
        depth = len(self.place.loops)
        return [each for each in self.neighbours if each.common == depth]


class Nests:
    """Places the statements of nests, each nest once: schedules share those they do not change."""

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
        self._placements = Placements()
        self._known: dict[int, tuple[Tree, tuple[PlacedStatement, ...]]] = {}

    def of(self, nest: Tree) -> tuple[PlacedStatement, ...]:
        """The statements of a nest that run at all, in textual order."""
        known = self._known.get(id(nest))
        if known is None:
            if len(self._known) > self.MOST:
                self._known.clear()
            # The nest is kept as well, so that its id stays its own.
            known = self._known[id(nest)] = (nest, self._place(nest))
        return known[1]

    def _place(self, nest: Tree) -> tuple[PlacedStatement, ...]:
        paths = {
            leaf.statement: loops
            for leaf, loops in leaves(nest)
            if self.statements[leaf.statement].instances
        }
        forms = {
            name: tuple(self._forms.of(loop, name) for loop in loops)
            for name, loops in paths.items()
        }
        kept = kept_dimensions(self._locals, paths, forms)
        stored = frozenset[int]().union(*(self.statements[name].stored for name in paths))
        places = [
            self._placements.of(self._profile(name, kept), kept, loops, forms[name], stored)
            for name, loops in paths.items()
        ]
        if len(places) == 1:
            return (_alone(places[0]),)
        return _together(list(paths.values()), places)

    def _profile(self, name: str, kept: Kept) -> StatementProfile:
        return self._with_kept(name, kept) if kept else self.statements[name]


def _alone(place: Placement) -> PlacedStatement:
    plain, first, second = (tuple(row) for row in place.touched.tolist())
    return PlacedStatement(place, plain, (first, second, plain), (1.0,) * len(plain), ())


def _together(
    paths: Sequence[tuple[Loop, ...]], places: Sequence[Placement]
) -> tuple[PlacedStatement, ...]:
    touched = _touched(paths, places)
    result: list[PlacedStatement] = []
    for number, (path, place) in enumerate(zip(paths, places, strict=True)):
        own = place.touched
        # Level n is one execution of loop n; inside of the innermost, the statement itself.
        around = [touched[id(loop)] for loop in path]
        totals = np.array([*(whole for whole, _ in around), own[:, -1]]).T
        alone = [*(alone for _, alone in around), own[0, -1]]
        shares = tuple(
            part / whole if whole else 1.0
            for part, whole in zip(own[0].tolist(), alone, strict=True)
        )
        neighbours: list[Neighbour] = []
        for other, (its_path, its_place) in enumerate(zip(paths, places, strict=True)):
            common = _common(path, its_path)
            if other != number and common:
                neighbours.append(Neighbour(its_place, common, other > number))
        plain, first, second = (tuple(row) for row in totals.tolist())
        result.append(
            PlacedStatement(place, plain, (first, second, plain), shares, tuple(neighbours))
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
    paths: Sequence[tuple[Loop, ...]], places: Sequence[Placement]
) -> dict[int, tuple[np.ndarray, float]]:
    """What one execution of each loop touches, as `Placement.touched` but in all.

    Arrays count once; the second number is the sum over the statements by themselves, in bytes.
    """
    touched: dict[int, np.ndarray] = {}
    alone: dict[int, float] = {}
    for path, place in zip(paths, places, strict=True):
        sums = place.touched[0].tolist()
        for level, loop in enumerate(path):
            key = id(loop)
            known = touched.get(key)
            own = place.footprints[:, level]
            touched[key] = own if known is None else np.maximum(known, own)
            alone[key] = alone.get(key, 0.0) + sums[level]
    return {key: (value.sum(axis=1), alone[key]) for key, value in touched.items()}
