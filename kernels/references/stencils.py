"""NumPy versions of the stencils."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


def jacobi_1d_sweep(a: Array, b: Array) -> None:
    """Three points of A to the interior of B."""
    b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])


def jacobi_2d_sweep(a: Array, b: Array) -> None:
    """Five points of A to the interior of B."""
    b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])


def heat_3d_sweep(a: Array, b: Array) -> None:
    """Seven points of A to the interior of B."""
    twice = 2.0 * a[1:-1, 1:-1, 1:-1]
    b[1:-1, 1:-1, 1:-1] = (
        0.125 * (a[2:, 1:-1, 1:-1] - twice + a[:-2, 1:-1, 1:-1])
        + 0.125 * (a[1:-1, 2:, 1:-1] - twice + a[1:-1, :-2, 1:-1])
        + 0.125 * (a[1:-1, 1:-1, 2:] - twice + a[1:-1, 1:-1, :-2])
        + a[1:-1, 1:-1, 1:-1]
    )


def seidel_2d_sweep(a: Array) -> None:
    """Nine points of A to the interior of A, in place; along a row only the recurrence is left."""
    for i in range(1, len(a) - 1):
        north, row, south = a[i - 1], a[i], a[i + 1]
        rest = north[:-2] + north[1:-1] + north[2:] + row[1:-1] + row[2:]
        rest += south[:-2] + south[1:-1] + south[2:]
        values = accumulate(
            rest.tolist(), lambda west, others: (west + others) / 9.0, initial=float(row[0])
        )
        row[:-1] = list(values)


def jacobi_1d(tsteps: int, n: int, a: Array, b: Array) -> None:
    """Jacobi smoothing of a line."""
    for _ in range(tsteps):
        jacobi_1d_sweep(a, b)
        jacobi_1d_sweep(b, a)


def jacobi_2d(tsteps: int, n: int, a: Array, b: Array) -> None:
    """Jacobi smoothing of a plane."""
    for _ in range(tsteps):
        jacobi_2d_sweep(a, b)
        jacobi_2d_sweep(b, a)


def heat_3d(tsteps: int, n: int, a: Array, b: Array) -> None:
    """The heat equation in three dimensions."""
    for _ in range(tsteps):
        heat_3d_sweep(a, b)
        heat_3d_sweep(b, a)


def seidel_2d(tsteps: int, n: int, a: Array) -> None:
    """Gauss-Seidel smoothing of a plane."""
    for _ in range(tsteps):
        seidel_2d_sweep(a)


def fdtd_2d(tmax: int, nx: int, ny: int, ex: Array, ey: Array, hz: Array, source: Array) -> None:
    """The finite-difference time-domain method."""
    for t in range(tmax):
        ey[0] = source[t]
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def adi(tsteps: int, n: int, u: Array, v: Array, p: Array, q: Array) -> None:
    """Alternating direction implicit heat diffusion."""
    mul1 = 2.0 * (1.0 / tsteps) / ((1.0 / n) * (1.0 / n))
    mul2 = 1.0 * (1.0 / tsteps) / ((1.0 / n) * (1.0 / n))
    a, b = -mul1 / 2.0, 1.0 + mul1
    d, e = -mul2 / 2.0, 1.0 + mul2
    for _ in range(tsteps):
        adi_sweep(u.T, v.T, p, q, across=d, along=a, diagonal=b)
        adi_sweep(v, u, p, q, across=a, along=d, diagonal=e)


def adi_sweep(
    old: Array, new: Array, p: Array, q: Array, *, across: float, along: float, diagonal: float
) -> None:
    """Solves a tridiagonal system along every inner row of `new`."""
    n = len(old)
    new[1:-1, 0] = 1.0
    p[1:-1, 0] = 0.0
    q[1:-1, 0] = 1.0
    for j in range(1, n - 1):
        denominator = along * p[1:-1, j - 1] + diagonal
        p[1:-1, j] = -along / denominator
        q[1:-1, j] = (
            -across * old[:-2, j]
            + (1.0 + 2.0 * across) * old[1:-1, j]
            - across * old[2:, j]
            - along * q[1:-1, j - 1]
        ) / denominator
    new[1:-1, n - 1] = 1.0
    for j in range(n - 2, 0, -1):
        new[1:-1, j] = p[1:-1, j] * new[1:-1, j + 1] + q[1:-1, j]


def heat2d(height: int, width: int, alpha: float, beta: float, a: Array, out: Array) -> None:
    """One step of the heat equation in two dimensions."""
    neighbours = a[1:-1, 2:] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1]
    out[1:-1, 1:-1] = alpha * a[1:-1, 1:-1] + beta * neighbours


def heat3d(depth: int, height: int, width: int, a: Array, out: Array) -> None:
    """One step of the heat equation in three dimensions."""
    heat_3d_sweep(a, out)


def jacobi2d(height: int, width: int, a: Array, b: Array) -> None:
    """One Jacobi sweep."""
    jacobi_2d_sweep(a, b)


def seidel2d(height: int, width: int, a: Array) -> None:
    """One Gauss-Seidel sweep."""
    seidel_2d_sweep(a)
