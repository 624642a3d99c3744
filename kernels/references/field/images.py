"""NumPy versions of the image pipelines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BINOMIAL = (1, 4, 6, 4, 1)


def binomial(image: Array, axis: int, stride: int = 1) -> Array:
    """The sums of five neighbours with binomial weights along an axis, in the image's type."""
    moved = np.moveaxis(image, axis, 0)
    last = len(moved) - 4
    total = sum(weight * moved[k : k + last : stride] for k, weight in enumerate(BINOMIAL))
    return np.moveaxis(np.asarray(total), 0, axis)


def pyramid_down(height: int, width: int, src: Array, half: Array, dst: Array) -> None:
    """A level of a Gaussian pyramid."""
    half[...] = binomial(src, 1, 2) / 16
    dst[...] = binomial(half, 0, 2) / 16


def halve_u8(height: int, width: int, src: Array, dst: Array) -> None:
    """The rounded mean of 2 x 2 pixels."""
    sums = src.reshape(height, 2, width, 2).sum((1, 3), dtype=np.uint16)
    dst[...] = (sums + 2) // 4


def resample_3_to_2(height: int, width: int, src: Array, weights: Array, dst: Array) -> None:
    """Rows resampled from two to three pixels."""
    taps = np.stack([src[:, k : k + 2 * width - 1 : 2] for k in range(4)], 2)
    dst[...] = (taps @ weights.T).reshape(height, -1)


def sobel_u8(height: int, width: int, src: Array, dst: Array) -> None:
    """The magnitude of the gradient."""
    wide = src.astype(np.int16)
    columns = wide[:-2] + 2 * wide[1:-1] + wide[2:]
    rows = wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]
    magnitude = np.abs(columns[:, 2:] - columns[:, :-2]) + np.abs(rows[2:] - rows[:-2])
    dst[...] = np.minimum(magnitude, 255)


def rgb_to_ycbcr(height: int, width: int, rgb: Array, *planes: Array) -> None:
    """From RGB to luma and chroma."""
    weights = np.array([(77, 150, 29), (-43, -85, 128), (128, -107, -21)], np.int32)
    mixed = np.tensordot(weights, rgb.astype(np.int32), (1, 2))
    for plane, values, offset in zip(planes, mixed, (0, 128, 128), strict=True):
        plane[...] = ((values + 128) // 256 + offset).astype(np.uint8)


def blend_rgba(height: int, width: int, top: Array, bottom: Array, dst: Array) -> None:
    """One image over another one."""
    alpha = top[..., 3:].astype(np.uint32)
    mixed = top * alpha + bottom * (255 - alpha)
    # The usual rounded division by 255.
    dst[...] = (2 * mixed + 255) // 510


def harris(height: int, width: int, src: Array, gx: Array, gy: Array, dst: Array) -> None:
    """Harris's corner response."""
    columns = src[:-2] + 2 * src[1:-1] + src[2:]
    rows = src[:, :-2] + 2 * src[:, 1:-1] + src[:, 2:]
    gx[...] = (columns[:, 2:] - columns[:, :-2]) / 8
    gy[...] = (rows[2:] - rows[:-2]) / 8

    def nine(image: Array) -> Array:
        rows = image[:-2] + image[1:-1] + image[2:]
        return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]

    xx, xy, yy = nine(gx * gx), nine(gx * gy), nine(gy * gy)
    dst[...] = xx * yy - xy**2 - np.float32(0.04) * (xx + yy) ** 2


def gaussian5_u8(height: int, width: int, src: Array, rows: Array, dst: Array) -> None:
    """A binomial filter of 5 x 5 taps."""
    rows[...] = binomial(src.astype(np.uint16), 1)
    dst[...] = (binomial(rows.astype(np.uint32), 0) + 128) // 256


def demosaic_u16(height: int, width: int, src: Array, dst: Array) -> None:
    """From a Bayer pattern to RGB: means of the neighbours of a colour, rounded down."""
    wide = src.astype(np.uint32)
    colour = np.empty(src.shape, np.int8)
    colour[1::2, 1::2], colour[0::2, 0::2] = 0, 2
    colour[1::2, 0::2], colour[0::2, 1::2] = 1, 1
    for c in range(3):
        known = np.where(colour == c, wide, 0)
        there = (colour == c).astype(np.uint32)
        sums, counts = np.zeros_like(dst[..., 0], np.uint32), np.zeros(dst.shape[:2], np.uint32)
        for y in range(3):
            for x in range(3):
                # Of the green pixels around a green one, or in its corners, none counts.
                if c == 1 and (y, x) != (1, 1) and y != 1 and x != 1:
                    continue
                window = (slice(y, y + 2 * height), slice(x, x + 2 * width))
                sums += known[window]
                counts += there[window]
        itself = colour[1:-1, 1:-1] == c
        dst[..., c] = np.where(itself, wide[1:-1, 1:-1], sums // np.maximum(counts, 1))


def median3_u8(height: int, width: int, src: Array, dst: Array) -> None:
    """The median of 3 x 3 pixels."""
    windows = [src[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    dst[...] = np.partition(np.stack(windows), 4, axis=0)[4]


def unsharp_mask(height: int, width: int, src: Array, blurred: Array, dst: Array) -> None:
    """Sharpening where the image differs enough from its blurred self."""
    blurred[...] = binomial(src, 1) / 16
    mean = binomial(blurred, 2) / 16
    centre = src[:, 2:-2, 2:-2]
    sharpened = centre + 2 * (centre - mean)
    dst[...] = np.where(np.abs(centre - mean) < np.float32(0.01), centre, sharpened)


REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            *(pyramid_down, halve_u8, resample_3_to_2, sobel_u8, rgb_to_ycbcr, blend_rgba),
            *(harris, gaussian5_u8, demosaic_u16, median3_u8, unsharp_mask),
        )
    }
)
