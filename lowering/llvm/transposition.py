"""In-register transposition of square matrices."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from .emitter import FunctionEmitter
from .types import scalar_type, size_in_bytes
from .values import shuffle_mask

CHUNK_BYTES = 16
"""Processors unpack elements within chunks of so many bytes, and shuffle whole chunks."""


def transpose(emitter: FunctionEmitter, rows: Sequence[ir.Value]) -> list[ir.Value]:
    """The columns of a square matrix; rows and columns are vectors of a power of two of lanes.

    Vectors with more lanes than there are rows hold several matrices, one after the other.

    The number of a row and that of a lane in it are binary numbers. Each stage pairs up rows that
    differ in one digit, and makes that a digit of the lane, in place of one that then tells the two
    results apart: first the digits within a chunk, where processors can unpack two vectors, then
    those of the chunks.
    """
    kind = rows[0].type
    assert isinstance(kind, ir.VectorType)
    digits = len(rows).bit_length() - 1
    inner = min(digits, (CHUNK_BYTES // size_in_bytes(scalar_type(kind))).bit_length() - 1)
    values = list(rows)
    # What the digits of a lane's number mean, lowest first: digits of the column, then of the row.
    lane: list[int | None] = list(range(digits))
    column = [0] * digits
    for stage in range(digits):
        leaves, enters = (inner - 1, stage) if stage < inner else (inner, digits - 1)
        before = list(values)
        for number in range(len(rows)):
            if number >> stage & 1:
                continue
            pair = before[number], before[number | 1 << stage]
            for choice in (0, 1):
                mask = _side_by_side(_mask(digits, leaves, enters, choice), kind.count)
                values[number | choice << stage] = _shuffle(emitter, *pair, mask)
        left = lane.pop(leaves)
        assert left is not None
        column[stage] = left
        lane.insert(enters, None)
    result = list(values)
    for number, value in enumerate(values):
        result[sum((number >> k & 1) << digit for k, digit in enumerate(column))] = value
    return result


def _mask(digits: int, leaves: int, enters: int, choice: int) -> list[int]:
    """For every lane of a result the lane of the pair of vectors, one after the other.

    The digit `enters` of the new lane says from which vector it comes, `choice` is the old digit
    `leaves`, and the others keep their order.
    """
    mask: list[int] = []
    for new in range(1 << digits):
        source = new >> enters & 1
        rest = _without(new, enters)
        old = (rest >> leaves) << (leaves + 1) | choice << leaves | rest & ((1 << leaves) - 1)
        mask.append(source << digits | old)
    return mask


def _side_by_side(mask: Sequence[int], lanes: int) -> list[int]:
    """The mask of a pair of rows, for as many matrices as fill so many lanes."""
    row = len(mask)
    return [
        first + lane % row + (lanes if lane >= row else 0)
        for first in range(0, lanes, row)
        for lane in mask
    ]


def _without(number: int, digit: int) -> int:
    return (number >> (digit + 1)) << digit | number & ((1 << digit) - 1)


def _shuffle(emitter: FunctionEmitter, a: ir.Value, b: ir.Value, mask: Sequence[int]) -> ir.Value:
    return emitter.builder.shuffle_vector(a, b, shuffle_mask(tuple(mask)))
