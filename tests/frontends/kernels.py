"""Kernels that use each construct of the front end, with arguments to check them on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import loopwright
from loopwright import f32, f64, i8, i16, i32, i64

WEIGHT = 0.3
SHIFT = 2
REFINED = True
TYPED = np.float32(1.5)

Arguments = Callable[[np.random.Generator], list[Any]]


class Cases:
    """Kernels by name, with what makes their arguments."""

    def __init__(self) -> None:
        self.kernels: dict[str, tuple[loopwright.PythonKernel, Arguments]] = {}

    def add(self, arguments: Arguments) -> Callable[[Any], Any]:
        """Registers a kernel."""

        def register(function: Any) -> Any:
            kernel = loopwright.kernel(function)
            self.kernels[function.__name__] = kernel, arguments
            return kernel

        return register


REGISTRY = Cases()
CASES = REGISTRY.kernels
case = REGISTRY.add


def integers(r: np.random.Generator, n: int, kind: Any, bound: int = 100) -> Any:
    return r.integers(-bound, bound, n).astype(kind)


@case(lambda r: [9, 3, r.random(9), r.random(3), np.zeros(7)])
def convolution(n: int, k: int, x: f64["n"], w: f64["k"], y: f64["m"]):
    for i in range(y.shape[0]):
        total = 0.0
        for j in range(len(w)):
            total += x[i + j] * w[j]
        y[i] = total


@case(lambda r: [11, r.random((11, 4))])
def boundary(n: int, A: f64["n", 4]):
    for i in range(n):
        for j in range(4):
            if i == 0 or i == n - 1:
                A[i, j] = 0
            elif 0 < j <= 2 and not i % 3 == 1:  # noqa: SIM201
                A[i, j] *= WEIGHT
            else:
                A[i, j] += SHIFT
    A[-1, -2] = A[0, 1] - 7


@case(lambda r: [13, r.random(13), r.random(13)])
def guarded(n: int, A: f64["n"], B: f64["n"]):
    for i in range(n):
        B[i] = (A[i - 1] if i > 0 else 0.0) + (A[i + 1] if i < n - 1 else A[0])
        B[i] = B[i] if (i > 2 and A[i - 3] > 0.5) or A[i] < 0.2 else -B[i]
        B[i] += 1 if 0.3 < A[i] <= 0.7 else 0
        B[i] *= 3.0 if WEIGHT < 1.0 and not (A[i] > 0.5 or B[i] > 1) else 1e-05


@case(lambda r: [10, integers(r, 10, np.int32), integers(r, 10, np.int32)])
def integer(n: int, A: i32["n"], B: i32["n"]):
    for i in range(n):
        A[i] = A[i] // B[i] + A[i] % B[i] - A[i] // 3 + A[i] % -7 + (i * i) % 5 - i // 2
        B[i] = abs(B[i]) ** 2 & 0xFF | A[i] << 2 ^ A[i] >> 1
        B[i] += ~A[i] + max(A[i], -3, i32(i)) - min(A[i], B[i])
    A[0], A[1] = A[1], A[0]


@case(lambda r: [12, integers(r, 12, np.int8), integers(r, 12, np.int16, 9000), np.zeros(12)])
def narrow(n: int, A: i8["n"], B: i16["n"], C: f64["n"]):
    for i in range(n):
        A[i] = A[i] * 3 + A[i]
        B[i] += A[i] + 200 if False else i16(A[i]) * 5
        C[i] = B[i] * 0.5 + f64(A[i]) / 3 - f64(i64(B[i]) % 7)


@case(lambda r: [8, 0.1, 0.7, r.random((8, 8)).astype(np.float32), r.random(8)])
def single(n: int, alpha: float, beta: f32, A: f32["n", "n"], x: f64["n"]):
    for i in range(n):
        for j in range(n):
            A[i, j] = alpha * A[i, j] + beta * np.sqrt(A[i, j]) + math.exp(A[i, j]) * TYPED
        x[i] = x[i] + f64(A[i, i]) * 0.1
        x[0] = A[i, 0]


@case(lambda r: [7, r.random(7) + 0.1, r.random(7)])
def functions(n: int, A: f64["n"], B: f64["n"]):
    for i in range(n):
        B[i] = math.sin(A[i]) * np.cos(B[i]) + math.tanh(A[i]) - math.log(A[i]) + math.pi
        B[i] += math.pow(A[i], 1.5) + A[i] ** 2 + A[i] ** -0.5 + abs(-A[i]) + math.fabs(B[i])
        B[i] += np.maximum(A[i], 0.5) - np.minimum(A[i], B[i]) + np.square(A[i])
        B[i] += math.floor(A[i] * 10) + int(B[i]) + round(A[i] * 9) + float(i) + np.floor(A[i])
        B[i] = 0.0 if math.isnan(B[i]) else np.where(A[i] > 0.5, B[i], -1.0)


@case(lambda r: [12, r.random((12, 12)), r.random(12)])
def backwards(n: int, U: f64["n", "n"], x: f64["n"]):
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= U[i, j] * x[j]
        x[i] /= U[i, i] + 1
    for i in range(n, 2, -3):
        for j in range(max(0, i - 4), min(n, i + 2, 9), 2):
            U[i - 1, j] = i * 10 + j


@case(lambda r: [9, r.random((9, 9)), np.zeros(9), np.zeros(9)])
def scalars(n: int, A: f64["n", "n"], least: f64["n"], most: f64["n"]):
    half = n // 2
    for i in range(n):
        low = A[i, 0]
        high, count = low, 0
        for j in range(1, n):
            low = min(low, A[i, j])
            high = max(A[i, j], high)
            count += 1
        least[i] = low + count
        most[i] = high if i < half else high / count
    if REFINED:
        last = least[n - 1]
        least[half] = last


@case(lambda r: [10, r.random((10, 10))])
def duplicated(n: int, A: f64["n", "n"]):
    for i in range(n):
        for j in range(n):
            if i < j - 1 or i > j + 1:
                s = A[i, j]
                s += 1.0
                A[i, j] = s
            else:
                s = 2.0
                s *= A[j, i]
                A[i, j] = s


@case(lambda r: [6, r.random((6, 6, 6)), r.random((6, 6))])
def nested(n: int, A: f64["n", "n", "n"], C: f64["n", "n"]):
    for i in range(n):
        for j in range(i, n):
            for k in range(j, min(j + 3, n)):
                if i != j:
                    C[i][j] += A[i, j, k] if k > i else 2 * A[k, j, i]
    for i in range(n):
        C[i, (i + 1) % 3] = C[(n - 1 - i) // 2, i]


@case(lambda r: [7, r.random((7, 5)), r.random(7)])
def allocating(n: int, A: f64["n", "m"], x: f64["n"]):
    sums = np.zeros(n)
    pairs = np.zeros((n - 1, 3), dtype=i32)
    rows = np.empty((4, A.shape[1]), np.float32)
    one = np.zeros(())
    for i in range(n):
        for j in range(A.shape[1]):
            sums[i] += A[i, j]
            rows[i % 4, j] = f32(A[i, j])
            one[()] += f64(rows[i % 4, j]) + sums[-1]
    for i in range(len(sums) - 1):
        pairs[i, 1] += i32(sums[i] * 10)
        x[i] = f64(pairs[i, 1] + pairs[i, -1]) + one[()]
