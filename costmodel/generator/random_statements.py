"""The statements of random programs: assignments, stencils, reductions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from . import distribution
from .distribution import draw
from .program_parts import UNIT, ArraySpec, Loop, ProgramCosts, Work
from .random_accesses import MOST_SUBSCRIPTS, Accesses, Nest, shifted
from .random_expressions import Code, Value

Term = Callable[[Sequence[Loop], Sequence[Loop], Nest, ArraySpec], Value]
"""Makes what a reduction adds up, from all loops, those that are kept, the nest, the target."""

ACCUMULATED = 1e6
"""No accumulation has more steps than this, as far as the bounds of values are concerned."""


@dataclass
class Statements:
    """Appends statements to the code, and records their costs."""

    random: Random
    code: Code
    accesses: Accesses
    statistics: ProgramCosts

    def write(self, pattern: str, loops: Sequence[Loop], nest: Nest) -> None:
        """One statement of the given pattern inside the loops, outermost first."""
        with self._work(loops):
            _WRITERS[pattern](self, loops, nest)

    @contextmanager
    def _work(self, loops: Sequence[Loop]) -> Generator[None]:
        """Notes what the statement that is written inside costs."""
        self.code.nanoseconds = 0.0
        yield
        self.statistics.work.append(Work(tuple(loops), self.code.nanoseconds))

    def assignment(self, loops: Sequence[Loop], nest: Nest) -> None:
        """`X[i, j] = f(A[i, j], B[j], ...)`."""
        target = self.accesses.target(loops, nest)
        operands = self._operands(draw(self.random, distribution.READS), loops, nest, target)
        if self.accesses.is_repeated:
            value = self.code.average(operands)
        else:
            value = self.code.combine(operands)
        subscripts = self.accesses.subscripts(target, loops, is_plain=True)
        self.accesses.store(self.accesses.bounded(value), target, subscripts, nest)

    def _operands(
        self, reads: int, loops: Sequence[Loop], nest: Nest, target: ArraySpec | None = None
    ) -> list[Value]:
        """Array elements, some with functions applied, and a constant or an argument now and then.

        The target of the statement is not among them.
        """
        operands: list[Value] = []
        unused = list(loops)
        for _ in range(reads):
            array = self.accesses.source(loops, nest, unused)
            if array is target:
                array = self.accesses.new_array(array.dimensions)
            subscripts = self.accesses.subscripts(array, loops, unused=unused)
            value = self.accesses.load(array, subscripts, nest)
            if self.code.is_float and self.random.random() < distribution.CALL:
                value = self.code.call(draw(self.random, distribution.CALLS), value)
            operands.append(value)
        if self.random.random() < 0.3:
            operands.append(self._scalar())
        return operands

    def _scalar(self) -> Value:
        if self.random.random() < 0.4:
            return Value("%alpha", UNIT)
        if self.code.is_float:
            return self.code.constant(self.random.choice((0.2, 0.25, 0.5, 1.5, 2.0, 3.0)))
        return self.code.constant(self.random.choice((2, 3, 5, 7)))

    def stencil(self, loops: Sequence[Loop], nest: Nest) -> None:
        """`X[i, j] = mean of A[i + a, j + b]`; in place, X is A."""
        spatial = [loop for loop in loops if loop.halo] or list(loops)
        spatial = spatial[-3:]
        others = [loop for loop in loops if loop not in spatial]
        kept = others[-1:] if self.random.random() < 0.5 else []
        around = [*kept, *spatial]
        dimensions = tuple(loop.dimension for loop in around)
        source = self.accesses.shaped(dimensions, nest, 0.7)
        in_place = self.random.random() < distribution.IN_PLACE
        if in_place and (self.accesses.is_repeated or source not in nest.written):
            target = source
        else:
            target = self.accesses.target(loops, nest)
            if target is source:
                target = self.accesses.new_array(source.dimensions)
        radius = max((loop.halo for loop in spatial), default=0)
        neighbours = self._neighbours(len(spatial), radius)
        operands = [
            self.accesses.load(source, self._neighbour(around, (0,) * len(kept) + offsets), nest)
            for offsets in neighbours
        ]
        if target is not source and self.random.random() < 0.25:
            operands += self._operands(1, loops, nest, target)
        value = self.accesses.bounded(self.code.average(operands))
        here = around if target is source else loops
        subscripts = (
            self._neighbour(here, (0,) * len(here))
            if target is source
            else self.accesses.subscripts(target, loops, is_plain=True)
        )
        self.accesses.store(value, target, subscripts, nest)

    def _neighbour(self, around: Sequence[Loop], offsets: Sequence[int]) -> str:
        return ", ".join(
            shifted(loop.name, offset) for loop, offset in zip(around, offsets, strict=True)
        )

    def _neighbours(self, rank: int, radius: int) -> list[tuple[int, ...]]:
        """Offsets of a star, a box, or some elements of a box."""
        box = list(itertools.product(range(-radius, radius + 1), repeat=rank))
        star = [offsets for offsets in box if sum(map(bool, offsets)) <= 1]
        shape = draw(self.random, distribution.STENCIL_SHAPES)
        if shape == "star":
            return star[: distribution.MOST_READS]
        if shape == "random" or len(box) > distribution.MOST_READS:
            count = self.random.randint(2, min(len(box), 9)) if len(box) > 1 else 1
            return sorted(self.random.sample(box, count))
        return box

    def reduction(self, loops: Sequence[Loop], nest: Nest) -> None:
        """`X[i] += A[i, k] * B[k]`: the target has no subscript for some of the loops."""
        kept = self._kept_loops(loops, distribution.REDUCTION_LOOPS)
        self._reduce(loops, kept, nest, None, self._any_term)

    def contraction(self, loops: Sequence[Loop], nest: Nest) -> None:
        """`X[i, j] += A[i, k] * B[k, j]`: each factor depends on some of the kept loops."""
        kept = self._kept_loops(loops, distribution.CONTRACTED_LOOPS)
        self._reduce(loops, kept, nest, None, self._contracted_term)

    def accumulate(
        self,
        pattern: str,
        loops: Sequence[Loop],
        kept: Sequence[Loop],
        nest: Nest,
        target: ArraySpec,
    ) -> None:
        """A reduction or contraction into what was initialised before, in the `kept` loops."""
        term = self._contracted_term if pattern == "contraction" else self._any_term
        with self._work(loops):
            self._reduce(loops, kept, nest, target, term)

    def _kept_loops(self, loops: Sequence[Loop], counts: Mapping[int, float]) -> list[Loop]:
        """The loops that are not reduced over; `counts`: how many the others are."""
        count = min(draw(self.random, counts), max(1, len(loops) - 1))
        if self.random.random() < distribution.REDUCTION_INNERMOST:
            return list(loops[:-count])
        reduced = self.random.sample(range(len(loops)), count)
        return [loop for position, loop in enumerate(loops) if position not in reduced]

    def _reduce(
        self,
        loops: Sequence[Loop],
        kept: Sequence[Loop],
        nest: Nest,
        target: ArraySpec | None,
        make_term: Term,
    ) -> None:
        """Accumulates into one element per iteration of the `kept` loops."""
        table = (
            distribution.FLOAT_REDUCTIONS if self.code.is_float else distribution.INTEGER_REDUCTIONS
        )
        kind = draw(self.random, table)
        if self.accesses.is_repeated and kind in ("addf", "subf"):
            kind = self.random.choice(("maximumf", "minimumf"))
        if target is None:
            # A full reduction keeps an element per iteration of the outermost loop.
            target = self.accesses.target(kept or loops[:1], nest)
        subscripts = self.accesses.subscripts(target, kept or loops[:1], is_plain=True)
        old = self.accesses.load(target, subscripts, nest)
        term = self.accesses.bounded(make_term(loops, kept, nest, target))
        new = self.code.binary(kind, old, term)
        if kind in ("addf", "subf"):
            term = Value(term.name, term.interval.scaled(ACCUMULATED))
        self.accesses.store(
            Value(new.name, old.interval.hull(term.interval)), target, subscripts, nest
        )

    def _any_term(
        self, loops: Sequence[Loop], kept: Sequence[Loop], nest: Nest, target: ArraySpec
    ) -> Value:
        reads = draw(self.random, {1: 0.25, 2: 0.5, 3: 0.15, 4: 0.07, 6: 0.03})
        operands = self._operands(reads, loops, nest, target)
        is_product = self.random.random() < 0.7
        return self._product_of(operands) if is_product else self.code.combine(operands)

    def _contracted_term(
        self, loops: Sequence[Loop], kept: Sequence[Loop], nest: Nest, target: ArraySpec
    ) -> Value:
        """The product of two arrays, which share the reduced loops, and of a scalar now and then.

        The first two of the kept loops, in any order, are one for each; of the others some are for
        both.
        """
        order = self.random.sample(list(kept), len(kept))
        owners: list[tuple[int, ...]] = [(number,) for number in range(min(2, len(order)))]
        for _ in order[2:]:
            is_shared = self.random.random() < distribution.SHARED_BY_FACTORS
            owners.append((0, 1) if is_shared else (self.random.randrange(2),))
        operands: list[Value] = []
        for factor in range(2):
            own = {loop.name for loop, who in zip(order, owners, strict=True) if factor in who}
            depends = [each for each in loops if each not in kept or each.name in own]
            operands.append(self._factor(depends, nest, target))
        if self.random.random() < distribution.SCALED_CONTRACTION:
            operands.append(self._scalar())
        return self._product_of(operands)

    def _factor(self, loops: Sequence[Loop], nest: Nest, target: ArraySpec) -> Value:
        """An element of an array with a subscript for each of the loops."""
        used = list(loops)[-MOST_SUBSCRIPTS:]
        if self.random.random() < distribution.TRANSPOSED_FACTOR:
            self.random.shuffle(used)
        dimensions = tuple(loop.dimension for loop in used)
        array = self.accesses.shaped(dimensions, nest, distribution.REUSED_FACTOR, target)
        subscripts = self.accesses.subscripts(array, used, is_plain=True)
        return self.accesses.load(array, subscripts, nest)

    def _product_of(self, operands: Sequence[Value]) -> Value:
        operation = "mulf" if self.code.is_float else "muli"
        value = operands[0]
        for operand in operands[1:]:
            value = self.code.binary(operation, value, operand)
        return value

    def initialise(self, kept: Sequence[Loop], nest: Nest) -> ArraySpec:
        """`X[i] = 0` or `X[i] = b[i]`, before a reduction; returns X."""
        with self._work(kept):
            target = self.accesses.target(kept, nest)
            if self.random.random() < 0.6:
                value = self.code.constant(0.0)
            else:
                (value, *_) = self._operands(1, kept, nest, target)
                value = self.accesses.bounded(value)
            subscripts = self.accesses.subscripts(target, kept, is_plain=True)
            self.accesses.store(value, target, subscripts, nest)
        return target


_WRITERS = {
    "assignment": Statements.assignment,
    "stencil": Statements.stencil,
    "reduction": Statements.reduction,
    "contraction": Statements.contraction,
}
