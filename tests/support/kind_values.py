"""Values and subscripts in the nests of `random_kinds`."""

from __future__ import annotations

from collections.abc import Sequence

from .choice import chance, choose, distinct
from .kind_parts import KindParts
from .random_expressions import linear, multiple
from .random_memory import ArraySpec, is_float
from .random_values import FLOAT_PREDICATES, INTEGER_PREDICATES, Scope
from .ranges import Affine, Index, Linear, affine_map, affine_set


class KindValues(KindParts):
    """Appends to the lines of `code`, and returns values and subscripts."""

    def _neighbours(self, scope: Scope, plane: ArraySpec, place: Sequence[Affine]) -> str:
        """Elements around a place of the array itself, and at times one of another array."""
        around = [(rows, columns) for rows in (-1, 0, 1) for columns in (-2, -1, 0, 1, 2)]
        chosen = distinct(self.chooser, around, choose(self.chooser, (2, 3, 4, 5)))
        kind = plane.element_type
        other = self._array(kind, 2) if chance(self.chooser, 30) else plane
        value = self._get(scope, other, place)
        for offsets in chosen:
            moved = [each.shifted(offset) for each, offset in zip(place, offsets, strict=True)]
            value = self._combined(scope, kind, value, self._get(scope, plane, moved))
        return value

    def _combined(self, scope: Scope, kind: str, one: str, other: str) -> str:
        names = ("addf", "subf", "maximumf", "minimumf")
        if not is_float(kind):
            names = ("addi", "subi", "maxsi", "minui", "muli", "xori")
        operation = choose(self.chooser, names)
        return self.code.emit(f"arith.{operation} {one}, {other} : {kind}", kind, scope)

    def _difference(self, scope: Scope, kind: str, one: str, other: str) -> str:
        """`abs(one - other)`, its square, or the product."""
        letter = "f" if is_float(kind) else "i"
        form = self.chooser.integer(0, 2)
        operation = "mul" if form == 2 else "sub"
        value = self.code.emit(f"arith.{operation}{letter} {one}, {other} : {kind}", kind, scope)
        if form == 0:
            return self.code.emit(f"math.abs{letter} {value} : {kind}", kind, scope)
        if form == 1:
            return self.code.emit(f"arith.mul{letter} {value}, {value} : {kind}", kind, scope)
        return value

    def _converted(self, scope: Scope, source: str, target: str) -> str:
        """A combination of loaded values, as another type; bytes count without a sign."""
        one, other = (choose(self.chooser, scope.values[source]) for _ in range(2))
        if source == target:
            return self._combined(scope, source, one, other)
        if is_float(source) or is_float(target):
            return self.code.value(scope, target, 1)
        bits = int(source[1:]), int(target[1:])
        if bits[0] > bits[1]:
            value = self._combined(scope, source, one, other)
            return self.code.emit(f"arith.trunci {value} : {source} to {target}", target, scope)
        extension = choose(self.chooser, ("extui", "extui", "extsi"))
        wide = [
            self.code.emit(f"arith.{extension} {each} : {source} to {target}", target, scope)
            for each in (one, other)
        ]
        return self._combined(scope, target, *wide)

    def _with_offset(self, scope: Scope, value: str, kind: str, offset: str | None) -> str:
        """A short integer in 32 bits, less an offset, or with one, or as it is."""
        extension = choose(self.chooser, ("extui", "extsi"))
        wide = self.code.emit(f"arith.{extension} {value} : {kind} to i32", "i32", scope)
        if offset is None:
            return wide
        operation = choose(self.chooser, ("subi", "subi", "addi"))
        return self.code.emit(f"arith.{operation} {wide}, {offset} : i32", "i32", scope)

    def _at_border(self, index: Index, size: Linear) -> Affine:
        """A position near an index that is brought back into an array."""
        forms = (
            KindValues._clamped,
            KindValues._clamped,
            KindValues._mirrored_at,
            KindValues._wrapped,
        )
        return choose(self.chooser, forms)(self, index, size)

    def _wrapped(self, index: Index, size: Linear) -> Affine:
        """`(i + n + c) mod n`, where the grid is periodic."""
        offset = choose(self.chooser, (-1, 1, 0, 2))
        moved = multiple(index).shifted(offset)
        moved = Affine(moved.terms, moved.sizes + (size if offset < 0 else Linear()))
        names = [self.memory.fresh("q") for _ in range(3)]
        for name, value in zip(names, (moved, Affine((), size)), strict=False):
            self.lines.append(f"{name} = affine.apply {affine_map([value])}")
        operation = choose(self.chooser, ("remsi", "remui"))
        self.lines.append(f"{names[2]} = arith.{operation} {names[0]}, {names[1]} : index")
        return multiple(Index(names[2], Linear(), size.shifted(-1)))

    def _mirrored_at(self, index: Index, size: Linear) -> Affine:
        """`x < 0 ? -x : x`, or `x < n ? x : 2 n - 2 - x`."""
        low = chance(self.chooser, 50)
        offset = choose(self.chooser, (1, 2)) * (-1 if low else 1)
        here = multiple(index).shifted(offset)
        mirrored = here * -1 if low else (here * -1).plus(size.shifted(-1) * 2)
        names = [self.memory.fresh("q") for _ in range(4)]
        limit = Affine((), Linear() if low else size)
        for name, value in zip(names, (here, mirrored, limit), strict=False):
            self.lines.append(f"{name} = affine.apply {affine_map([value])}")
        test = self.memory.fresh("c")
        predicate, order = (
            ("slt", (1, 0)) if low else choose(self.chooser, (("slt", (0, 1)), ("sge", (1, 0))))
        )
        self.lines.append(f"{test} = arith.cmpi {predicate}, {names[0]}, {names[2]} : index")
        chosen = [names[k] for k in order]
        self.lines.append(f"{names[3]} = arith.select {test}, {', '.join(chosen)} : index")
        return multiple(Index(names[3], Linear((), -3), size.shifted(3)))

    def _clamped(self, index: Index, size: Linear) -> Affine:
        """`min(i + c, n - 1)` or `max(i - c, 0)`."""
        offset = choose(self.chooser, (-2, -1, 0, 1, 2))
        moved = multiple(index).shifted(offset)
        last = Affine((), size.shifted(-1))
        if offset >= 0:
            low, high = index.low, last.high
            name = self._extremum("min", moved, last)
        else:
            low, high = Linear(), index.high
            name = self._extremum("max", moved, Affine.constant(0))
        return multiple(Index(name, low, high))

    def _extremum(self, operation: str, one: Affine, other: Affine) -> str:
        name = self.memory.fresh("y")
        if chance(self.chooser, 60):
            self.lines.append(f"{name} = affine.{operation} {affine_map([one, other])}")
            return name
        operands = [self.memory.fresh("q") for _ in range(2)]
        for each, value in zip(operands, (one, other), strict=True):
            self.lines.append(f"{each} = affine.apply {affine_map([value])}")
        self.lines.append(f"{name} = arith.{operation}si {', '.join(operands)} : index")
        return name

    def _chosen(
        self,
        scope: Scope,
        kind: str,
        condition: tuple[Affine, tuple[Index, Index]],
        one: str,
        other: str,
    ) -> str:
        """`one` or `other`, by an affine condition, a comparison of indices, or a selection."""
        difference, (i, j) = condition
        sign = choose(self.chooser, ("==", "==", ">="))
        if chance(self.chooser, 60):
            name, test = self.memory.fresh("v"), f"affine.if {affine_set([(difference, sign)])}"
        else:
            name, test = self.memory.fresh("v"), self.memory.fresh("c")
            predicate = choose(self.chooser, ("eq", "ne", "slt"))
            self.lines.append(f"{test} = arith.cmpi {predicate}, {i.name}, {j.name} : index")
            if chance(self.chooser, 50):
                text = f"arith.select {test}, {one}, {other} : {kind}"
                return self.code.emit(text, kind, scope)
            test = f"scf.if {test}"
        dialect = test.partition(".")[0]
        self.lines.append(f"{name} = {test} -> ({kind}) {{")
        self.lines.append(f"{dialect}.yield {one} : {kind}")
        self.lines.append("} else {")
        self.lines.append(f"{dialect}.yield {other} : {kind}")
        self.lines.append("}")
        return scope.add(kind, name)

    def _condition(self, scope: Scope, kind: str, indices: Sequence[Index]) -> str:
        """`affine.if` of indices, or `scf.if` of data."""
        if chance(self.chooser, 30):
            return f"scf.if {self._test(scope, kind, self.code.value(scope, kind, 1))}"
        expression = linear(self.chooser, indices).plus(self.memory.extent() * -1)
        if chance(self.chooser, 50):
            expression = linear(self.chooser, indices).divided("mod", 3).shifted(-1)
        return f"affine.if {affine_set([(expression, choose(self.chooser, ('>=', '==')))])}"

    def _test(self, scope: Scope, kind: str, value: str) -> str:
        """A comparison of a value with a small number."""
        limit = self.code.constant(self.chooser.integer(-2, 2), kind, scope)
        operation, predicates = "arith.cmpi", INTEGER_PREDICATES
        if is_float(kind):
            operation, predicates = "arith.cmpf", FLOAT_PREDICATES
        predicate = choose(self.chooser, predicates)
        return self.code.emit(f"{operation} {predicate}, {value}, {limit} : {kind}", "i1", scope)

    def _selected(self, scope: Scope, kind: str, one: str, other: str) -> str:
        """One of two values, which a comparison of them chooses: operands in any order."""
        operation = "arith.cmpf" if is_float(kind) else "arith.cmpi"
        predicates = (
            ("ogt", "olt", "oge", "ule", "ugt") if is_float(kind) else ("sgt", "slt", "uge")
        )
        compared = ", ".join(choose(self.chooser, ((one, other), (other, one))))
        predicate = choose(self.chooser, predicates)
        test = self.code.emit(f"{operation} {predicate}, {compared} : {kind}", "i1", scope)
        chosen = ", ".join(choose(self.chooser, ((one, other), (other, one))))
        return self.code.emit(f"arith.select {test}, {chosen} : {kind}", kind, scope)

    def _of_pair(
        self, scope: Scope, kind: str, points: ArraySpec, pair: tuple[Index, Index]
    ) -> str:
        """A difference or product of two elements."""
        one, other = (self._get(scope, points, [multiple(index)]) for index in pair)
        return self._difference(scope, kind, one, other)

    def _lookups(self, rows: Linear) -> list[ArraySpec]:
        """Arrays of integers from 0 to `rows`."""
        arrays: list[ArraySpec] = []
        for _ in range(choose(self.chooser, (1, 1, 2))):
            kind = choose(self.chooser, ("i32", "i64"))
            spec = self.memory.new_array(choose(self.chooser, (1, 1, 2)), kind)
            spec.below = rows
            arrays.append(spec)
        return arrays

    def _looked_up(self, scope: Scope, array: ArraySpec, indices: Sequence[Index]) -> Affine:
        """A subscript from memory, as it is, moved, doubled, or with an index added."""
        assert array.below is not None
        order = indices if array.rank == 2 else [choose(self.chooser, (*indices, indices[0]))]
        factor = choose(self.chooser, (1, 1, 2))
        loaded = self._get(scope, array, [multiple(each, factor) for each in order])
        name = self.memory.fresh("g")
        kind = array.element_type
        self.lines.append(f"{name} = arith.index_cast {loaded} : {kind} to index")
        row = multiple(Index(name, Linear(), array.below), choose(self.chooser, (1, 1, 1, 2)))
        if chance(self.chooser, 20):
            row = row + multiple(choose(self.chooser, indices))
        return row.shifted(choose(self.chooser, (0, 0, 1)))
