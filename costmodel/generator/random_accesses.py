"""Random accesses: arrays and subscripts of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from . import distribution
from .program_parts import SYMMETRIC, UNIT, ArraySpec, Dimension, Interval, Loop
from .random_expressions import Code, Value

MOST_SUBSCRIPTS = 4


@dataclass
class Nest:
    """What the statements of one nest have accessed so far."""

    read: set[ArraySpec] = field(default_factory=set[ArraySpec])
    written: set[ArraySpec] = field(default_factory=set[ArraySpec])


@dataclass
class Accesses:
    """The arrays of a program, and loads and stores to them.

    `is_repeated`: the statements run again and again (a time loop). Then every array lies between
    -1 and 1 for good, and all statements must keep to that.
    """

    random: Random
    code: Code
    arrays: list[ArraySpec] = field(default_factory=list[ArraySpec])
    is_repeated: bool = False

    def new_array(self, dimensions: Sequence[Dimension]) -> ArraySpec:
        """A new array, with the next letter as its name."""
        number = len(self.arrays)
        letter = "ABCDEFGHKLMOPQRSUVWXYZ"[number % 22]
        name = letter if number < 22 else f"{letter}{number // 22}"
        interval = SYMMETRIC if self.is_repeated else UNIT
        array = ArraySpec(name, tuple(dimensions), interval)
        self.arrays.append(array)
        return array

    def choose_dimensions(self, loops: Sequence[Loop]) -> tuple[Dimension, ...]:
        """Those of an array that is accessed in all of these loops, as a rule in their order."""
        chosen = list(loops)[-MOST_SUBSCRIPTS:]
        if len(chosen) > 1 and self.random.random() < distribution.PERMUTED_SUBSCRIPTS:
            self.random.shuffle(chosen)
        return tuple(loop.dimension for loop in chosen)

    def target(self, loops: Sequence[Loop], nest: Nest) -> ArraySpec:
        """An array with an element for each iteration of the loops.

        Nothing in the nest has read it: what it computes must not come back to itself.
        """
        dimensions = self.choose_dimensions(loops)
        fitting = [
            array
            for array in self.arrays
            if sorted(d.name for d in array.dimensions) == sorted(d.name for d in dimensions)
            and (self.is_repeated or array not in nest.read)
        ]
        if fitting and self.random.random() < 0.3:
            return self.random.choice(fitting)
        return self.new_array(dimensions)

    def source(self, loops: Sequence[Loop], nest: Nest, unused: Sequence[Loop] = ()) -> ArraySpec:
        """An array to read, most of the time one that is there already.

        As a rule one that has a subscript for an `unused` loop.
        """
        names = {loop.dimension.name for loop in loops}
        fitting = [
            array
            for array in self.arrays
            if {d.name for d in array.dimensions} <= names
            and (self.is_repeated or array not in nest.written)
        ]
        wanted = {loop.dimension for loop in unused}
        if wanted and self.random.random() < distribution.EVERY_LOOP:
            fitting = [array for array in fitting if wanted & {*array.dimensions}]
        written = [array for array in fitting if array.is_written]
        if fitting and self.random.random() < distribution.REUSE_ARRAY:
            return self.random.choice(
                written if written and self.random.random() < 0.6 else fitting
            )
        count = self.random.randint(1, min(len(loops), 3))
        chosen = {*self.random.sample(range(len(loops)), count)}
        if unused:
            chosen.add(loops.index(self.random.choice(unused)))
        return self.new_array(self.choose_dimensions([loops[n] for n in sorted(chosen)]))

    def shaped(
        self,
        dimensions: tuple[Dimension, ...],
        nest: Nest,
        reuse: float,
        other: ArraySpec | None = None,
    ) -> ArraySpec:
        """An array of these dimensions to read, with probability `reuse` one that is there already.

        It is not the `other`.
        """
        fitting = [
            array
            for array in self.arrays
            if array.dimensions == dimensions
            and array is not other
            and (self.is_repeated or array not in nest.written)
        ]
        if fitting and self.random.random() < reuse:
            return self.random.choice(fitting)
        return self.new_array(dimensions)

    def subscripts(
        self,
        array: ArraySpec,
        loops: Sequence[Loop],
        *,
        is_plain: bool = False,
        unused: list[Loop] | None = None,
    ) -> str:
        """One subscript for each dimension, each with a loop over that dimension.

        Plain subscripts are loops and nothing else, every loop at most once where there are enough.
        Loops in `unused` are preferred, and removed from there.
        """
        unused = [] if unused is None else unused
        free = list(loops)
        texts: list[str] = []
        for dimension in array.dimensions:
            loop = self._loop_over(dimension, unused, free, loops)
            for waiting in (free, unused):
                if loop in waiting:
                    waiting.remove(loop)
            texts.append(loop.name if is_plain else self._decorated(loop, loops))
        return ", ".join(texts)

    def _loop_over(self, dimension: Dimension, *pools: Sequence[Loop]) -> Loop:
        """One from the first pool that has any, as a rule the outermost."""
        for pool in pools:
            over = [loop for loop in pool if loop.dimension == dimension]
            if over:
                return over[0] if self.random.random() < 0.7 else self.random.choice(over)
        raise AssertionError(f"no loop over {dimension.name}")

    def _decorated(self, loop: Loop, loops: Sequence[Loop]) -> str:
        """`i`, seldom `i + 1`, `2 * i` or, with the loop of a window, `i + k`."""
        windows = [other for other in loops if other.dimension.constant is not None]
        is_symbolic = loop.dimension.constant is None
        if windows and is_symbolic and self.random.random() < 0.7:
            return f"{loop.name} + {self.random.choice(windows).name}"
        drawn = self.random.random()
        if drawn < distribution.STRIDED_SUBSCRIPTS:
            return f"{loop.name} * 2"
        if drawn < distribution.STRIDED_SUBSCRIPTS + distribution.SHIFTED_SUBSCRIPTS:
            return shifted(loop.name, self.random.randint(-loop.halo, 2))
        return loop.name

    def load(self, array: ArraySpec, subscripts: str, nest: Nest) -> Value:
        """Reads an element."""
        nest.read.add(array)
        text = f"affine.load %{array.name}[{subscripts}] : {self.type(array)}"
        return self.code.emit(text, "load", array.interval)

    def store(self, value: Value, array: ArraySpec, subscripts: str, nest: Nest) -> None:
        """Writes an element; the array holds such values from now on."""
        nest.written.add(array)
        array.is_written = True
        array.interval = array.interval.hull(value.interval)
        self.code.nanoseconds += 0.3
        self.code.lines.append(
            f"affine.store {value.name}, %{array.name}[{subscripts}] : {self.type(array)}"
        )

    def type(self, array: ArraySpec) -> str:
        """The array's memref type."""
        return f"memref<{'?x' * len(array.dimensions)}{self.code.element_type}>"

    def bounded(self, value: Value) -> Value:
        """The value scaled into [-1, 1], where the program repeats itself."""
        if not self.is_repeated or not self.code.is_float or value.interval.magnitude <= 1.0:
            return value
        factor = self.code.constant(0.999 / value.interval.magnitude)
        scaled = self.code.binary("mulf", value, factor)
        return Value(scaled.name, Interval(-1.0, 1.0))


def shifted(loop: str, offset: int) -> str:
    """`i + 1`, `i - 1` or `i`."""
    if offset == 0:
        return loop
    return f"{loop} {'+' if offset > 0 else '-'} {abs(offset)}"
