"""What the kernels compute, in NumPy; and arguments for them.

Each reference takes the kernel's arguments and changes its arrays in place, as the kernel does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Array = np.ndarray[Any, Any]
Arguments = list[Any]
Random = np.random.Generator


def gemm(_ni: int, _nj: int, _nk: int, alpha: float, beta: float, c: Array, a: Array, b: Array):
    c[:] = beta * c + alpha * (a @ b)


def gemm_arguments(n: int, random: Random) -> Arguments:
    ni, nj, nk = n, n + 2 * (n > 1), max(0, n - 1)
    arrays = [random.random(shape) for shape in ((ni, nj), (ni, nk), (nk, nj))]
    return [ni, nj, nk, 1.5, 1.2, *arrays]


def kernel_2mm(*args: Any):
    alpha, beta, tmp, a, b, c, d = args[4:]
    tmp[:] = alpha * a @ b
    d[:] = beta * d + tmp @ c


def kernel_2mm_arguments(n: int, random: Random) -> Arguments:
    ni, nj, nk, nl = n, n + 1, n + 2, max(0, n - 1)
    shapes = ((ni, nj), (ni, nk), (nk, nj), (nj, nl), (ni, nl))
    return [ni, nj, nk, nl, 1.5, 1.2, *(random.random(shape) for shape in shapes)]


def jacobi_1d(tsteps: int, _n: int, a: Array, b: Array):
    for _ in range(tsteps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def jacobi_1d_arguments(n: int, random: Random) -> Arguments:
    return [5, n, random.random(n), random.random(n)]


def jacobi_2d(tsteps: int, _n: int, a: Array, b: Array):
    for _ in range(tsteps):
        for x, y in ((a, b), (b, a)):
            total = x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1]
            y[1:-1, 1:-1] = 0.2 * total


def jacobi_2d_arguments(n: int, random: Random) -> Arguments:
    return [4, n, random.random((n, n)), random.random((n, n))]


def seidel_2d(tsteps: int, n: int, a: Array):
    for _ in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = a[i - 1 : i + 2, j - 1 : j + 2].sum() / 9.0


def seidel_2d_arguments(n: int, random: Random) -> Arguments:
    return [2, n, random.random((n, n))]


def cholesky(_n: int, a: Array):
    lower = np.linalg.cholesky(np.tril(a) + np.tril(a, -1).T)
    a[:] = np.tril(lower) + np.triu(a, 1)


def cholesky_arguments(n: int, random: Random) -> Arguments:
    b = random.random((n, n))
    return [n, b @ b.T + n * np.eye(n)]


def trisolv(_n: int, lower: Array, x: Array, b: Array):
    x[:] = np.linalg.solve(np.tril(lower), b)


def trisolv_arguments(n: int, random: Random) -> Arguments:
    return [n, random.random((n, n)) + n * np.eye(n), np.zeros(n), random.random(n)]


def correlation(
    m: int, _n: int, float_n: float, data: Array, corr: Array, mean: Array, stddev: Array
):
    mean[:] = data.sum(axis=0) / float_n
    stddev[:] = np.sqrt(((data - mean) ** 2).sum(axis=0) / float_n)
    stddev[stddev <= 0.1] = 1.0
    data[:] = (data - mean) / (np.sqrt(float_n) * stddev)
    corr[:] = data.T @ data
    corr[range(m), range(m)] = 1.0


def correlation_arguments(n: int, random: Random) -> Arguments:
    m, n = max(1, n), n + 3
    return [m, n, float(n), random.random((n, m)), np.zeros((m, m)), np.zeros(m), np.zeros(m)]


def floyd_warshall(n: int, path: Array):
    for k in range(n):
        path[:] = np.minimum(path, path[:, k : k + 1] + path[k : k + 1, :])


def floyd_warshall_arguments(n: int, random: Random) -> Arguments:
    return [n, random.integers(1, 999, (n, n)).astype(np.int32)]


def filter2d(_height: int, _width: int, k: int, src: Array, weights: Array, dst: Array):
    if not dst.size:
        return
    windows = sliding_window_view(src, (k, k))
    dst[:] = np.einsum("ijuv,uv->ij", windows, weights)


def filter2d_arguments(n: int, random: Random) -> Arguments:
    height, width, k = n, n + 3, 3
    shapes = ((height + k - 1, width + k - 1), (k, k), (height, width))
    return [height, width, k, *(random.random(shape, dtype=np.float32) for shape in shapes)]


def box_blur(_batch: int, _channels: int, _width: int, _height: int, img: Array, output: Array):
    windows = sliding_window_view(img, (3, 3), axis=(2, 3)) if min(img.shape[2:]) >= 3 else None
    if windows is not None:
        output[:, :, 1:-1, 1:-1] = windows.sum(axis=(4, 5)) / np.float32(9)


def box_blur_arguments(n: int, random: Random) -> Arguments:
    shape = (2, 1, n, n + 1)
    return [*shape, random.random(shape, dtype=np.float32), np.zeros(shape, np.float32)]


def convolution(*args: Any):
    kernel, src, weights, bias, dst = args[5:]
    if not dst.size:
        return
    windows = sliding_window_view(src, (kernel, kernel), axis=(2, 3))
    dst[:] = np.einsum("nfyxuv,ofuv->noyx", windows, weights) + bias[None, :, None, None]


def convolution_arguments(n: int, random: Random) -> Arguments:
    batch, features_out, features_in, height, width, kernel = 2, 3, 2, n, max(1, n // 2), 3
    sizes = (batch, features_out, features_in, height, width, kernel)
    shapes = (
        (batch, features_in, height + kernel - 1, width + kernel - 1),
        (features_out, features_in, kernel, kernel),
        (features_out,),
        (batch, features_out, height, width),
    )
    return [*sizes, *(random.random(shape, dtype=np.float32) for shape in shapes)]


def erosion(_height: int, _width: int, threshold: int, src: Array, mask: Array, dst: Array):
    mask[:] = np.where(src > threshold, 255, 0)
    dst[:] = 0
    if min(src.shape) >= 3:
        dst[1:-1, 1:-1] = sliding_window_view(mask, (3, 3)).min(axis=(2, 3))


def erosion_arguments(n: int, random: Random) -> Arguments:
    height, width = n, n + 5
    images = [random.integers(0, 256, (height, width)).astype(np.int32) for _ in range(3)]
    return [height, width, 40, *images]


def fixed_point_gray(src: Array, dst: Array):
    dst[:] = (src @ np.array([4899, 9617, 1868], np.int32) + 8192) >> 14


def fixed_point_gray_arguments(n: int, random: Random) -> Arguments:
    src = random.integers(0, 256, (n, n + 2, 3)).astype(np.int32)
    return [src, np.zeros((n, n + 2), np.int32)]
