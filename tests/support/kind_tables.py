"""Random nests: tables at subscripts that are kept inside, rows of flat numbers, edges, rounding.

Their loops have constant extents, as those of `kind_chains`.
"""

from __future__ import annotations

from .choice import chance, choose
from .kind_chains import LANES, ChainNests
from .random_expressions import multiple
from .random_memory import ArraySpec
from .random_values import Scope
from .ranges import Affine, Index, Linear, affine_set


class TableNests(ChainNests):
    """Appends nests to the lines of `code`."""

    def tables(self, scope: Scope) -> None:
        """Elements at any numbers from memory, which are brought into the table first."""
        kind, columns = self._kind(), Linear((), choose(self.chooser, LANES))
        table, result, numbers = (self._array(each, 1) for each in (kind, kind, "i32"))
        shared = self._array(kind, 1)
        is_scattered, is_handed_on = (chance(self.chooser, each) for each in (20, 50))
        most = choose(self.chooser, (15, 63, 3))
        with (
            self._loops(scope, 1, Linear((), choose(self.chooser, (1, 3)))) as (rows, _),
            self._loops(rows, 1, columns) as (inner, (i,)),
        ):
            place = self._kept_inside(inner, numbers, i, most)
            own = [multiple(i)]
            if is_scattered:
                before = self._get(inner, table, [place])
                value = self._combined(inner, kind, before, self._get(inner, result, own))
                self._put(inner, table, [place], value)
                return
            value = self._get(inner, table, [place])
            if is_handed_on:
                self._put(inner, shared, own, value)
                moved = [multiple(i).shifted(choose(self.chooser, (0, -1)))]
                value = self._combined(inner, kind, value, self._get(inner, shared, moved))
            value = self._combined(inner, kind, value, self._get(inner, result, own))
            self._put(inner, result, own, value)

    def _kept_inside(self, scope: Scope, numbers: ArraySpec, index: Index, most: int) -> Affine:
        """A number from memory, clamped by extrema or comparisons, or its last bits."""
        value = self._get(scope, numbers, [multiple(index)])
        zero, limit = (self.code.constant(each, "i32", scope) for each in (0, most))

        def emit(text: str, kind: str = "i32") -> str:
            return self.code.emit(f"arith.{text} : i32", kind, scope)

        match choose(self.chooser, ("bits", "extrema", "comparisons", "comparisons", "remainder")):
            case "bits":
                value = emit(f"andi {value}, {limit}")
            case "extrema":
                value = emit(f"minsi {emit(f'maxsi {value}, {zero}')}, {limit}")
            case "comparisons":
                above = emit(f"cmpi sgt, {value}, {limit}", "i1")
                value = emit(f"select {above}, {limit}, {value}")
                below = emit(f"cmpi slt, {value}, {zero}", "i1")
                value = emit(f"select {below}, {zero}, {value}")
            case _:
                value = emit(f"remui {value}, {self.code.constant(most + 1, 'i32', scope)}")
        name = self.memory.fresh("g")
        self.lines.append(f"{name} = arith.index_cast {value} : i32 to index")
        return multiple(Index(name, Linear(), Linear((), most)))

    def flattened(self, scope: Scope) -> None:
        """Elements by their number: `A[k / 16, k mod 16]`, also from and to others."""
        kind, width = self._kind(), choose(self.chooser, (16, 8, 5))
        source, target, line = (self._array(kind, each) for each in (2, 2, 1))
        count = Linear((), choose(self.chooser, (96, 70, 200)))
        with self._loops(scope, 1, count) as (inner, (k,)):
            number = multiple(k).shifted(choose(self.chooser, (0, 0, 1)))
            place = [number.divided("floordiv", width), number.divided("mod", width)]
            value = self._get(inner, source, place)
            if chance(self.chooser, 50):
                value = self._combined(inner, kind, value, self._get(inner, line, [multiple(k)]))
            if chance(self.chooser, 40):
                own = place if chance(self.chooser, 70) else place[::-1]
                value = self._combined(inner, kind, value, self._get(inner, target, own))
                self._put(inner, target, own, value)
            else:
                self._put(inner, line, [multiple(k)], value)

    def edges(self, scope: Scope) -> None:
        """Stencils whose first and last iterations read other elements, by `?:` or by extrema."""
        kind = self._kind()
        plane, result = self._array(kind, 2), self._array(kind, 2)
        height, width = (Linear((), choose(self.chooser, each)) for each in ((9, 20), LANES))
        with (
            self._steps(scope) as around,
            self._loops(around, 1, height) as (rows, (i,)),
            self._loops(rows, 1, width) as (inner, (j,)),
        ):
            value = self._get(inner, plane, [multiple(i), multiple(j)])
            for step in (-1, 1):
                for index, size in ((i, height), (j, width)):
                    other = self._beside(inner, plane, (i, j), index, size, step)
                    value = self._combined(inner, kind, value, other)
            self._put(inner, result, [multiple(i), multiple(j)], value)

    def _beside(
        self,
        scope: Scope,
        plane: ArraySpec,
        place: tuple[Index, Index],
        index: Index,
        size: Linear,
        step: int,
    ) -> str:
        """A neighbour, or what stands for it where there is none."""
        here = [multiple(each) for each in place]
        moved = [multiple(each).shifted(step if each is index else 0) for each in place]
        if chance(self.chooser, 30):
            moved = [
                self._clamped(each, size) if each is index else multiple(each) for each in place
            ]
            return self._get(scope, plane, moved)
        kind, name = plane.element_type, self.memory.fresh("v")
        end = multiple(index).plus((size.shifted(-1) if step > 0 else Linear()) * -1)
        self.lines.append(f"{name} = affine.if {affine_set([(end, '==')])} -> ({kind}) {{")
        is_zero = chance(self.chooser, 30)
        own = scope.inner()
        stands = self.code.constant(0, kind, own) if is_zero else self._get(own, plane, here)
        self.lines.extend([f"affine.yield {stands} : {kind}", "} else {"])
        other = self._get(scope.inner(), plane, moved)
        self.lines.extend([f"affine.yield {other} : {kind}", "}"])
        return scope.add(kind, name)

    def rounded(self, scope: Scope) -> None:
        """Halves rounded to integers, and cut to few bits: `(char)lrint(0.5 * x)`."""
        kind = choose(self.chooser, ("f32", "f64"))
        bits = choose(self.chooser, ("i8", "i16", "i32"))
        source, target = self._array(kind, 2), self._array(bits, 2)
        rows, columns = (Linear((), choose(self.chooser, each)) for each in ((3, 9), LANES))
        with (
            self._loops(scope, 1, rows) as (outer, (i,)),
            self._loops(outer, 1, columns) as (inner, (j,)),
        ):
            place = [multiple(i), multiple(j)]
            value = self._get(inner, source, place)
            half = self.code.emit(f"arith.constant 0.5 : {kind}", kind, inner)
            value = self.code.emit(f"arith.mulf {value}, {half} : {kind}", kind, inner)
            value = self.code.clamp(inner, kind, value, 64)
            operation = choose(self.chooser, ("roundeven", "roundeven", "round", "floor"))
            value = self.code.emit(f"math.{operation} {value} : {kind}", kind, inner)
            wide = choose(self.chooser, ("i32", "i64"))
            value = self.code.emit(f"arith.fptosi {value} : {kind} to {wide}", wide, inner)
            if wide != bits:
                value = self.code.emit(f"arith.trunci {value} : {wide} to {bits}", bits, inner)
            if chance(self.chooser, 40):
                value = self._combined(inner, bits, value, self._get(inner, target, place))
            self._put(inner, target, place, value)


TABLES = (TableNests.tables, TableNests.flattened, TableNests.edges, TableNests.rounded)
