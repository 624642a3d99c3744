"""NumPy versions of layers of neural networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def linear_gelu(rows: int, features_in: int, features_out: int, *arrays: Array) -> None:
    """A dense layer and GELU in its tanh form."""
    x, weights, bias, y = arrays
    sums = x @ weights.T + bias
    inner = np.float32((2 / np.pi) ** 0.5) * (sums + np.float32(0.044715) * sums**3)
    y[...] = sums / 2 * (1 + np.tanh(inner))


def layer_norm(rows: int, features: int, x: Array, gamma: Array, beta: Array, y: Array) -> None:
    """Every row with mean 0 and variance 1."""
    mean = x.mean(1, keepdims=True)
    deviation = np.sqrt(x.var(1, keepdims=True) + np.float32(1e-5))
    y[...] = (x - mean) / deviation * gamma + beta


def batch_norm_relu(batch: int, channels: int, pixels: int, *arrays: Array) -> None:
    """Normalisation with given statistics."""
    x, mean, variance, gamma, beta, y = (a[:, None] if a.ndim == 1 else a for a in arrays)
    scale = gamma / np.sqrt(variance + np.float32(1e-5))
    np.maximum((x - mean) * scale + beta, 0, out=y)


def attention_causal(tokens: int, features: int, *arrays: Array) -> None:
    """One attention head; `scores` are left alone."""
    query, key, value, _, y = arrays
    products = query @ key.T / np.float32(8)
    products[np.triu_indices(tokens, 1)] = -np.inf
    weights = np.exp(products - products.max(1, keepdims=True))
    np.matmul(weights / weights.sum(1, keepdims=True), value, out=y)


def sigmoid(x: Array) -> Array:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def swiglu(rows: int, features: int, gate: Array, up: Array, y: Array) -> None:
    """x * sigmoid(x) * up."""
    y[...] = gate * sigmoid(gate) * up


def linear_u8i8(rows: int, features_in: int, features_out: int, *arrays: Array) -> None:
    """A quantised dense layer; floats of 64 bits hold its sums exactly."""
    x, weights, bias, y = arrays
    sums = (x.astype(np.float64) @ weights.T.astype(np.float64)).astype(np.int32) + bias
    y[...] = np.clip((sums * 5 + 8192) >> 14, -128, 127)


def conv2d_i8(height: int, width: int, features_in: int, features_out: int, *arrays: Array) -> None:
    """A quantised 3 x 3 convolution."""
    src, weights, dst = arrays
    windows = np.lib.stride_tricks.sliding_window_view(src.astype(np.float64), (3, 3), (0, 1))
    dst[...] = np.tensordot(windows, weights.astype(np.float64), ((3, 4, 2), (1, 2, 3)))


def lstm_cell(rows: int, hidden: int, sums: Array, cell: Array, y: Array) -> None:
    """The gates of an LSTM cell."""
    add, forget, new, output = (sums[:, gate] for gate in range(4))
    cell[...] = sigmoid(forget) * cell + sigmoid(add) * np.tanh(new)
    y[...] = sigmoid(output) * np.tanh(cell)


def adam_step(n: int, gradient: Array, mean: Array, square: Array, weights: Array) -> None:
    """One step of Adam."""
    mean += np.float32(0.1) * (gradient - mean)
    square += np.float32(0.001) * (gradient**2 - square)
    weights -= np.float32(0.01) * mean / (np.sqrt(square) + np.float32(1e-8))


REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            *(linear_gelu, layer_norm, batch_norm_relu, attention_causal, swiglu, linear_u8i8),
            *(conv2d_i8, lstm_cell, adam_step),
        )
    }
)
