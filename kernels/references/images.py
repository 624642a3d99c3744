"""NumPy versions of the image and neural network kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def mean_of_nine(image: Array, output: Array) -> None:
    """The mean of 3 x 3 pixels of every plane, that is of the last two dimensions."""
    rows = image[..., 2:, :] + image[..., 1:-1, :] + image[..., :-2, :]
    output[..., 1:-1, 1:-1] = (rows[..., :-2] + rows[..., 1:-1] + rows[..., 2:]) / 9.0


def blur(channels: int, width: int, height: int, image: Array, output: Array) -> None:
    """The mean of 3 x 3 pixels of every channel."""
    mean_of_nine(image, output)


def box_blur(
    batch: int, channels: int, width: int, height: int, image: Array, output: Array
) -> None:
    """The mean of 3 x 3 pixels of every channel of every image."""
    mean_of_nine(image, output)


def convolution(
    batch: int,
    features_out: int,
    features_in: int,
    height: int,
    width: int,
    kernel: int,
    src: Array,
    weights: Array,
    bias: Array,
    dst: Array,
) -> None:
    """A direct convolution on a padded input."""
    dst[...] = bias[:, None, None]
    for k_y in range(kernel):
        for k_x in range(kernel):
            window = src[:, :, k_y : k_y + height, k_x : k_x + width]
            for fout in range(features_out):
                for fin in range(features_in):
                    dst[:, fout] += window[:, fin] * weights[fout, fin, k_y, k_x]


def conv_relu(
    batch: int,
    features_out: int,
    features_in: int,
    height: int,
    width: int,
    kernel: int,
    src: Array,
    weights: Array,
    bias: Array,
    conv: Array,
    relu: Array,
) -> None:
    """A direct convolution and its rectification."""
    convolution(batch, features_out, features_in, height, width, kernel, src, weights, bias, conv)
    np.maximum(conv, 0, out=relu)


def cvtcolor(height: int, width: int, src: Array, dst: Array) -> None:
    """From RGB planes to gray."""
    dst[...] = 0.299 * src[0] + 0.587 * src[1] + 0.114 * src[2]


def deriche(
    w: int, h: int, alpha: float, image: Array, output: Array, y1: Array, y2: Array
) -> None:
    """The Deriche filter: recursive passes in both directions along rows, then along columns."""
    k = (1 - np.exp(-alpha)) ** 2 / (1 + 2 * alpha * np.exp(-alpha) - np.exp(2 * alpha))
    decay = np.exp(-alpha)
    forward = (k, k * decay * (alpha - 1))
    backward = (0.0, k * decay * (alpha + 1), -k * decay * decay)
    feedback = (2.0**-alpha, -decay * decay)
    for source, causal, anticausal in ((image.T, y1.T, y2.T), (output, y1, y2)):
        recursive_filter(source, causal, forward, feedback)
        recursive_filter(source[::-1], anticausal[::-1], backward, feedback)
        np.add(y1, y2, out=output)


def recursive_filter(
    source: Array, result: Array, coefficients: tuple[float, ...], feedback: tuple[float, ...]
) -> None:
    """result[t] := sum of coefficients[d] source[t - d] + sum of feedback[d] result[t - 1 - d]."""
    for t in range(len(source)):
        result[t] = sum(c * source[t - d] for d, c in enumerate(coefficients) if d <= t)
        result[t] += sum(f * result[t - 1 - d] for d, f in enumerate(feedback) if d < t)
