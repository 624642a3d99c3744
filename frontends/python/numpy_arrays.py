"""Functions of NumPy that make arrays of others, as Python loops; never run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false


def _eye(rows, columns, k=0):
    result = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            if j - i == k:
                result[i, j] = 1
    return result


def _square_eye(n, k=0):
    return np.eye(n, n, k)


def _diagonal_matrix(v, k=0):
    result = np.zeros((len(v) + abs(k), len(v) + abs(k)), dtype=np.result_type(v, v))
    for i in range(len(v)):
        result[i + max(-k, 0), i + max(k, 0)] = v[i]
    return result


def _diagonal(v, k=0):
    assert v.shape[0] == v.shape[1]
    n = len(v)
    piece = v[max(-k, 0) : n - max(k, 0), max(k, 0) : n - max(-k, 0)]
    return np.broadcast_to(np.einsum("ii->i", piece), (n - abs(k),))


def _fill_diagonal(a, val):
    assert a.shape[0] == a.shape[1]
    np.einsum("ii->i", a[:, : len(a)])[...] = val


def _grids(x, y):
    columns = np.empty((len(y), len(x)), dtype=np.result_type(x, x))
    rows = np.empty((len(y), len(x)), dtype=np.result_type(y, y))
    columns[...] = x
    rows[...] = y[:, None]
    return columns, rows


def _triu(m, k=0):
    rows, columns = m.shape
    kept = np.copy(m)
    for i in range(rows):
        for j in range(columns):
            if j - i < k:
                kept[i, j] = 0
    return kept


def _tril(m, k=0):
    rows, columns = m.shape
    kept = np.copy(m)
    for i in range(rows):
        for j in range(columns):
            if j - i > k:
                kept[i, j] = 0
    return kept


def _same(a):
    return a


def _as_row(a):
    return a[None, :]


def _as_column(a):
    return a[:, None]


def _repeated(a, repeats):
    assert repeats >= 0, "np.repeat takes no negative number"
    result = np.empty(repeats * len(a), dtype=np.result_type(a, a))
    for i in range(len(a)):
        for j in range(repeats):
            result[repeats * i + j] = a[i]
    return result


def _padded(a, top, bottom, left, right, value):
    result = np.full(top + len(a) + bottom, value, dtype=np.result_type(a, a))
    result[top : top + len(a)] = a
    return result


def _padded_matrix(a, top, bottom, left, right, value):
    n, m = a.shape
    result = np.full((top + n + bottom, left + m + right), value, dtype=np.result_type(a, a))
    result[top : top + n, left : left + m] = a
    return result


def _edge_padded(a, top, bottom, left, right):
    n = len(a)
    result = np.empty(top + n + bottom, dtype=np.result_type(a, a))
    result[top : top + n] = a
    result[:top] = a[0]
    result[top + n :] = a[n - 1]
    return result


def _edge_padded_matrix(a, top, bottom, left, right):
    n, m = a.shape
    assert n > 0 or top + bottom == 0, "np.pad has no rows to extend"
    assert m > 0 or left + right == 0, "np.pad has no columns to extend"
    result = np.empty((top + n + bottom, left + m + right), dtype=np.result_type(a, a))
    result[top : top + n, left : left + m] = a
    result[:top, left : left + m] = a[0]
    result[top + n :, left : left + m] = a[n - 1]
    for j in range(left):
        result[:, j] = result[:, left]
    for j in range(right):
        result[:, left + m + j] = result[:, left + m - 1]
    return result


def _mirrored(a, top, bottom, left, right, s):
    n = len(a)
    assert top <= n - s
    assert bottom <= n - s
    result = np.empty(top + n + bottom, dtype=np.result_type(a, a))
    result[top : top + n] = a
    for i in range(top):
        result[i] = a[top - 1 - i + s]
    for i in range(bottom):
        result[top + n + i] = a[n - 1 - i - s]
    return result


def _mirrored_matrix(a, top, bottom, left, right, s):
    n, m = a.shape
    assert top <= n - s
    assert bottom <= n - s
    assert left <= m - s
    assert right <= m - s
    result = np.empty((top + n + bottom, left + m + right), dtype=np.result_type(a, a))
    result[top : top + n, left : left + m] = a
    for i in range(top):
        result[i, left : left + m] = a[top - 1 - i + s]
    for i in range(bottom):
        result[top + n + i, left : left + m] = a[n - 1 - i - s]
    for j in range(left):
        result[:, j] = result[:, 2 * left - 1 - j + s]
    for j in range(right):
        result[:, left + m + j] = result[:, left + m - 1 - j - s]
    return result


def _wrapped(a, top, bottom, left, right):
    n = len(a)
    assert top <= n
    assert bottom <= n
    result = np.empty(top + n + bottom, dtype=np.result_type(a, a))
    result[top : top + n] = a
    result[:top] = a[n - top :]
    result[top + n :] = a[:bottom]
    return result


def _wrapped_matrix(a, top, bottom, left, right):
    n, m = a.shape
    assert top <= n
    assert bottom <= n
    assert left <= m
    assert right <= m
    result = np.empty((top + n + bottom, left + m + right), dtype=np.result_type(a, a))
    result[top : top + n, left : left + m] = a
    result[:top, left : left + m] = a[n - top :]
    result[top + n :, left : left + m] = a[:bottom]
    for j in range(left):
        result[:, j] = result[:, m + j]
    for j in range(right):
        result[:, left + m + j] = result[:, left + j]
    return result


def _interpolated(x, xp, fp):
    n = len(xp)
    assert n == len(fp), "np.interp takes as many values as points"
    assert n > 0, "np.interp takes points"
    result = np.empty(len(x))
    for i in range(len(x)):
        at = np.float64(x[i])
        low = 0
        high = n
        while low < high:
            middle = (low + high) // 2
            if np.float64(xp[middle]) <= at:
                low = middle + 1
            else:
                high = middle
        if at != at:
            result[i] = at
        elif low == 0:
            result[i] = np.float64(fp[0])
        elif low == n or np.float64(xp[low - 1]) == at:
            result[i] = np.float64(fp[low - 1])
        else:
            start = np.float64(xp[low - 1])
            end = np.float64(xp[low])
            first = np.float64(fp[low - 1])
            second = np.float64(fp[low])
            slope = (second - first) / (end - start)
            left = slope * (at - start) + first
            right = slope * (at - end) + second
            both = left if left == left else right
            result[i] = second if both != both and second == first else both
    return result


def _average(weights, a):
    return np.sum((a / 1.0) * (weights / 1.0)) / np.sum(weights / 1.0)


def _average_of_columns(weights, a):
    return np.sum((a[:, :] / 1.0) * (weights[:, None] / 1.0), axis=0) / np.sum(weights / 1.0)


def _average_of_rows(weights, a):
    return np.sum((a[:, :] / 1.0) * (weights / 1.0), axis=1) / np.sum(weights / 1.0)


def _average_down(weights, a):
    return np.sum((a[:, :] / 1.0) * (weights / 1.0), axis=0) / np.sum(weights / 1.0, axis=0)


def _average_across(weights, a):
    return np.sum((a[:, :] / 1.0) * (weights / 1.0), axis=1) / np.sum(weights / 1.0, axis=1)


ByRank = Mapping[int, Callable[..., Any]]
"""Functions by the number of dimensions of their first argument."""

ROWS: ByRank = {1: _as_row, 2: _same}
COLUMNS: ByRank = {1: _as_column, 2: _same}
"""What `np.vstack` and `np.column_stack` make of their parts."""

AVERAGES: Mapping[int | None, ByRank] = {
    None: {1: _average, 2: _average, 3: _average},
    0: {1: _average_of_columns, 2: _average_down},
    1: {1: _average_of_rows, 2: _average_across},
    -1: {1: _average_of_rows, 2: _average_across},
}
"""What `np.average` with weights is, by the axis; the weights are the first argument."""

ARRAYS: dict[Any, Callable[..., Any] | ByRank] = {
    np.eye: _square_eye,
    np.identity: _square_eye,
    np.diag: {1: _diagonal_matrix, 2: _diagonal},
    np.diagonal: {2: _diagonal},
    np.fill_diagonal: {2: _fill_diagonal},
    np.repeat: {1: _repeated},
    np.atleast_2d: ROWS,
    np.interp: {1: _interpolated},
    np.meshgrid: {1: _grids},
    np.triu: {2: _triu},
    np.tril: {2: _tril},
}
"""What is replaced by the statements of a function."""

EYE: Callable[..., Any] = _eye
"""`np.eye` of two extents."""

PADDED: Mapping[str, tuple[ByRank, tuple[int, ...]]] = {
    "constant": ({1: _padded, 2: _padded_matrix}, ()),
    "edge": ({1: _edge_padded, 2: _edge_padded_matrix}, ()),
    "reflect": ({1: _mirrored, 2: _mirrored_matrix}, (1,)),
    "symmetric": ({1: _mirrored, 2: _mirrored_matrix}, (0,)),
    "wrap": ({1: _wrapped, 2: _wrapped_matrix}, ()),
}
"""Modes of `np.pad`, and the arguments behind the widths."""
