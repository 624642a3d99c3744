"""Random nests: chains of statements, planes of complex numbers, borders, computed subscripts.

Their loops have constant extents, longer than several vectors, so that the default schedules of
small programs take the forms of large ones.
"""

from __future__ import annotations

from .choice import chance, choose, distinct
from .kind_values import KindValues
from .random_expressions import multiple
from .random_memory import ArraySpec, is_float
from .random_values import Scope
from .ranges import Affine, Index, Linear

LANES = (40, 70, 24, 100)
"""Extents of loops whose iterations may share vectors."""

BORDERS = ((1, 0), (1, 1), (2, -1), (3, 3), (-2, 1), (0, 0))
"""What loops begin with, and what is added to their ends."""


class ChainNests(KindValues):
    """Appends nests to the lines of `code`."""

    def chains(self, scope: Scope) -> None:
        """Each lane computes its state from the one before, through several statements."""
        kind, lanes = self._kind(), Linear((), choose(self.chooser, LANES))
        states = [self._array(kind, 1) for _ in range(choose(self.chooser, (2, 1, 3)))]
        steps = Linear((), choose(self.chooser, (5, 3, 9)))
        table = self._array(kind, 1)
        is_carried = chance(self.chooser, 40)
        with self._loops(scope, 1, lanes) as (outer, (i,)):
            if is_carried:
                begin = self._get(outer, states[0], [multiple(i)])

                def step(inner: Scope, value: str) -> str:
                    return self._advanced(inner, kind, [value], table, i)

                value = self._carried(outer, kind, begin, [steps.constant], step)
                self._put(outer, states[-1], [multiple(i)], value)
                return
            with self._loops(outer, 1, steps) as (inner, _):
                for state in distinct(self.chooser, states, len(states)):
                    own = [self._get(inner, each, [multiple(i)]) for each in states]
                    value = self._advanced(inner, kind, own, table, i)
                    self._put(inner, state, [multiple(i)], value)

    def _advanced(
        self, scope: Scope, kind: str, state: list[str], table: ArraySpec, lane: Index
    ) -> str:
        """The next value of a state: operations that wait for each other."""
        value = state[0]
        for _ in range(choose(self.chooser, (2, 1, 4))):
            other = choose(self.chooser, (*state, "table", "constant"))
            if other == "table":
                at = multiple(choose(self.chooser, (lane, scope.indices[-1])))
                other = self._get(scope, table, [at])
            elif other == "constant":
                other = self.code.constant(choose(self.chooser, (1, 2, -3)), kind, scope)
            combine = choose(self.chooser, (self._combined, self._combined, self._selected))
            value = combine(scope, kind, value, other)
            if is_float(kind):
                value = self.code.clamp(scope, kind, value, 16)
        return value

    def complex_products(self, scope: Scope) -> None:
        """Products of matrices in two planes, or with a factor for each column of the result."""
        kind = self._kind()
        letter = "f" if is_float(kind) else "i"
        rows, columns, terms = (Linear((), n) for n in (choose(self.chooser, (9, 14, 4)), 18, 5))
        one, other = ([self._array(kind, 2) for _ in range(2)] for _ in range(2))
        sums = [self.memory.new_array(2, kind) for _ in range(choose(self.chooser, (2, 1)))]
        factor = self._array(kind, choose(self.chooser, (1, 2)))
        is_transposed = chance(self.chooser, 25)

        def product(inner: Scope, values: tuple[str, str]) -> str:
            text = f"arith.mul{letter} {values[0]}, {values[1]} : {kind}"
            return self.code.emit(text, kind, inner)

        with (
            self._loops(scope, 1, rows) as (outer, (i,)),
            self._loops(outer, 1, columns) as (middle, (j,)),
            self._loops(middle, 1, terms) as (inner, (k,)),
        ):
            right = [multiple(each) for each in ((j, k) if is_transposed else (k, j))]
            for number, total in enumerate(sums):
                values = [
                    (
                        self._get(inner, one[plane], [multiple(i), multiple(k)]),
                        self._get(inner, other[plane ^ number], right),
                    )
                    for plane in (0, 1)
                ]
                parts = [product(inner, pair) for pair in values]
                if chance(self.chooser, 30):
                    at = [multiple(each) for each in (k, j)[-factor.rank :]]
                    parts[0] = product(inner, (parts[0], self._get(inner, factor, at)))
                sign = choose(self.chooser, ("sub", "add"))
                text = f"arith.{sign}{letter} {', '.join(parts)} : {kind}"
                term = self.code.emit(text, kind, inner)
                place = [multiple(i), multiple(j)]
                before = self._get(inner, total, place)
                text = f"arith.add{letter} {before}, {term} : {kind}"
                self._put(inner, total, place, self.code.emit(text, kind, inner), bounded=False)

    def borders(self, scope: Scope) -> None:
        """Sums, extrema or stores inside of borders: loops that do not begin at 0, also apart."""
        kind = self._kind()
        plane, sums = self._array(kind, 2), self._array(kind, choose(self.chooser, (1, 2)))
        height, width = (Linear((), choose(self.chooser, (20, 33, 61))) for _ in range(2))
        names = ("addf", "maximumf", "minimumf") if is_float(kind) else ("addi", "maxsi", "xori")
        operation = choose(self.chooser, names)
        is_whole = chance(self.chooser, 50)
        (low, more), (first, beyond) = (choose(self.chooser, BORDERS) for _ in range(2))
        step = choose(self.chooser, (1, 1, 1, 2))
        with (
            self._loop(scope, Affine.constant(low), Affine((), height.shifted(more)), step) as (
                rows,
                i,
            ),
            self._loop(rows, Affine.constant(first), Affine((), width.shifted(beyond))) as (
                inner,
                j,
            ),
        ):
            value = self._get(inner, plane, [multiple(i), multiple(j)])
            if chance(self.chooser, 50):
                moved = [multiple(i), multiple(j).shifted(1)]
                value = self._difference(inner, kind, value, self._get(inner, plane, moved))
            place = [Affine.constant(0) if is_whole else multiple(i)] * sums.rank
            before = self._get(inner, sums, place)
            text = f"arith.{operation} {before}, {value} : {kind}"
            self._put(inner, sums, place, self.code.emit(text, kind, inner), bounded=False)

    def computed_subscripts(self, scope: Scope) -> None:
        """Elements at subscripts that are computed from floats, in one or more dimensions."""
        kind, rank = self._kind(), choose(self.chooser, (2, 1, 3))
        table, result = self._array(kind, rank), self._array(kind, 2)
        places = [self._placed_floats() for _ in range(rank)]
        rows = [Linear((), choose(self.chooser, each)) for each in ((9, 20), (40, 70, 17))]
        is_scattered = chance(self.chooser, 25)
        with (
            self._loops(scope, 1, rows[0]) as (outer, (i,)),
            self._loops(outer, 1, rows[1]) as (inner, (j,)),
        ):
            subscripts = [self._computed(inner, each, (i, j)) for each in places]
            if rank > 1 and chance(self.chooser, 30):
                subscripts[choose(self.chooser, (0, -1))] = multiple(choose(self.chooser, (i, j)))
            own = [multiple(i), multiple(j)]
            moved = [each.shifted(choose(self.chooser, (0, 0, 1))) for each in subscripts]
            if is_scattered:
                value = self._get(inner, result, own)
                value = self._combined(inner, kind, self._get(inner, table, subscripts), value)
                self._put(inner, table, subscripts, value)
                return
            value = self._get(inner, table, subscripts)
            if chance(self.chooser, 60):
                value = self._combined(inner, kind, value, self._get(inner, table, moved))
            self._put(inner, result, own, value)

    def _placed_floats(self) -> ArraySpec:
        """An array of numbers from 0 to below an extent."""
        spec = self.memory.new_array(choose(self.chooser, (2, 1)), choose(self.chooser, FLOATS))
        spec.below = Linear((), choose(self.chooser, (7, 3, 20)))
        return spec

    def _computed(self, scope: Scope, array: ArraySpec, indices: tuple[Index, Index]) -> Affine:
        """A number in memory, cut to an integer; doubled, moved, or kept inside by extrema."""
        assert array.below is not None
        kind, most = array.element_type, array.below.constant
        order = indices if array.rank == 2 else [choose(self.chooser, indices)]
        value = self._get(scope, array, [multiple(each) for each in order])
        form = self.chooser.integer(0, 3)
        if form == 1:
            two = self.code.constant(2, kind, scope)
            value = self.code.emit(f"arith.mulf {value}, {two} : {kind}", kind, scope)
            most = 2 * most + 1
        elif form == 2:
            one = self.code.constant(1, kind, scope)
            value = self.code.emit(f"arith.addf {value}, {one} : {kind}", kind, scope)
            most += 1
        elif form == 3:
            most = min(most, 16)
            value = self.code.clamp(scope, kind, value, most)
        integer, index = self.memory.fresh("near"), self.memory.fresh("g")
        wide = choose(self.chooser, ("i32", "i64"))
        self.lines.append(f"{integer} = arith.fptosi {value} : {kind} to {wide}")
        self.lines.append(f"{index} = arith.index_cast {integer} : {wide} to index")
        return multiple(Index(index, Linear(), Linear((), most)))


FLOATS = ("f64", "f32")
