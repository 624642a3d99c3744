"""NumPy versions of data movement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def permute(*axes: int) -> Callable[..., None]:
    """A copy with permuted dimensions; sizes come before the two arrays."""

    def run(*arguments: Any) -> None:
        src, dst = arguments[-2:]
        dst[...] = src.transpose(axes)

    return run


def im2col(channels: int, height: int, width: int, src: Array, dst: Array) -> None:
    """The 3 x 3 neighbours of every pixel."""
    windows = np.lib.stride_tricks.sliding_window_view(src, (height, width), (1, 2))
    dst[...] = windows


def records_to_fields(n: int, record: Array, *fields: Array) -> None:
    """From records to arrays."""
    for place, field in enumerate(fields):
        field[...] = record[:, place]


def depth_to_space(channels: int, height: int, width: int, src: Array, dst: Array) -> None:
    """Four channels become 2 x 2 pixels."""
    dst.reshape(channels, height, 2, width, 2)[...] = src.transpose(0, 3, 1, 4, 2)


def pack_channels16(channels: int, height: int, width: int, src: Array, dst: Array) -> None:
    """Blocks of sixteen interleaved channels."""
    for block, packed in enumerate(dst):
        part = src[16 * block : 16 * (block + 1)]
        packed[..., : len(part)] = part.transpose(1, 2, 0)


def rotate90_u16(height: int, width: int, src: Array, dst: Array) -> None:
    """An image turned clockwise."""
    dst[...] = np.rot90(src, -1)


REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        "nchw_to_nhwc": permute(0, 2, 3, 1),
        "transpose_u8": permute(1, 0),
        "planes_to_rgb": permute(1, 2, 0),
        "split_heads": permute(1, 2, 0),
        **{
            function.__name__: function
            for function in (
                *(im2col, records_to_fields, depth_to_space, pack_channels16, rotate90_u16),
            )
        },
    }
)
