"""Interleaving of vectors, and its inverse, by shuffles that stay inside of chunks.

Processors shuffle inside of chunks cheaply, and move whole chunks in one operation. Columns are
zipped in pairs while their number is even. An odd number N of columns is coprime to the number of
elements in a chunk, so at each place of a chunk the N results have elements of N different columns:
one permutation of each column, then blends (N * N operations in all).

    a0 a1 a2 a3    permute    a0 a3 a2 a1    blend    a0 b0 c0 a1
    b0 b1 b2 b3      ->       b1 b0 b3 b2     ->      b1 c1 a2 b2
    c0 c1 c2 c3               c2 c1 c0 c3             c2 a3 b3 c3
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(frozen=True)
class Chunks(Generic[V]):
    """Shuffles of vectors of so many chunks of so many elements each, both powers of two.

    `shuffle` makes the vector of some lanes of two vectors, numbered one after the other.
    """

    number: int
    elements: int
    shuffle: Callable[[V, V, Sequence[int]], V]

    @property
    def lanes(self) -> int:
        """Elements of a vector."""
        return self.number * self.elements

    def interleave(self, columns: Sequence[V]) -> list[V]:
        """Vectors that together have lane 0 of all columns, then lane 1, and so on."""
        pieces, count = self._interleaved(columns, 1), len(columns)
        places = [divmod(k, count) for k in range(self.number * count)]
        return [
            self._selected(pieces, [(k, chunk) for chunk, k in places[first : first + self.number]])
            for first in range(0, len(places), self.number)
        ]

    def separate(self, vectors: Sequence[V], wanted: Collection[int]) -> Mapping[int, V]:
        """The wanted ones of as many columns as there are vectors, where these interleave them."""
        count = len(vectors)
        places = [
            [divmod(chunk * count + k, self.number) for chunk in range(self.number)]
            for k in range(count)
        ]
        return self._separated([self._selected(vectors, each) for each in places], 1, wanted)

    def _interleaved(self, columns: Sequence[V], group: int) -> list[V]:
        """Vectors in whose chunks the elements of a chunk of the columns follow each other.

        Chunk 0 of all of them has what chunk 0 of the columns has. `group` elements are one.
        """
        count, width = len(columns), self.elements // group
        if count == 1 or width == 1:
            return list(columns)
        if count % 2 == 0:
            zipped = [lane + side * width for lane in range(width) for side in (0, 1)]
            halves = (
                [
                    self._in_chunks(left, right, half, group)
                    for left, right in zip(columns[::2], columns[1::2], strict=True)
                ]
                for half in (zipped[:width], zipped[width:])
            )
            return [each for half in halves for each in self._interleaved(half, 2 * group)]
        permuted: list[V] = []
        for column, vector in enumerate(columns):
            lanes = [element // count for element in _places(count, width, column)]
            permuted.append(self._in_chunks(vector, vector, lanes, group))
        return [
            self._blended(permuted, [(k * width + place) % count for place in range(width)], group)
            for k in range(count)
        ]

    def _separated(
        self, vectors: Sequence[V], group: int, wanted: Collection[int]
    ) -> Mapping[int, V]:
        """The wanted columns of vectors that `_interleaved` makes."""
        count, width = len(vectors), self.elements // group
        if count == 1 or width == 1:
            return {column: vectors[column] for column in wanted}
        if count % 2 == 0:
            pairs = sorted({column // 2 for column in wanted})
            halves = [
                self._separated(half, 2 * group, pairs)
                for half in (vectors[: count // 2], vectors[count // 2 :])
            ]
            result: dict[int, V] = {}
            for column in wanted:
                low, high = (half[column // 2] for half in halves)
                lanes = range(column % 2, 2 * width, 2)
                result[column] = self._in_chunks(low, high, lanes, group)
            return result
        result = {}
        for column in wanted:
            numbers = [element // width for element in _places(count, width, column)]
            blended = self._blended(vectors, numbers, group)
            lanes = [(lane * count + column) % width for lane in range(width)]
            result[column] = self._in_chunks(blended, blended, lanes, group)
        return result

    def _selected(self, vectors: Sequence[V], places: Sequence[tuple[int, int]]) -> V:
        """A vector of whole chunks: each is the number of a vector, and of one of its chunks."""
        first, *others = dict.fromkeys(number for number, _ in places)
        result = vectors[first]
        where = {k: chunk for k, (number, chunk) in enumerate(places) if number == first}
        if not others:
            return self._moved(result, result, list(where.values()))
        for other in others:
            mine = {k: chunk for k, (number, chunk) in enumerate(places) if number == other}
            chosen = {**where, **{k: self.number + chunk for k, chunk in mine.items()}}
            order = [chosen.get(k, k) for k in range(self.number)]
            result = self._moved(result, vectors[other], order)
            where = {k: k for k in chosen}
        return result

    def _moved(self, left: V, right: V, order: Sequence[int]) -> V:
        """Chunks of two vectors, numbered one after the other."""
        if list(order) == list(range(self.number)):
            return left
        size = self.elements
        return self.shuffle(left, right, [c * size + k for c in order for k in range(size)])

    def _blended(self, vectors: Sequence[V], numbers: Sequence[int], group: int) -> V:
        """In each place of the chunks what the vector of that number has there."""
        width = len(numbers)
        first, *others = dict.fromkeys(numbers)
        result = vectors[first]
        for other in others:
            places = [width + k if number == other else k for k, number in enumerate(numbers)]
            result = self._in_chunks(result, vectors[other], places, group)
        return result

    def _in_chunks(self, left: V, right: V, pattern: Sequence[int], group: int) -> V:
        """In each chunk, groups of elements of the same chunks of two vectors."""
        width = self.elements // group
        if list(pattern) == list(range(width)):
            return left
        lanes = [
            (self.lanes if place >= width else 0)
            + chunk * self.elements
            + place % width * group
            + element
            for chunk in range(self.number)
            for place in pattern
            for element in range(group)
        ]
        return self.shuffle(left, right, lanes)


def _places(count: int, width: int, column: int) -> list[int]:
    """Of a column, the one of `count * width` interleaved elements at each place of a chunk."""
    return [
        next(e for e in range(place, count * width, width) if e % count == column)
        for place in range(width)
    ]
