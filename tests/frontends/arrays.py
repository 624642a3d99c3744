"""Kernels with statements on whole arrays and slices, with arguments to check them on."""

from __future__ import annotations

from typing import Any

import numpy as np

from loopwright import f32, f64, i8, i32, i64, u8, u16, u32

from .kernels import Cases, integers

CASES = Cases()


@CASES.add(lambda r: [9, r.random(9), r.random(9)])
def stencil(n: int, A: f64["n"], B: f64["n"]):
    A[1:-1] = 0.5 * (B[:-2] + B[2:])
    A[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3
    B[2::3] = A[: (n - 2 + 2) // 3]
    B[::-1] = A * 2
    A[:] = A[::-1]
    A[3:] -= B[: n - 3]


@CASES.add(lambda r: [8, r.random((8, 8)), r.random(8)])
def overlapping(n: int, A: f64["n", "n"], x: f64["n"]):
    A[1:] = A[:-1]
    A[:-1] = A[1:] * 2
    A += A.T
    A /= A[1, 2]
    A -= A[0]
    A[:, 1:] += A[:, :1] - A[0, 0]
    x[1:] += x[:-1]
    x *= x[n - 1] + 0.5
    A[2:6, 2:6] = A[3:7, 1:5] + x[2:6]


@CASES.add(lambda r: [6, 4, r.random((6, 4)), r.random((4, 6)), r.random((6, 6)), r.random(4)])
def products(n: int, m: int, A: f64["n", "m"], B: f64["m", "n"], C: f64["n", "n"], x: f64["m"]):
    C[:] = A @ B
    C += 0.5 * A @ B
    C -= np.dot(A, B) * 2
    y = A @ x
    x[:] = y @ A + x
    x += np.dot(C[0, :4], A[:4])
    z = np.einsum("ij,j,i->j", A, x, y)
    C[1:, 0] = np.einsum("ii->i", C)[1:] + np.outer(y, z)[1:, 0]
    C += np.outer(y, y) / 7
    C[0, 0] = np.inner(x, z) + np.einsum("ij->", A) + (A @ B @ y)[2]
    A *= np.einsum("ik,kj", A, (B @ A))


@CASES.add(lambda r: [5, 7, r.random((5, 7)) + 0.1, r.random(7), r.random((5, 1))])
def reducing(n: int, m: int, A: f64["n", "m"], x: f64["m"], y: f64["n", 1]):
    A -= A.mean(axis=0)
    x[:] = np.sum(A * A, axis=0) + x
    x /= np.sqrt(np.sum(x * x))
    y[:] = np.max(A, axis=1, keepdims=True) - A.min(axis=-1, keepdims=True)
    A[0] = np.prod(x) + y[0, 0] + np.mean(A) * A.sum()
    total = np.sum(A[1:, 1:]) / np.max(x)
    A[:, 0] = total + np.sum(A)
    for i in range(n):
        A[i, :i] = np.sum(A[i, i:]) + A[i, m - 1]


WEIGHTS = np.array([[0.25, 0.5], [1.5, 2.0]])
STEPS = (1, 2)


@CASES.add(lambda r: [5, r.random((5, 5)), r.random(5).astype(np.float32)])
def tables(n: int, A: f64["n", "n"], x: f32["n"]):
    A[1:] = WEIGHTS[0, 1] * A[:-1] + WEIGHTS[1][-1] - np.trace(A) / np.linalg.norm(A)
    for i in range(0, n - STEPS[-1], STEPS[0]):
        x[i] += x[i + STEPS[1]] * f32(WEIGHTS[1, 0])
    x /= np.linalg.norm(x)
    A[:, 0] = np.linalg.norm(A, axis=1)


@CASES.add(lambda r: [6, r.random((6, 6)) + 6 * np.eye(6), r.random(6)])
def elimination(n: int, A: f64["n", "n"], b: f64["n"]):
    for k in range(n):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    for i in range(n):
        b[i] -= A[i, :i] @ b[:i]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - np.dot(A[i, i + 1 :], b[i + 1 :])) / A[i, i]


@CASES.add(lambda r: [5, r.random((5, 5)), r.random((5, 5)).astype(np.float32)])
def creating(n: int, A: f64["n", "n"], F: f32["n", "n"]):
    ones = np.ones((n, 3))
    full = np.full((2, n), 0.25, dtype=f32)
    like = np.zeros_like(A)
    whole = np.full(n, 2)
    copied = A.copy()
    row = A[1]
    A += 1
    like[:, :3] += ones * row[:3]
    like[:, 3] = copied[:, 0] + whole
    F[:2] = full + F[2:4]
    for k in range(n):
        tail = A[k, k:] * 2
        part = np.empty(n - k)
        part[:] = tail + 1
        A[k, k:] = part + tail
    A += like.T


@CASES.add(lambda r: [7, r.random(7) - 0.5, r.random(7), r.random((7, 7))])
def elementwise(n: int, x: f64["n"], y: f64["n"], A: f64["n", "n"]):
    y[:] = np.sqrt(abs(x)) + np.exp(-x) - np.maximum(x, y) * np.minimum(x, 0.1)
    y += np.where((x > 0) & ~(y > 1) | (x < -0.3), x, -y) + np.clip(x, -0.2, 0.2)
    A[:] = x[:, None] * y + np.where(x < A, A, 0.0)
    A[1:, :] = np.add(A[1:], y) / np.square(y) ** 2
    A[..., 0] = 3
    A[-1, :] = A[0, ::-1] if n > 3 else y
    x[:] = n


@CASES.add(
    lambda r: [6, integers(r, 6, np.int32), integers(r, 6, np.int8), np.zeros(6), r.random(6)]
)
def integral(n: int, K: i32["n"], J: i8["n"], x: f64["n"], y: f64["n"]):
    K += J * 2
    x[:] = K / 4 + J.astype(f64) + np.sum(J) + np.max(K)
    K //= 3
    K[1:] = K[:-1] % 7 + i32(J[1:])
    x += y * K + np.mean(K)
    J[:] = 5


@CASES.add(
    lambda r: [
        r.integers(0, 256, (5, 6)).astype(np.uint8),
        r.integers(0, 2**16, 6).astype(np.uint16),
        r.integers(0, 2**32, 6).astype(np.uint32),
        np.zeros(6),
    ]
)
def unsigned(A: u8["n", "m"], H: u16["m"], W: u32["m"], x: f64["m"]):
    H += A[0]
    A[1:] = (A[1:] >> 1) + A[:-1] // 3 - A[:-1] % 5
    W[:] = W // 7 + W % 11 + (W >> 3) + np.maximum(W, 1 << 31)
    x[:] = W / 3 + np.sum(A, axis=0) + np.where(A[2] > 100, 1, 0)
    H *= 3
    for j in range(len(x)):
        W[j] = W[j] if W[j] > u32(H[j]) else u32(A[0, j]) - 1
        x[j] += f64(H[j]) + f64(i64(W[j]) - 5)


@CASES.add(lambda r: [8, r.random(8), r.random(8), r.random(4)])
def backwards(n: int, A: f64["n"], B: f64["n"], C: f64[4]):
    for k in range(n):
        B[: k + 1] += A[k::-1]
        B[k + 1 :] -= A[:k:-1]
        A[n - 1 : k : -2] = A[k + 1 :: 2] if n == 8 and k < 0 else 1.5
    A[-2:0:-1] += B[1:-1]
    A[6:2:-1] = B[3:7] * 2
    C[:10] = C[::-1] + A[1:5]
    C[-9:2] *= 3
    C[3:20:2] -= C[-3:-7:-2]
    C[3:-9:-1] += C[0] * 2
    A[::-3] += B[::3][::-1]


@CASES.add(lambda r: [4, 3, r.random((4, 3, 5)), r.random((5, 4))])
def views(n: int, m: int, A: f64["n", "m", 5], B: f64[5, "n"]):
    plane = A[:, 1]
    plane[1:, ::2] += 10
    corner = plane[-2:, -3:]
    corner[:] = corner * 2
    B[:] = plane.T + np.transpose(A[:, 2, :])
    B[::-2, 0] = A[0, 0][::2]
    A[...] = A + B[:, None, :].T
    A[:, None, 1] += A[:, :1] * 2


def run_case(name: str, seed: int) -> None:
    """Checks a kernel on arguments."""
    kernel, arguments = CASES.kernels[name]
    given: list[Any] = arguments(np.random.default_rng(seed))
    kernel.check(*given)
