"""Names for views of arrays: stores through them, and later stores to the array, are seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright.dialects.errors import SourceError


def diagonal(a: Any, x: Any, z: Any) -> Any:
    d, above, below = np.diag(a), np.diag(a, 1), a.diagonal(-2)
    a[...] = a + 1
    for i in range(a.shape[0]):
        a[i, i] = x[i] * 2
    return d * 1, above * 1, below[1:].sum(), np.diagonal(a) + 1


def relabelled(a: Any, x: Any, z: Any) -> Any:
    d, t = np.einsum("ii->i", a), np.einsum("ij->ji", a)
    d += x
    t[0, 1] = 7.0
    d[2] = 3.0
    d[d > 0.5] = 0.25
    t[1:, 0] *= 2
    d[:] = d[::-1]
    np.einsum("ii->i", a)[1:] -= 1.0
    return d * 1, t + 1


def transposed_copies(a: Any, x: Any, z: Any) -> Any:
    b, c = np.transpose(a.copy()), a.copy().swapaxes(0, 1)
    b[0, 1] = 5.0
    a[1, 2] = 7.0
    return b * 2, c + 1, np.transpose(a.copy())[0] * 1, a.copy().transpose() + a.T


def filled(a: Any, x: Any, z: Any) -> Any:
    np.fill_diagonal(a, 3.0)
    np.fill_diagonal(a[1:, 1:].T, x[1:])


def parts(a: Any, x: Any, z: Any) -> Any:
    r, i = z.real, z.imag
    r[...] = x
    i += r * 2
    for k in range(z.shape[0]):
        if x[k] > 0.5:
            r[k] = i[k] - x[k]
    z.real[1] = 5.0
    z.imag = np.roll(x, 1)
    z.real *= 2
    z[2:].real[::2] = 1.5
    place = np.argmax(x)
    z.real[place] = 0.5
    return r * 1, i + 1, np.real(z)[1:] * 2, z.real.sum(), (z * z).imag[1:] + 0


def axes(a: Any, x: Any, z: Any) -> Any:
    s, t, u = np.swapaxes(a, 0, 1), a.transpose(1, 0), np.transpose(a, (1, 0))
    s[0, 3] = 9
    t[1, 2] = 8
    u[2, 1] = 4
    y, b = np.asarray(x), np.broadcast_to(x, a.shape)
    y[0] = 4.0
    return s * 1, b + a


def _stores(v: Any) -> Any:
    v[0] = 77.0
    return v[1]


def copies(a: Any, x: Any, z: Any) -> Any:
    """What is stored to them is in no other array."""
    u, v = x.copy(), np.copy(a)
    u[0] = 5.0
    v[1] = 2.0
    w = x.copy()[1:]
    w[0] = 9.0
    t = a.copy().T
    t[3] = 4.0
    return _stores(x.copy()), _stores(np.conj(x)), u, v, w, t


def conjugates(a: Any, x: Any, z: Any) -> Any:
    """The conjugate of real numbers is the array itself as a method, and a copy as a function."""
    u, v, w = x.conj(), np.conj(a), z.conj()
    u[0] = 5.0
    v[0] = 3.0
    w[1] = 2.0
    return u * 1, v, w


@pytest.mark.parametrize(
    "function", [diagonal, relabelled, transposed_copies, filled, parts, axes, copies, conjugates]
)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_stores_are_seen(function: Callable[..., Any], kind: Any) -> None:
    random = np.random.default_rng(2)
    a, x = random.random((6, 6)).astype(kind), random.random(6).astype(kind)
    arrays = (a, x, a[0] + 1j * x)
    given = [each.copy() for each in arrays]
    expected, found = function(*arrays), loopwright.kernel(function)(*given)
    for mine, its in zip(given, arrays, strict=True):
        np.testing.assert_array_equal(mine, its)
    for mine, its in zip(found or (), expected or (), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-6)


REFUSED = {
    "d = np.diag(a); d[0] = 1.0": r"'d\[0\]' is read-only in NumPy",
    "d = np.broadcast_to(x, a.shape); d += 1.0": "'d' is read-only in NumPy",
    "y = x if n > 3 else a[0]": "a name for one of two arrays, which a condition chooses",
    "y = (x if x[0] > 0.5 else a[0])[1:]": "a name for one of two arrays",
    "y = x; y.real = 1.0; x[0].real = 1.0": r"'x\[0\]\.real' cannot be assigned to",
}


@pytest.mark.parametrize("statements", REFUSED)
def test_what_is_refused(statements: str, tmp_path: Path) -> None:
    text = (
        "import loopwright\nimport numpy as np\n@loopwright.kernel\n"
        f"def f(a, x, n: int):\n    {statements}\n"
    )
    kernel = load_source(text, tmp_path, "refused").f
    with pytest.raises(SourceError, match=REFUSED[statements]):
        kernel(np.ones((4, 4)), np.ones(4), 4)


def test_diagonals_of_what_is_not_square_are_refused() -> None:
    @loopwright.kernel
    def diagonals(a: Any) -> Any:
        return np.diag(a) * 1

    with pytest.raises(SourceError, match="does not hold for these sizes"):
        diagonals(np.ones((4, 5)))
