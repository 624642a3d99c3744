"""Functions of NumPy as Python: loops, and variants of formulas.

These are never run: kernels have their statements, which must be those of the language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .numpy_arrays import ARRAYS, ByRank
from .numpy_formulas import (
    diff,
    flip,
    flip_both,
    fliplr,
    sample_std,
    sample_var,
    std,
    var,
)

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false


def _cumsum(a):
    total = np.full(len(a), np.sum(a[:0]))
    for i in range(len(a)):
        if i > 0:
            total[i] = total[i - 1] + a[i]
        else:
            total[i] = a[i]
    return total


def _cumprod(a):
    product = np.full(len(a), np.prod(a[:0]))
    for i in range(len(a)):
        if i > 0:
            product[i] = product[i - 1] * a[i]
        else:
            product[i] = a[i]
    return product


def _cumsum_of_all(a):
    total = np.full(a.shape[0] * a.shape[1], np.sum(a[:0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            k = i * a.shape[1] + j
            if k > 0:
                total[k] = total[k - 1] + a[i, j]
            else:
                total[k] = a[i, j]
    return total


def _cumprod_of_all(a):
    product = np.full(a.shape[0] * a.shape[1], np.prod(a[:0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            k = i * a.shape[1] + j
            if k > 0:
                product[k] = product[k - 1] * a[i, j]
            else:
                product[k] = a[i, j]
    return product


def _kron(a, b):
    result = np.empty(len(a) * len(b), dtype=np.result_type(a, b))
    for i in range(len(a)):
        for j in range(len(b)):
            result[i * len(b) + j] = a[i] * b[j]
    return result


def _kron_of_matrices(a, b):
    n, m = b.shape
    result = np.empty((a.shape[0] * n, a.shape[1] * m), dtype=np.result_type(a, b))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(n):
                for q in range(m):
                    result[i * n + k, j * m + q] = a[i, j] * b[k, q]
    return result


def _running_maximum(a):
    most = np.copy(a)
    for i in range(1, len(a)):
        most[i] = np.maximum(most[i - 1], a[i])
    return most


def _running_minimum(a):
    least = np.copy(a)
    for i in range(1, len(a)):
        least[i] = np.minimum(least[i - 1], a[i])
    return least


def _argmax(a):
    best = a[0]
    place = np.int64(0)
    for i in range(1, len(a)):
        if (a[i] > best) or (a[i] != a[i] and best == best):
            best = a[i]
            place = np.int64(i)
    return place


def _argmax_of_all(a):
    best = a[0, 0]
    place = np.int64(0)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if (a[i, j] > best) or (a[i, j] != a[i, j] and best == best):
                best = a[i, j]
                place = np.int64(i) * a.shape[1] + j
    return place


def _argmin_of_all(a):
    best = a[0, 0]
    place = np.int64(0)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if (a[i, j] < best) or (a[i, j] != a[i, j] and best == best):
                best = a[i, j]
                place = np.int64(i) * a.shape[1] + j
    return place


def _argmin(a):
    best = a[0]
    place = np.int64(0)
    for i in range(1, len(a)):
        if (a[i] < best) or (a[i] != a[i] and best == best):
            best = a[i]
            place = np.int64(i)
    return place


def _roll(a, shift):
    moved = np.empty(len(a), dtype=np.result_type(a, a))
    for i in range(len(a)):
        moved[i] = a[(i - shift) % len(a)]
    return moved


def _roll_rows(a, shift):
    moved = np.empty_like(a)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            moved[i, j] = a[(i - shift) % len(a), j]
    return moved


def _roll_columns(a, shift):
    moved = np.empty_like(a)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            moved[i, j] = a[i, (j - shift) % a.shape[1]]
    return moved


def _sums_down(a):
    total = np.full(a.shape, np.sum(a[:0]))
    for i in range(len(a)):
        if i > 0:
            total[i, ...] = total[i - 1, ...] + a[i, ...]
        else:
            total[i, ...] = a[i, ...]
    return total


def _sums_across(a):
    total = np.full(a.shape, np.sum(a[:0]))
    for i in range(a.shape[-1]):
        if i > 0:
            total[..., i] = total[..., i - 1] + a[..., i]
        else:
            total[..., i] = a[..., i]
    return total


def _sums_of_second(a):
    total = np.full(a.shape, np.sum(a[:0]))
    for i in range(a.shape[1]):
        if i > 0:
            total[:, i] = total[:, i - 1] + a[:, i]
        else:
            total[:, i] = a[:, i]
    return total


def _products_down(a):
    product = np.full(a.shape, np.prod(a[:0]))
    for i in range(len(a)):
        if i > 0:
            product[i, ...] = product[i - 1, ...] * a[i, ...]
        else:
            product[i, ...] = a[i, ...]
    return product


def _products_across(a):
    product = np.full(a.shape, np.prod(a[:0]))
    for i in range(a.shape[-1]):
        if i > 0:
            product[..., i] = product[..., i - 1] * a[..., i]
        else:
            product[..., i] = a[..., i]
    return product


def _products_of_second(a):
    product = np.full(a.shape, np.prod(a[:0]))
    for i in range(a.shape[1]):
        if i > 0:
            product[:, i] = product[:, i - 1] * a[:, i]
        else:
            product[:, i] = a[:, i]
    return product


def _argmax_of_columns(a):
    places = np.empty(a.shape[1], dtype=np.int64)
    for j in range(a.shape[1]):
        places[j] = np.argmax(a[:, j])
    return places


def _argmax_of_rows(a):
    places = np.empty(len(a), dtype=np.int64)
    for i in range(len(a)):
        places[i] = np.argmax(a[i, :])
    return places


def _argmin_of_columns(a):
    places = np.empty(a.shape[1], dtype=np.int64)
    for j in range(a.shape[1]):
        places[j] = np.argmin(a[:, j])
    return places


def _argmin_of_rows(a):
    places = np.empty(len(a), dtype=np.int64)
    for i in range(len(a)):
        places[i] = np.argmin(a[i, :])
    return places


def _diff_down(a):
    return a[1:] - a[:-1]


def _diff_of_second(a):
    return a[:, 1:] - a[:, :-1]


def _convolved(a, v):
    assert len(a) > 0, "np.convolve takes no empty array"
    assert len(v) > 0, "np.convolve takes no empty array"
    result = np.zeros(len(a) + len(v) - 1, dtype=np.result_type(a, v))
    for i in range(len(a)):
        for j in range(len(v)):
            result[i + j] += a[i] * v[j]
    return result


def _convolved_same(a, v):
    assert len(a) >= len(v)
    both = np.convolve(a, v)
    return both[(len(v) - 1) // 2 : (len(v) - 1) // 2 + len(a)]


def _convolved_valid(a, v):
    assert len(a) >= len(v)
    both = np.convolve(a, v)
    return both[len(v) - 1 : len(a)]


def _gradient(f):
    assert len(f) > 1, "np.gradient takes two points or more"
    result = np.full(len(f), np.mean(f[:0]))
    result[0] = f[1] * 1.0 - f[0] * 1.0
    for i in range(1, len(f) - 1):
        result[i] = (f[i + 1] * 1.0 - f[i - 1] * 1.0) / 2.0
    result[len(f) - 1] = f[len(f) - 1] * 1.0 - f[len(f) - 2] * 1.0
    return result


def _cross(a, b):
    assert len(a) == 3, "np.cross of vectors in space"
    assert len(b) == 3, "np.cross of vectors in space"
    result = np.empty(3, dtype=np.result_type(a, b))
    result[0] = a[1] * b[2] - a[2] * b[1]
    result[1] = a[2] * b[0] - a[0] * b[2]
    result[2] = a[0] * b[1] - a[1] * b[0]
    return result


def _arange(stop):
    values = np.empty(stop, dtype=np.int64)
    for i in range(stop):
        values[i] = i
    return values


def _arange_between(start, stop, step=1):
    values = np.empty(-((start - stop) // step), dtype=np.int64)
    for i in range(-((start - stop) // step)):
        values[i] = start + i * step
    return values


def _linspace(start, stop, num=50):
    values = np.empty(num)
    for i in range(num):
        if i == 0:
            values[i] = start * 1.0
        elif i < num - 1:
            values[i] = i * ((stop - start) / (num - 1)) + start
        else:
            values[i] = stop * 1.0
    return values


_ARGMAX: ByRank = {1: _argmax, 2: _argmax_of_all}
_ARGMIN: ByRank = {1: _argmin, 2: _argmin_of_all}

_CUMSUM: ByRank = {1: _cumsum, 2: _cumsum_of_all}
_CUMPROD: ByRank = {1: _cumprod, 2: _cumprod_of_all}

LOOPS: dict[Any, Callable[..., Any] | ByRank] = {
    **ARRAYS,
    np.cumsum: _CUMSUM,
    np.cumprod: _CUMPROD,
    np.kron: {1: _kron, 2: _kron_of_matrices},
    np.maximum.accumulate: {1: _running_maximum},
    np.minimum.accumulate: {1: _running_minimum},
    np.argmax: _ARGMAX,
    np.argmin: _ARGMIN,
    np.roll: {1: _roll},
    np.arange: _arange,
    np.linspace: _linspace,
    np.convolve: {1: _convolved},
    np.flip: {1: flip, 2: flip_both},
    np.gradient: {1: _gradient},
    np.cross: {1: _cross},
}
"""What is replaced by the statements of a function."""

VARIANTS: dict[Any, tuple[str, int, Mapping[Any, Callable[..., Any] | ByRank]]] = {
    np.roll: (
        "axis",
        2,
        {
            None: {1: _roll},
            0: {1: _roll, 2: _roll_rows},
            1: {2: _roll_columns},
            -1: {1: _roll, 2: _roll_columns},
        },
    ),
    np.cumsum: (
        "axis",
        1,
        {None: _CUMSUM, 0: _sums_down, 1: _sums_of_second, -1: _sums_across},
    ),
    np.cumprod: (
        "axis",
        1,
        {None: _CUMPROD, 0: _products_down, 1: _products_of_second, -1: _products_across},
    ),
    np.argmax: (
        "axis",
        1,
        {
            None: _ARGMAX,
            0: {1: _argmax, 2: _argmax_of_columns},
            1: {2: _argmax_of_rows},
            -1: {1: _argmax, 2: _argmax_of_rows},
        },
    ),
    np.argmin: (
        "axis",
        1,
        {
            None: _ARGMIN,
            0: {1: _argmin, 2: _argmin_of_columns},
            1: {2: _argmin_of_rows},
            -1: {1: _argmin, 2: _argmin_of_rows},
        },
    ),
    np.flip: (
        "axis",
        1,
        {None: {1: flip, 2: flip_both}, 0: flip, 1: {2: fliplr}, -1: {1: flip, 2: fliplr}},
    ),
    np.var: ("ddof", 4, {0: var, 1: sample_var}),
    np.std: ("ddof", 4, {0: std, 1: sample_std}),
    np.diff: ("axis", 2, {0: _diff_down, 1: _diff_of_second, -1: diff}),
    np.convolve: (
        "mode",
        2,
        {"full": {1: _convolved}, "same": {1: _convolved_same}, "valid": {1: _convolved_valid}},
    ),
}
"""The same with an argument that is a literal: its name, its position, and the functions."""

ARANGE_BETWEEN: Callable[..., Any] = _arange_between
"""`np.arange` with a start."""

METHODS: dict[str, Any] = {
    each.__name__: each
    for each in (
        np.var,
        np.std,
        np.cumsum,
        np.cumprod,
        np.argmax,
        np.argmin,
        np.clip,
        np.round,
        np.repeat,
        np.diagonal,
        np.any,
        np.all,
    )
}
