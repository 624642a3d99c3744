"""Functions of NumPy that are one expression of their arguments, as Python; never run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false


def var(a, axis=None, keepdims=False):
    return np.mean(
        np.square(np.abs(a - np.mean(a, axis=axis, keepdims=True))), axis=axis, keepdims=keepdims
    )


def std(a, axis=None, keepdims=False):
    return np.sqrt(
        np.mean(
            np.square(np.abs(a - np.mean(a, axis=axis, keepdims=True))),
            axis=axis,
            keepdims=keepdims,
        )
    )


def sample_var(a, axis=None, keepdims=False):
    return np.sum(
        np.square(np.abs(a - np.mean(a, axis=axis, keepdims=True))), axis=axis, keepdims=keepdims
    ) / np.maximum(np.sum(np.clip(a, 1, 1), axis=axis, keepdims=keepdims) - 1, 0)


def sample_std(a, axis=None, keepdims=False):
    return np.sqrt(
        np.sum(
            np.square(np.abs(a - np.mean(a, axis=axis, keepdims=True))),
            axis=axis,
            keepdims=keepdims,
        )
        / np.maximum(np.sum(np.clip(a, 1, 1), axis=axis, keepdims=keepdims) - 1, 0)
    )


def _nanmean(a, axis=None, keepdims=False):
    return np.sum(np.where(a != a, 0, a) * 1.0, axis=axis, keepdims=keepdims) / np.sum(
        np.where(a != a, 0, np.clip(a, 1, 1)), axis=axis, keepdims=keepdims
    )


def _trapezoid(y, *, dx=1.0):
    return np.sum(dx * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


def _bitwise_and(x1, x2):
    return x1 & x2


def _bitwise_or(x1, x2):
    return x1 | x2


def _bitwise_xor(x1, x2):
    return x1 ^ x2


def _left_shift(x1, x2):
    return x1 << x2


def _right_shift(x1, x2):
    return x1 >> x2


def _invert(x):
    return ~x


def _signbit(x):
    return np.copysign(1.0, x) < 0


def _logical_xor(x1, x2):
    return np.where(x1, 1, 0) != np.where(x2, 1, 0)


def _count_nonzero(a, axis=None):
    return np.sum(np.where(a, 1, 0), axis=axis)


def _any(a, axis=None):
    return np.sum(np.where(a, 1, 0), axis=axis) > 0


def _all(a, axis=None):
    return np.sum(np.where(a, 0, 1), axis=axis) == 0


def diff(a):
    return a[..., 1:] - a[..., :-1]


def _ptp(a, axis=None):
    return np.max(a, axis=axis) - np.min(a, axis=axis)


def _average(a, axis=None):
    return np.mean(a, axis=axis)


def _sign(a):
    return np.where(a > 0, 1, np.where(a < 0, -1, np.where(a == 0, 0, a)))


def _heaviside(x1, x2):
    return np.where(x1 < 0, 0, np.where(x1 > 0, 1, np.where(x1 == 0, x2, x1 * 1.0)))


def _nansum(a, axis=None, keepdims=False):
    return np.sum(np.where(a != a, 0, a), axis=axis, keepdims=keepdims)


def _sum_down(a, axis=0, keepdims=False):
    return np.sum(a, axis=axis, keepdims=keepdims)


def _product_down(a, axis=0, keepdims=False):
    return np.prod(a, axis=axis, keepdims=keepdims)


def _maximum_down(a, axis=0, keepdims=False):
    return np.max(a, axis=axis, keepdims=keepdims)


def _minimum_down(a, axis=0, keepdims=False):
    return np.min(a, axis=axis, keepdims=keepdims)


def flip(a):
    return a[::-1]


def flip_both(a):
    return a[::-1, ::-1]


def _rotated(m):
    return m[:, ::-1].T


def _flipud(a):
    return a[::-1]


def fliplr(a):
    return a[:, ::-1]


FORMULAS: dict[Any, Callable[..., Any]] = {
    np.var: var,
    np.std: std,
    np.count_nonzero: _count_nonzero,
    np.any: _any,
    np.all: _all,
    np.diff: diff,
    np.ptp: _ptp,
    np.sign: _sign,
    np.average: _average,
    np.flipud: _flipud,
    np.fliplr: fliplr,
    np.heaviside: _heaviside,
    np.nansum: _nansum,
    np.nanmean: _nanmean,
    np.bitwise_and: _bitwise_and,
    np.bitwise_or: _bitwise_or,
    np.bitwise_xor: _bitwise_xor,
    np.left_shift: _left_shift,
    np.right_shift: _right_shift,
    np.invert: _invert,
    np.logical_xor: _logical_xor,
    np.signbit: _signbit,
    np.rot90: _rotated,
    np.add.reduce: _sum_down,
    np.multiply.reduce: _product_down,
    np.maximum.reduce: _maximum_down,
    np.minimum.reduce: _minimum_down,
}
"""What is replaced by one expression of its arguments."""

if hasattr(np, "trapezoid"):  # of NumPy 2
    FORMULAS[np.trapezoid] = _trapezoid
