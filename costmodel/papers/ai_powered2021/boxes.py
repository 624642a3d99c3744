"""Integer boxes: products of intervals, and the cardinality of their union."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

Interval = tuple[int, int]
"""First and last integer."""

Box = tuple[Interval, ...]


def union_size(boxes: Iterable[Box]) -> int:
    """How many points lie in at least one of some boxes, which have equally many dimensions."""
    return _size(_outermost(list(dict.fromkeys(boxes))))


def _size(boxes: Sequence[Box]) -> int:
    if len(boxes) == 1:
        size = 1
        for low, high in boxes[0]:
            size *= high - low + 1
        return size
    if not boxes:
        return 0
    if not boxes[0]:
        return 1
    # Between two borders in the first dimension, the same boxes are there all the way.
    borders = sorted({border for (low, high), *_ in boxes for border in (low, high + 1)})
    total = 0
    for start, end in pairwise(borders):
        inside = {box[1:] for box in boxes if box[0][0] <= start and box[0][1] >= end - 1}
        if inside:
            total += (end - start) * _size(_outermost(list(inside)))
    return total


def _outermost(boxes: list[Box]) -> list[Box]:
    """The boxes that are not inside of another one."""
    kept: list[Box] = []
    for number, box in enumerate(boxes):
        if not any(_contains(other, box) for other in kept) and not any(
            _contains(other, box) for other in boxes[number + 1 :]
        ):
            kept.append(box)
    return kept


def _contains(box: Box, other: Box) -> bool:
    for (low, high), (first, last) in zip(box, other, strict=True):
        if first < low or last > high:
            return False
    return True
