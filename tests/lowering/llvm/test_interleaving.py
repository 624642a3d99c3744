"""Interleaved columns and their inverse, on lists: numbers of columns, sizes of chunks."""

from collections.abc import Sequence

import pytest

from loopwright.lowering.llvm.interleaving import Chunks


class Shuffles:
    """Shuffles of lists, and how many there were."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, left: list[int], right: list[int], lanes: Sequence[int]) -> list[int]:
        self.count += 1
        return [(left + right)[lane] for lane in lanes]


@pytest.mark.parametrize("columns", range(2, 9))
@pytest.mark.parametrize(("number", "elements"), [(1, 4), (1, 16), (2, 2), (2, 16), (4, 4)])
def test_columns_come_back(columns: int, number: int, elements: int) -> None:
    chunks = Chunks(number, elements, Shuffles())
    lanes = number * elements
    rows = [[columns * lane + column for lane in range(lanes)] for column in range(columns)]
    stored = chunks.interleave(rows)
    assert [element for vector in stored for element in vector] == list(range(columns * lanes))
    assert chunks.separate(stored, range(columns)) == dict(enumerate(rows))
    assert chunks.separate(stored, [columns - 1]) == {columns - 1: rows[-1]}


@pytest.mark.parametrize(("columns", "most"), [(2, 2), (3, 9), (4, 8), (5, 25), (6, 24), (8, 24)])
def test_shuffles(columns: int, most: int) -> None:
    """An odd number of columns takes its square, an even one a zip and twice its half."""
    shuffles = Shuffles()
    Chunks(1, 16, shuffles).interleave([[column] * 16 for column in range(columns)])
    assert shuffles.count <= most
