"""Random nests of the kinds that code generation has forms of its own for.

Sweeps in place in all directions and colours, stencils that copy back or use planes in turn,
interleaved channels, clamped borders, conditions on diagonals, looked-up rows, recurrences that
lines share, repeated guards, masked stores, sums over blocks, products with offsets, short rows,
pixels, extrema by comparison, packed triangles and pairs, and what `kind_chains` and
`kind_tables` have. `NESTS` is
the table, `NESTS_SINCE` has the latest ones as well; what follows a nest uses the arrays that it
has made as any others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .choice import chance, choose, distinct
from .kind_tables import TABLES, TableNests
from .random_expressions import linear, multiple
from .random_memory import is_float
from .random_values import Scope
from .ranges import Affine, Index, Linear, affine_map, affine_set

BLOCKS = (2, 4, 8)

# What pixels are read and stored as.
BYTES = (("i8", "i8"), ("i8", "i32"), ("i8", "i16"), ("i16", "i32"), ("i32", "i8"))


class KindNests(TableNests):
    """Appends nests to the lines of `code`."""

    def nest(self, scope: Scope, nests: Sequence[Nest]) -> int:
        """One nest of these; how deep the deepest one is."""
        choose(self.chooser, nests)(self, scope)
        return self.deepest

    def sweep(self, scope: Scope) -> None:
        """In place from neighbours, down or up, to the right or to the left, or in colours."""
        kind = self._kind()
        plane = self._array(kind, 2)
        colours = choose(self.chooser, (1, 1, 2, 3))
        mirrored = [chance(self.chooser, 50) for _ in range(2)]
        with self._steps(scope) as inside, self._rows(inside) as (rows, i):
            for colour in self._colours(colours):
                with self._columns(rows, i, colours, colour) as (inner, j):
                    place = [self._mirrored(*each) for each in zip((i, j), mirrored, strict=True)]
                    value = self._neighbours(inner, plane, place)
                    self._put(inner, plane, place, value)

    def copied_back(self, scope: Scope) -> None:
        """Steps that compute one array from the other, and copy it back, as a rule whole."""
        kind = self._kind()
        now, following = self._array(kind, 2), self._array(kind, 2)
        height, width = (self.memory.extent() for _ in range(2))
        cut = choose(self.chooser, (0, 0, 0, 1))
        with self._loop(scope, Affine.constant(0), self._step_count()) as (steps, _):
            with (
                self._loops(steps, 1, height) as (rows, (i,)),
                self._loops(rows, 1, width) as (inner, (j,)),
            ):
                place = [multiple(i), multiple(j)]
                self._put(inner, following, place, self._neighbours(inner, now, place))
            with (
                self._loops(steps, 1, height.shifted(-cut)) as (rows, (i,)),
                self._loops(rows, 1, width) as (inner, (j,)),
            ):
                place = [multiple(i), multiple(j)]
                value = self._get(inner, following, place)
                self.lines.append(self._store(now, place, value))

    def planes(self, scope: Scope) -> None:
        """Steps that read some planes of an array and write the next one, in turn."""
        array, count = self._array(self._kind(), 3), choose(self.chooser, (2, 3))
        with (
            self._loop(scope, Affine.constant(0), self._step_count()) as (steps, t),
            self._loops(steps, 2) as (inner, (i, j)),
        ):
            last, here, following = (
                multiple(t).shifted(each).divided("mod", count)
                for each in (0, count - 2, count - 1)
            )
            rows = [multiple(i).shifted(choose(self.chooser, (0, -1, 1)))]
            value = self._get(inner, array, [here, *rows, multiple(j)])
            place = [multiple(i), multiple(j).shifted(choose(self.chooser, (0, -1, 1)))]
            other = self._get(inner, array, [choose(self.chooser, (last, here)), *place])
            value = self._combined(inner, array.element_type, value, other)
            self._put(inner, array, [following, multiple(i), multiple(j)], value)

    def channels(self, scope: Scope) -> None:
        """Elements of pixels, interleaved in rows: some are read, some are stored."""
        count = choose(self.chooser, (3, 2, 4))
        rank = choose(self.chooser, (1, 2))
        kinds = self._kind(), self._kind()
        if chance(self.chooser, 50):
            kinds = choose(self.chooser, BYTES)
        source, target = (self._array(kind, rank) for kind in kinds)
        target = source if chance(self.chooser, 20) else target
        with self._loops(scope, rank) as (inner, indices):
            *outer, last = indices
            lanes = [multiple(last, count).shifted(c) for c in range(count)]
            read = distinct(self.chooser, lanes, choose(self.chooser, (count, 1, 2)))
            for lane in read:
                self._get(inner, source, [*map(multiple, outer), lane])
            for lane in distinct(self.chooser, lanes, choose(self.chooser, (count, 1, 2))):
                value = self._converted(inner, source.element_type, target.element_type)
                self._put(inner, target, [*map(multiple, outer), lane], value)

    def short_rows(self, scope: Scope) -> None:
        """Rows of few elements one behind the other, all computed alike, also in place."""
        kind, count = self._kind(), choose(self.chooser, (3, 2, 4, 6))
        source, target, factors = (self._array(kind, 1) for _ in range(3))
        target = source if chance(self.chooser, 30) else target
        letter = "f" if is_float(kind) else "i"
        forms = ("column", "row", "updated", "first", "itself", "none")
        steps = [
            (choose(self.chooser, ("mul", "add", "sub")) + letter, choose(self.chooser, forms))
            for _ in range(choose(self.chooser, (2, 1, 3)))
        ]
        with self._loops(scope, 1) as (inner, (i,)):
            columns = [[multiple(i, count).shifted(column)] for column in range(count)]
            first = self._get(inner, source, columns[0])
            for number, place in enumerate(columns):
                value = loaded = self._get(inner, source, place) if number else first
                for operation, form in steps:
                    match form:
                        case "column":
                            other = self._get(inner, factors, [Affine.constant(number)])
                        case "row":
                            other = self._get(inner, factors, [multiple(i)])
                        case "updated":
                            other = self._get(inner, target, place)
                        case "first":
                            other = first
                        case "itself":
                            other = value
                        case _:
                            other = loaded
                    text = f"arith.{operation} {value}, {other} : {kind}"
                    value = self.code.emit(text, kind, inner)
                self._put(inner, target, place, value)

    def pixels(self, scope: Scope) -> None:
        """Sums, averages, products and limits of short integers, in 32 bits and cut to few."""
        short = choose(self.chooser, ("i8", "i8", "i16"))
        sources, target = [self._array(short, 1) for _ in range(2)], self._array(short, 1)
        with self._loops(scope, 1) as (inner, (i,)):
            places = [multiple(i).shifted(each) for each in (0, choose(self.chooser, (0, 1)))]
            loaded = [
                self._get(inner, each, [at]) for each, at in zip(sources, places, strict=True)
            ]
            values = [self._with_offset(inner, value, short, None) for value in loaded]
            for _ in range(choose(self.chooser, (2, 3, 4))):
                constant = self.code.constant(self.chooser.integer(-3, 300), "i32", inner)
                shift = self.code.constant(self.chooser.integer(0, 9), "i32", inner)
                operation, other = choose(
                    self.chooser,
                    (
                        *(("addi", values[0]), ("subi", values[1]), ("addi", constant)),
                        *(("muli", constant), ("minsi", constant), ("maxsi", constant)),
                        *(("shrsi", shift), ("shrui", shift), ("maxui", values[1])),
                    ),
                )
                text = f"arith.{operation} {values[-1]}, {other} : i32"
                values.append(self.code.emit(text, "i32", inner))
            text = f"arith.trunci {values[-1]} : i32 to {short}"
            value = self.code.emit(text, short, inner)
            self._put(inner, target, [multiple(i)], value)

    def clamped(self, scope: Scope) -> None:
        """Taps around an element, at positions that are clamped, mirrored or wrapped around."""
        kind = self._kind()
        source, target = self._array(kind, 2), self._array(kind, 2)
        size = Linear.size(self.memory.size())
        with self._loops(scope, 2, size) as (inner, (i, j)):
            value = self._get(inner, source, [multiple(i), multiple(j)])
            for _ in range(choose(self.chooser, (2, 1, 3))):
                place = [self._at_border(each, size) for each in (i, j)]
                value = self._combined(inner, kind, value, self._get(inner, source, place))
            self._put(inner, target, [multiple(i), multiple(j)], value)

    def diagonal(self, scope: Scope) -> None:
        """Values that a condition on a diagonal chooses, or statements that it guards."""
        kind = self._kind()
        table, sums = self._array(kind, 2), self._array(kind, 1)
        with self._loops(scope, 2) as (inner, (i, j)):
            difference = multiple(i) + multiple(j, choose(self.chooser, (-1, -1, 1)))
            difference = difference.shifted(choose(self.chooser, (0, 0, 1, -1, -3)))
            one = self._get(inner, table, [multiple(i), multiple(j)])
            other = self.code.value(inner, kind, 1)
            value = self._chosen(inner, kind, (difference, (i, j)), one, other)
            place = [multiple(choose(self.chooser, (i, j)))]
            if chance(self.chooser, 50):
                value = self._combined(inner, kind, self._get(inner, sums, place), value)
            self._put(inner, sums, place, value)

    def pairs(self, scope: Scope) -> None:
        """Updates for all pairs but those on a diagonal, also in loops of their own."""
        kind, size = self._kind(), Linear.size(self.memory.size())
        inner_loops = choose(self.chooser, (0, 0, 1))
        points, sums = self._array(kind, 1), self._array(kind, 1 + inner_loops)
        with self._loops(scope, 2, size) as (inner, (i, j)):
            difference = multiple(i) + multiple(j, -1).shifted(choose(self.chooser, (0, 0, 1, -2)))
            is_before = chance(self.chooser, 30)
            value = self._of_pair(inner, kind, points, (i, j)) if is_before else ""
            self.lines += [f"affine.if {affine_set([(difference, '==')])} {{", "} else {"]
            own = inner.inner()
            value = value or self._of_pair(own, kind, points, (i, j))
            for _ in range(choose(self.chooser, (1, 1, 2))):
                with self._loops(own, inner_loops, Linear((), 3)) as (innermost, rest):
                    place = [multiple(each) for each in (choose(self.chooser, (i, i, j)), *rest)]
                    before = self._get(innermost, sums, place)
                    step = choose(self.chooser, (self._combined, self._selected))
                    self._put(innermost, sums, place, step(innermost, kind, before, value))
            self.lines.append("}")

    def lookup(self, scope: Scope) -> None:
        """Rows and elements at subscripts from memory: read, added up, or added to."""
        kind = self._kind()
        table, result = self._array(kind, 2), self._array(kind, choose(self.chooser, (2, 1)))
        rows = Linear.size(self.memory.size())
        lookups = self._lookups(rows)
        scattered = chance(self.chooser, 30)
        with self._loops(scope, 2) as (inner, (i, j)):
            row = self._looked_up(inner, choose(self.chooser, lookups), (i, j))
            column = multiple(j, choose(self.chooser, (1, 1, 2, 3, -1)))
            if chance(self.chooser, 25):
                column = linear(self.chooser, (i, j))
            place = [row, column] if chance(self.chooser, 75) else [column, row]
            target = choose(self.chooser, ([i, j], [i, j], [j, i]))[: result.rank]
            own = [multiple(index) for index in target]
            if scattered:
                table, result, place, own = result, table, own, place
            value = self._get(inner, table, place)
            if chance(self.chooser, 60):
                value = self._combined(inner, kind, self._get(inner, result, own), value)
            self._put(inner, result, own, value)

    def recurrence(self, scope: Scope) -> None:
        """Lines with two recurrences, of which one is the same for all lines, or almost."""
        kind = self._kind()
        shared, own = self._array(kind, 2), self._array(kind, 2)
        line = self._array(kind, 1)
        swapped = chance(self.chooser, 50)
        varied = chance(self.chooser, 20)

        def at(i: Affine, j: Affine) -> list[Affine]:
            return [j, i] if swapped else [i, j]

        with self._steps(scope) as inside, self._loops(inside, 1) as (rows, (index,)):
            i, zero = multiple(index), Affine.constant(0)
            begin = self._get(rows, line, [i if varied else zero])
            self._put(rows, shared, at(i, zero), begin)
            self._put(rows, own, at(i, zero), self.code.constant(1, kind, rows))
            with self._loops(rows, 1, first=1) as (inner, (column,)):
                j = multiple(column)
                before = self._get(inner, shared, at(i, j.shifted(-1)))
                factor = self._get(inner, line, [choose(self.chooser, (j, j, zero))])
                value = self._combined(inner, kind, before, factor)
                self._put(inner, shared, at(i, j), value)
                here = self._get(inner, shared, at(i, j.shifted(choose(self.chooser, (0, -1)))))
                other = self._get(inner, own, at(i, j.shifted(-1)))
                self._put(inner, own, at(i, j), self._combined(inner, kind, here, other))

    def guards(self, scope: Scope) -> None:
        """Statements of which several have the same condition, with others between."""
        kind = self._kind()
        arrays = [self._array(kind, 2) for _ in range(2)]
        with self._loops(scope, 2) as (inner, (i, j)):
            condition = self._condition(inner, kind, (i, j))
            for _ in range(choose(self.chooser, (2, 3))):
                array = choose(self.chooser, arrays)
                value = self._get(inner, choose(self.chooser, arrays), [multiple(i), multiple(j)])
                if guarded := chance(self.chooser, 75):
                    self.lines.append(f"{condition} {{")
                own = inner.inner()
                value = self._combined(own, kind, value, self.code.constant(1, kind, own))
                column = multiple(j).shifted(choose(self.chooser, (0, 0, 1)))
                self._put(own, array, [multiple(i), column], value)
                if guarded:
                    self.lines.append("}")

    def masked(self, scope: Scope) -> None:
        """Stores of which conditions on data leave out some, next to others."""
        kind = self._kind()
        source, target = self._array(kind, 2), self._array(kind, 2)
        with self._loops(scope, 2) as (inner, (i, j)):
            place = [multiple(i), multiple(j, choose(self.chooser, (1, 1, 2, 3)))]
            value = self._get(inner, source, place)
            test = self._test(inner, kind, value)
            for branch in ("}", "} else {"):
                self.lines.append(f"scf.if {test} {{" if branch == "}" else branch)
                shift = choose(self.chooser, (0, 1, 1))
                moved = [place[0], place[1].shifted(shift)]
                own = inner.inner()
                stored = self._combined(own, kind, value, self._get(own, target, moved))
                self._put(own, target, moved, stored)
                if branch == "}" and chance(self.chooser, 50):
                    break
            self.lines.append("}")
            if chance(self.chooser, 30):
                self._put(inner, source, place, value)

    def blocks(self, scope: Scope) -> None:
        """Sums over small blocks of constant size, in registers or in memory."""
        kind = self._kind()
        one, other, sums = self._array(kind, 2), self._array(kind, 2), self._array(kind, 1)
        heights = distinct(self.chooser, BLOCKS, 2)
        operation = "arith.addf" if is_float(kind) else "arith.addi"
        with self._loops(scope, 1) as (outer, (block,)):
            place = [multiple(block)]
            zero = self.code.constant(0, kind, outer)

            def term(inner: Scope, total: str) -> str:
                row, column = inner.indices[-2:]
                where = [multiple(block, heights[0]) + multiple(row), multiple(column)]
                value, second = (self._get(inner, array, where) for array in (one, other))
                value = self._difference(inner, kind, value, second)
                return self.code.emit(f"{operation} {total}, {value} : {kind}", kind, inner)

            if chance(self.chooser, 60):
                self._put(outer, sums, place, self._carried(outer, kind, zero, heights, term))
                return
            self._put(outer, sums, place, zero)
            with (
                self._loops(outer, 1, Linear((), heights[0])) as (rows, _),
                self._loops(rows, 1, Linear((), heights[1])) as (inner, _),
            ):
                total = term(inner, self._get(inner, sums, place))
                self._put(inner, sums, place, total, bounded=False)

    def extrema(self, scope: Scope) -> None:
        """Extrema of rows by comparison, one or two of them, carried or in memory; zeros differ."""
        kind = self._kind()
        rows, found = self._array(kind, 2), [self._array(kind, 1) for _ in range(2)]
        letter = "f" if is_float(kind) else "i"
        with self._loops(scope, 1) as (outer, (i,)):

            def step(inner: Scope, best: str) -> str:
                row, column = (
                    [multiple(i), multiple(inner.indices[-1])],
                    choose(self.chooser, (0, 1)),
                )
                term = self._get(inner, rows, [row[0], row[1].shifted(column)])
                if chance(self.chooser, 50):
                    other = self.code.constant(choose(self.chooser, (-1, 0)), kind, inner)
                    text = f"arith.mul{letter} {term}, {other} : {kind}"
                    term = self.code.emit(text, kind, inner)
                return self._selected(inner, kind, term, best)

            if chance(self.chooser, 50):
                start = self.code.constant(choose(self.chooser, (0, 3, -3)), kind, outer)
                length = choose(self.chooser, (5, 70, 40))
                self._put(
                    outer,
                    found[0],
                    [multiple(i)],
                    self._carried(outer, kind, start, [length], step),
                )
                return
            with self._loops(outer, 1) as (inner, _):
                for array in found[: choose(self.chooser, (1, 2))]:
                    best = step(inner, self._get(inner, array, [multiple(i)]))
                    self.lines.append(self._store(array, [multiple(i)], best))

    def triangles(self, scope: Scope) -> None:
        """Rows of a packed triangle, of which one begins at the product of a loop's variable."""
        kind, length = self._kind(), choose(self.chooser, (5, 12, 20))
        packed, column, sums = (self._array(kind, 1) for _ in range(3))
        size = Linear((), length)
        with (
            self._loops(scope, 1, size) as (outer, (i,)),
            self._loops(outer, 1, size) as (inner, (j,)),
        ):
            two, following, product, first = (self.memory.fresh("q") for _ in range(4))
            self.lines += [
                f"{two} = arith.constant 2 : index",
                f"{following} = affine.apply {affine_map([multiple(i).shifted(1)])}",
                f"{product} = arith.muli {i.name}, {following} : index",
                f"{first} = arith.divsi {product}, {two} : index",
            ]
            row = multiple(Index(first, Linear(), Linear((), length * (length - 1) // 2)))
            value = self._get(inner, packed, [row + multiple(j)])
            value = self._combined(inner, kind, value, self._get(inner, column, [multiple(j)]))
            if chance(self.chooser, 30):
                self._put(inner, packed, [row + multiple(j)], value)
                return
            total = self._combined(inner, kind, value, self._get(inner, sums, [multiple(i)]))
            self._put(inner, sums, [multiple(i)], total)

    def offsets(self, scope: Scope) -> None:
        """Products of short integers less zero points, which stay along the sum, or almost."""
        short = choose(self.chooser, ("i8", "i8", "i16"))
        one, other = self._array(short, 2), self._array(short, 2)
        points, sums = self._array("i32", 1), self._array("i32", 2)
        with self._loops(scope, 3) as (inner, indices):
            i, j, k = map(multiple, choose(self.chooser, (indices, indices, indices[::-1])))
            factors: list[str] = []
            for array, place, row in ((one, [i, k], i), (other, [k, j], j)):
                value = self._get(inner, array, place)
                offset = self.code.constant(self.chooser.integer(-3, 200), "i32", inner)
                if chance(self.chooser, 40):
                    offset = self._get(inner, points, [row if chance(self.chooser, 90) else k])
                has_none = chance(self.chooser, 30)
                factors.append(self._with_offset(inner, value, short, None if has_none else offset))
            product = self.code.emit(f"arith.muli {', '.join(factors)} : i32", "i32", inner)
            before = self._get(inner, sums, [i, j])
            total = self.code.emit(f"arith.addi {before}, {product} : i32", "i32", inner)
            self._put(inner, sums, [i, j], total)


Nest = Callable[[KindNests, Scope], None]

NESTS: tuple[Nest, ...] = (
    *(KindNests.sweep, KindNests.copied_back, KindNests.planes, KindNests.channels),
    *(KindNests.clamped, KindNests.diagonal, KindNests.lookup, KindNests.lookup),
    *(KindNests.recurrence, KindNests.guards, KindNests.masked, KindNests.blocks),
    *(KindNests.offsets, KindNests.short_rows, KindNests.pixels),
)

CHAINS: tuple[Nest, ...] = (
    *(KindNests.chains, KindNests.complex_products, KindNests.borders),
    KindNests.computed_subscripts,
)

LATER = (*NESTS, KindNests.extrema, KindNests.triangles)

NESTS_SINCE: dict[int, tuple[Nest, ...]] = {
    20_000_000: NESTS,
    25_000_000: LATER,
    28_000_000: (*LATER, *[KindNests.pairs] * 4),
    29_000_000: (*LATER, KindNests.pairs, *CHAINS * 4),
    29_500_000: (*LATER, KindNests.pairs, *CHAINS * 2, *TABLES * 6),
}
"""By the first seed of programs that have them: the others stay as they are."""
