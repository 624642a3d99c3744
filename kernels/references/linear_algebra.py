"""NumPy versions of the linear algebra kernels: BLAS-like products and their chains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def gemm(
    ni: int, nj: int, nk: int, alpha: float, beta: float, c: Array, a: Array, b: Array
) -> None:
    """C := alpha A B + beta C."""
    c *= beta
    c += alpha * a @ b


def plain_gemm(m: int, n: int, k: int, c: Array, a: Array, b: Array) -> None:
    """C := C + A B."""
    c += a @ b


def two_products(
    ni: int,
    nj: int,
    nk: int,
    nl: int,
    alpha: float,
    beta: float,
    tmp: Array,
    a: Array,
    b: Array,
    c: Array,
    d: Array,
) -> None:
    """D := alpha A B C + beta D."""
    np.matmul(alpha * a, b, out=tmp)
    d *= beta
    d += tmp @ c


def three_products(
    ni: int,
    nj: int,
    nk: int,
    nl: int,
    nm: int,
    e: Array,
    a: Array,
    b: Array,
    f: Array,
    c: Array,
    d: Array,
    g: Array,
) -> None:
    """G := (A B) (C D)."""
    np.matmul(a, b, out=e)
    np.matmul(c, d, out=f)
    np.matmul(e, f, out=g)


def atax(m: int, n: int, a: Array, x: Array, y: Array, tmp: Array) -> None:
    """y := A^T A x."""
    np.matmul(a, x, out=tmp)
    np.matmul(tmp, a, out=y)


def bicg(m: int, n: int, a: Array, s: Array, q: Array, p: Array, r: Array) -> None:
    """s := r^T A, q := A p."""
    np.matmul(r, a, out=s)
    np.matmul(a, p, out=q)


def doitgen(nr: int, nq: int, np_: int, a: Array, c4: Array, total: Array) -> None:
    """Every row A[r, q] times C4; `total` is left with the last row."""
    a[...] = a @ c4
    total[...] = a[-1, -1]


def mvt(n: int, x1: Array, x2: Array, y_1: Array, y_2: Array, a: Array) -> None:
    """x1 := x1 + A y_1, x2 := x2 + A^T y_2."""
    x1 += a @ y_1
    x2 += y_2 @ a


def gemver(
    n: int,
    alpha: float,
    beta: float,
    a: Array,
    u1: Array,
    v1: Array,
    u2: Array,
    v2: Array,
    w: Array,
    x: Array,
    y: Array,
    z: Array,
) -> None:
    """A := A + u1 v1^T + u2 v2^T, x := x + beta A^T y + z, w := w + alpha A x."""
    a += np.outer(u1, v1)
    a += np.outer(u2, v2)
    x += beta * (y @ a) + z
    w += alpha * (a @ x)


def gesummv(
    n: int, alpha: float, beta: float, a: Array, b: Array, tmp: Array, x: Array, y: Array
) -> None:
    """y := alpha A x + beta B x."""
    np.matmul(a, x, out=tmp)
    y[...] = alpha * tmp + beta * (b @ x)


def symm(m: int, n: int, alpha: float, beta: float, c: Array, a: Array, b: Array) -> None:
    """C := alpha A B + beta C, the lower triangle of the symmetric A given."""
    c *= beta
    c += alpha * (np.tril(a) + np.tril(a, -1).T) @ b


def syrk(n: int, m: int, alpha: float, beta: float, c: Array, a: Array) -> None:
    """C := alpha A A^T + beta C on the lower triangle of C."""
    update_lower(c, beta * c + alpha * (a @ a.T))


def syr2k(n: int, m: int, alpha: float, beta: float, c: Array, a: Array, b: Array) -> None:
    """C := alpha (A B^T + B A^T) + beta C on the lower triangle of C."""
    product = a @ b.T
    update_lower(c, beta * c + alpha * (product + product.T))


def update_lower(c: Array, new: Array) -> None:
    """Assigns the lower triangle of `new` to `c`."""
    np.copyto(c, new, where=np.tri(len(c), dtype=np.bool_))


def trmm(m: int, n: int, alpha: float, a: Array, b: Array) -> None:
    """B := alpha A^T B, A lower triangular with an implied diagonal of ones."""
    b[...] = alpha * (b + np.tril(a, -1).T @ b)
