"""NumPy versions of the convolutions and of pooling: one matrix product for each filter tap."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NINE = tuple(itertools.product(range(3), repeat=2))


def correlate(
    src: Array, weights: Array, shape: tuple[int, ...], stride: int, dilation: int = 1
) -> Array:
    """The sum over input channels and filter taps, [features_out, *shape]."""
    total = np.zeros((len(weights), *shape), src.dtype)
    for tap in itertools.product(*map(range, weights.shape[2:])):
        window = tuple(
            slice(dilation * k, dilation * k + stride * (n - 1) + 1, stride)
            for k, n in zip(tap, shape, strict=True)
        )
        total += np.tensordot(
            weights[(slice(None), slice(None), *tap)], src[(slice(None), *window)], 1
        )
    return total


def conv2d_stride2(
    features_out: int, features_in: int, height: int, width: int, *arrays: Array
) -> None:
    """A 3 x 3 convolution with stride 2."""
    src, weights, bias, dst = arrays
    dst[...] = correlate(src, weights, (height, width), 2) + bias[:, None, None]


def conv2d_deep(
    features_out: int, features_in: int, height: int, width: int, *arrays: Array
) -> None:
    """A 3 x 3 convolution and its rectification."""
    src, weights, bias, dst = arrays
    sums = correlate(src, weights, (height, width), 1) + bias[:, None, None]
    np.maximum(sums, 0, out=dst)


def conv2d_pointwise_nhwc(
    height: int, width: int, features_in: int, features_out: int, *arrays: Array
) -> None:
    """A 1 x 1 convolution."""
    src, weights, dst = arrays
    np.matmul(src, weights, out=dst)


def conv2d_grouped(
    groups: int, features_out: int, features_in: int, height: int, width: int, *arrays: Array
) -> None:
    """A 3 x 3 convolution of each group."""
    src, weights, dst = arrays
    for group in range(groups):
        dst[group] = correlate(src[group], weights[group], (height, width), 1)


def conv2d_depthwise(channels: int, height: int, width: int, *arrays: Array) -> None:
    """A 3 x 3 convolution of each channel."""
    src, weights, dst = arrays
    dst[...] = 0
    for y, x in NINE:
        dst += src[:, y : y + height, x : x + width] * weights[:, y, x, None, None]
    np.clip(dst, 0, 6, out=dst)


def conv2d_depthwise_same(channels: int, height: int, width: int, *arrays: Array) -> None:
    """A 7 x 7 convolution of each channel, with zeros around."""
    src, weights, bias, dst = arrays
    padded = np.pad(src, ((0, 0), (3, 3), (3, 3)))
    dst[...] = bias[:, None, None]
    for y, x in np.ndindex(7, 7):
        dst += padded[:, y : y + height, x : x + width] * weights[:, y, x, None, None]


def conv2d_dilated(
    features_out: int, features_in: int, height: int, width: int, *arrays: Array
) -> None:
    """A 3 x 3 convolution with dilation 2."""
    src, weights, dst = arrays
    dst[...] = correlate(src, weights, (height, width), 1, dilation=2)


def conv1d(features_out: int, features_in: int, length: int, taps: int, *arrays: Array) -> None:
    """A convolution along time."""
    src, weights, bias, dst = arrays
    dst[...] = correlate(src, weights, (length,), 1) + bias[:, None]


def conv3d(
    features_out: int, features_in: int, depth: int, height: int, width: int, *arrays: Array
) -> None:
    """A 3 x 3 x 3 convolution."""
    src, weights, dst = arrays
    dst[...] = correlate(src, weights, (depth, height, width), 1)


def conv2d_transposed(
    features_in: int, features_out: int, height: int, width: int, *arrays: Array
) -> None:
    """A transposed 3 x 3 convolution with stride 2."""
    src, weights, dst = arrays
    dst[...] = 0
    for y, x in NINE:
        window = dst[:, y : y + 2 * height - 1 : 2, x : x + 2 * width - 1 : 2]
        window += np.tensordot(weights[:, :, y, x], src, (0, 0))


def maxpool2_nhwc(height: int, width: int, channels: int, src: Array, dst: Array) -> None:
    """The maximum of 2 x 2 pixels."""
    src.reshape(height, 2, width, 2, channels).max((1, 3), out=dst)


REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            *(conv2d_stride2, conv2d_deep, conv2d_pointwise_nhwc, conv2d_grouped),
            *(conv2d_depthwise, conv2d_dilated, conv1d, conv3d, conv2d_transposed),
            *(conv2d_depthwise_same, maxpool2_nhwc),
        )
    }
)
