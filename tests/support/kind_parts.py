"""Parts of the nests of `random_kinds`: their arrays, accesses and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .choice import Chooser, chance, choose
from .random_bounds import LOOP_NAMES
from .random_expressions import multiple
from .random_memory import ArraySpec, Memory, bound_text, is_float
from .random_values import Scope, ValueGenerator
from .ranges import Affine, Index, Linear, affine_map

ORIGIN = 3
"""What is added to all subscripts of an array: neighbours keep their distances."""


class KindParts:
    """Appends to the lines of `code`; `deepest` is the depth of the deepest nest."""

    def __init__(self, chooser: Chooser, code: ValueGenerator):
        self.chooser = chooser
        self.code = code
        self.memory: Memory = code.memory
        self.lines = code.lines
        self.deepest = 0

    def _kind(self) -> str:
        return choose(self.chooser, self.memory.element_types)

    def _array(self, kind: str, rank: int) -> ArraySpec:
        """A new array, or one of the same kind that an earlier nest has made."""
        known = [
            spec
            for spec in self.memory.arrays.values()
            if (spec.element_type, spec.rank, spec.origin) == (kind, rank, ORIGIN)
            and not (spec.local or spec.anchors or spec.below)
        ]
        if known and chance(self.chooser, 40):
            return choose(self.chooser, known)
        spec = self.memory.new_array(rank, kind)
        spec.origin = ORIGIN
        return spec

    def _get(self, scope: Scope, array: ArraySpec, place: Sequence[Affine]) -> str:
        dialect, element = self._element(array, place)
        return self.code.emit(f"{dialect}.load {element}", array.element_type, scope)

    def _put(
        self,
        scope: Scope,
        array: ArraySpec,
        place: Sequence[Affine],
        value: str,
        *,
        bounded: bool = True,
    ) -> None:
        """A store; values of recurrences stay small, so that floats are exact."""
        if bounded and is_float(array.element_type):
            value = self.code.clamp(scope, array.element_type, value, 16)
        self.lines.append(self._store(array, place, value))

    def _store(self, array: ArraySpec, place: Sequence[Affine], value: str) -> str:
        dialect, element = self._element(array, place)
        return f"{dialect}.store {value}, {element}"

    def _element(self, array: ArraySpec, place: Sequence[Affine]) -> tuple[str, str]:
        """`%A[...]`, of `affine`, or of `memref` where a subscript is a minimum or from data."""
        placed = self.memory.placed(array, place)
        if all(index.name[1] in LOOP_NAMES for each in placed for index in each.indices()):
            texts = ", ".join(each.text() for each in placed)
            return "affine", f"{array.name}[{texts}] : <{array.name}>"
        names: list[str] = []
        for subscript in placed:
            names.append(self.memory.fresh("q"))
            self.lines.append(f"{names[-1]} = affine.apply {affine_map([subscript])}")
        return "memref", f"{array.name}[{', '.join(names)}] : <{array.name}>"

    @contextmanager
    def _loop(
        self, scope: Scope, low: Affine, high: Affine, step: int = 1
    ) -> Iterator[tuple[Scope, Index]]:
        name = f"%{LOOP_NAMES[scope.depth]}"
        suffix = "" if step == 1 else f" step {step}"
        header = f"affine.for {name} = {bound_text([low], 'max')} to {bound_text([high], 'min')}"
        self.lines.append(f"{header}{suffix} {{")
        index = Index(name, low.low, high.high.shifted(-1))
        inner = scope.inner((*scope.indices, index), deeper=1)
        self.deepest = max(self.deepest, inner.depth)
        yield inner, index
        self.lines.append("}")

    @contextmanager
    def _loops(
        self, scope: Scope, count: int, size: Linear | None = None, first: int = 0
    ) -> Iterator[tuple[Scope, list[Index]]]:
        """Loops around each other, from `first` to an extent."""
        if not count:
            yield scope, []
            return
        extent = Affine((), self.memory.extent() if size is None else size)
        with (
            self._loop(scope, Affine.constant(first), extent) as (inner, index),
            self._loops(inner, count - 1, size, first) as (innermost, indices),
        ):
            yield innermost, [index, *indices]

    def _carried(
        self,
        scope: Scope,
        kind: str,
        start: str,
        extents: Sequence[int],
        step: Callable[[Scope, str], str],
    ) -> str:
        """Loops of constant extents around each other that carry a value; the last value."""
        if not extents:
            return step(scope, start)
        name, carried = f"%{LOOP_NAMES[scope.depth]}", self.memory.fresh("a")
        result = self.memory.fresh("r")
        header = f"{result} = affine.for {name} = 0 to {extents[0]}"
        self.lines.append(f"{header} iter_args({carried} = {start}) -> ({kind}) {{")
        index = Index(name, Linear(), Linear((), extents[0] - 1))
        inner = scope.inner((*scope.indices, index), deeper=1)
        self.deepest = max(self.deepest, inner.depth)
        value = self._carried(inner, kind, carried, extents[1:], step)
        self.lines += [f"affine.yield {value} : {kind}", "}"]
        return result

    @contextmanager
    def _steps(self, scope: Scope) -> Iterator[Scope]:
        """At times a loop around that repeats everything."""
        if not chance(self.chooser, 40):
            yield scope
            return
        with self._loop(scope, Affine.constant(0), self._step_count()) as (inner, _):
            yield inner

    def _step_count(self) -> Affine:
        return Affine.constant(choose(self.chooser, (3, 4, 5)))

    @contextmanager
    def _rows(self, scope: Scope) -> Iterator[tuple[Scope, Index]]:
        low = Affine.constant(choose(self.chooser, (0, 1, 2)))
        extent = Affine((), self.memory.extent())
        with self._loop(scope, low, extent, choose(self.chooser, (1, 1, 1, 2))) as (inner, index):
            yield inner, index

    def _colours(self, count: int) -> Sequence[int | None]:
        """Colours in loops of their own, or None: that of a row follows from its number."""
        return (None,) if count == 1 or chance(self.chooser, 50) else range(count)

    @contextmanager
    def _columns(
        self, scope: Scope, row: Index, colours: int, colour: int | None
    ) -> Iterator[tuple[Scope, Index]]:
        low = Affine.constant(1 + (colour or 0))
        if colours > 1 and colour is None:
            first = multiple(row).shifted(choose(self.chooser, (0, 1)))
            low = first.divided("mod", colours).shifted(choose(self.chooser, (0, 1)))
        high = Affine((), self.memory.extent())
        with self._loop(scope, low, high, colours) as (inner, index):
            yield inner, index

    def _mirrored(self, index: Index, mirrored: bool) -> Affine:
        return Affine(((index, -1),), index.high) if mirrored else multiple(index)
