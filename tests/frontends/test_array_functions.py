"""Functions of NumPy that make arrays of others: joined, padded, diagonal, repeated, chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright.dialects.errors import SourceError


def joined(x: Any, a: Any, b: Any) -> Any:
    rows, columns = np.concatenate((a, a)), np.concatenate([a, a + 1, a], axis=1)
    ends, middles = np.concatenate((b, b), axis=-1), np.concatenate((b, b), 1)
    return np.concatenate((x, x, x)), rows, columns, ends, middles, np.concatenate((b, b))


def stacked(x: Any, a: Any, b: Any) -> Any:
    planes, ends = np.stack((a, a * 2)), np.stack((a, a), axis=-1)
    above, beside = np.vstack((x[:7], x[:7], a)), np.hstack((a, a))
    columns = np.column_stack((x, x - 1, x))
    return np.stack((x, x, x)), np.stack([x, x], axis=1), planes, ends, above, beside, columns


def diagonals(x: Any, a: Any, b: Any) -> Any:
    square = a[:, :6].copy()
    return np.diag(x), np.diag(x, 2), np.diag(x, -1), np.diag(square), np.diag(square, k=-2)


def identities(x: Any, a: Any, b: Any) -> Any:
    n, m = a.shape
    return np.eye(n), np.eye(n, m, 1), np.eye(3, k=-1), np.eye(n, dtype=np.int32), np.identity(m)


def repeated(x: Any, a: Any, b: Any) -> Any:
    return np.tile(x, 3), np.repeat(x, 2), x.repeat(3), np.sum(np.tile(x[1:], 2))


def padded(x: Any, a: Any, b: Any) -> Any:
    return np.pad(x, 2), np.pad(x, (1, 3), "edge"), np.pad(a, ((1, 2), (3, 0))), np.pad(a, 1)


def mirrored(x: Any, a: Any, b: Any) -> Any:
    return (
        np.pad(x, 2, mode="reflect"),
        np.pad(x, 2, "symmetric"),
        np.pad(x, 3, "wrap"),
        np.pad(a, ((1, 2), (3, 1)), "reflect"),
        np.pad(a, 2, "symmetric"),
        np.pad(a, ((2, 1), (0, 3)), "wrap"),
        np.pad(a, ((0, 1), (2, 3)), mode="edge"),
    )


def chosen(x: Any, a: Any, b: Any) -> Any:
    return np.select([x < -1, x < 1], [x * x, x], default=2), a.clip(0, 2), np.argmax(a), a.argmin()


def stored(x: Any, a: Any, b: Any) -> Any:
    np.multiply(x, 2, out=x)
    np.maximum(a[1:], a[:-1], out=a[1:])
    return x + 1, a


FUNCTIONS = (
    joined,
    stacked,
    diagonals,
    identities,
    repeated,
    padded,
    mirrored,
    chosen,
    stored,
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_of_numpy(function: Callable[..., Any]) -> None:
    kernel = loopwright.kernel(function)
    random = np.random.default_rng(1)
    for kind in ("f8", "f4", "i4"):
        shapes = ((9,), (6, 7), (3, 4, 5))
        given = [(random.normal(size=shape) * 4).astype(kind) for shape in shapes]
        given[0][3] = given[1][2, 3] = np.nan if kind != "i4" else 0
        copies = [each.copy() for each in given]
        expected, found = function(*copies), kernel(*given)
        np.testing.assert_equal(given, copies)
        for one, other in zip(expected, found, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(other, one, rtol=1e-6)


def interpolated(x: Any, xp: Any, fp: Any) -> Any:
    return np.interp(x, xp, fp) * 2  # pyright: ignore[reportUnknownVariableType]


def test_interpolation_with_repeated_and_infinite_points() -> None:
    random = np.random.default_rng(2)
    kernel = loopwright.kernel(interpolated)
    xp = np.sort(random.integers(-3, 3, 15)).astype(float)
    x = np.concatenate([random.normal(size=30) * 2, xp, [np.nan, np.inf, -np.inf, -0.0]])
    for special in (1.0, np.inf, np.nan):
        fp = random.normal(size=15)
        fp[4] = special
        np.testing.assert_allclose(kernel(x, xp, fp), interpolated(x, xp, fp), rtol=1e-12)


def repeated_while(x: Any, b: Any) -> Any:
    k = 0
    while k < 5:
        y = np.empty(20)
        for i in range(20):
            y[i] = b[i] - 0.5 * x[i]
        x += np.pad(y[1:-1], 1)
        k += 1
    return x + 0


def test_arrays_live_in_while_loops() -> None:
    x, b = np.random.default_rng(3).normal(size=(2, 20))
    loopwright.kernel(repeated_while).check(x, b)


def test_transposed_zeros_keep_their_sign() -> None:
    @loopwright.kernel
    def moved(a: Any) -> Any:
        return np.einsum("ijk->kji", a) * 2

    found = moved(np.full((2, 3, 4), -0.0))
    assert found.shape == (4, 3, 2) and np.signbit(found).all()


REFUSED = {
    "np.triu(x)": "'np.triu' takes an array of 2 dimensions here, not of 1",
    "np.tile(a, 2)": "'np.tile' takes an array of 1 dimension",
    "np.tile(x, 1000)": "'np.tile' is not supported",
    "np.pad(x, 1, mode='mean')": "'np.pad' is not supported",
    "np.stack((x, x), axis=7)": "'np.stack' is not supported",
    "np.percentile(x, 50)": "'np.percentile' is not supported",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refusals(expression: str, tmp_path: Path) -> None:
    text = (
        "import loopwright\nimport numpy as np\n@loopwright.kernel\n"
        f"def f(x, a):\n    return {expression}\n"
    )
    with pytest.raises(SourceError, match=REFUSED[expression]):
        load_source(text, tmp_path, "refused").f(np.ones(4), np.ones((3, 4)))


def nested(x: Any) -> Any:
    below = x.copy()
    below[below < 0] *= np.var(x)
    return np.tile(x - np.var(x), 2), np.pad(x, (len(np.cumsum(x)), 0)), below


def test_functions_inside_of_arguments_that_are_copied() -> None:
    x = np.random.default_rng(0).standard_normal(9)
    for mine, expected in zip(loopwright.kernel(nested)(x), nested(x), strict=True):
        np.testing.assert_allclose(mine, expected)


@pytest.mark.parametrize("kind", ["f4", "i4", "u1"])
def test_interpolation_is_in_f64(kind: str) -> None:
    random = np.random.default_rng(0)
    x, values = ((9 * random.random(n)).astype(kind) for n in (20, 10))
    points = np.arange(10).astype(kind)

    @loopwright.kernel
    def interpolated(x: Any, points: Any, values: Any) -> Any:
        return np.interp(x + points[1], points, values)

    expected = np.interp(x + points[1], points, values)
    np.testing.assert_allclose(interpolated(x, points, values), expected, rtol=1e-14)


def test_diagonals_without_a_name_or_of_vectors() -> None:
    def diagonals(x: Any, a: Any) -> Any:
        d, square = np.diag(a).copy(), np.diag(x)
        scaled = a / np.diag(a)[:, None]
        for i in range(a.shape[0]):
            a[i, i] = 0
        return d * 1, square * 2, scaled, np.diag(square)

    random = np.random.default_rng(0)
    x, a = random.random(5), random.random((5, 5))
    found = loopwright.kernel(diagonals)(x, a.copy())
    for mine, expected in zip(found, diagonals(x, a.copy()), strict=True):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize(
    "expression", ["np.sum(a[:1], axis=0)", "np.mean(a[:1], axis=0)", "np.einsum('ij->j', a[:1])"]
)
def test_sums_of_one_negative_zero(expression: str, tmp_path: Path) -> None:
    text = (
        "import loopwright\nimport numpy as np\n@loopwright.kernel\n"
        f"def f(a):\n    return {expression}\n"
    )
    kernel = load_source(text, tmp_path, "sums").f
    a = np.full((3, 4), -0.0)
    assert not np.signbit(kernel(a)).any() and not np.signbit(kernel.python(a)).any()


@pytest.mark.parametrize(
    "kinds",
    ["i1 u1 f2", "f2 i1 u1", "i2 u2 f4", "f4 i4 i8", "? i1 u8", "f8 f4 f2"],
)
def test_types_of_several_parts(kinds: str) -> None:
    """NumPy looks at the types of all parts at once, not at two by two."""

    def all_of(a: Any, b: Any, c: Any) -> Any:
        low = np.clip(a, b, c)
        stacked = np.stack((a, b, c), axis=1)
        return np.concatenate((a, b, c)), stacked, np.hstack((a, b, c)), np.vstack((a, b, c)), low

    random = np.random.default_rng(3)
    arrays = [(100 * random.random(5)).astype(each) for each in kinds.split()]
    for mine, expected in zip(loopwright.kernel(all_of)(*arrays), all_of(*arrays), strict=True):
        assert mine.dtype == expected.dtype
        np.testing.assert_array_equal(mine, expected)


def test_lengths_that_numpy_refuses() -> None:
    @loopwright.kernel
    def interpolated(x: Any, points: Any, values: Any) -> Any:
        return np.interp(x, points, values)

    @loopwright.kernel
    def repeated(x: Any) -> Any:
        return np.repeat(x, -1)

    x = np.arange(5.0)
    with pytest.raises(SourceError, match="as many values as points"):
        interpolated(x, x, x[1:])
    with pytest.raises(SourceError, match="takes points"):
        interpolated(x, x[:0], x[:0])
    with pytest.raises(SourceError, match="no negative number"):
        repeated(x)


def lists(x: Any, a: Any) -> Any:
    """Elements of lists are numbers of Python: they take the type of the other operand."""
    weights, stencil = np.array([0.5, 2, x[0]]), np.array([[1, 2], [3, 4]], dtype=np.int16)
    w = [0.1, 0.2, 0.3]
    kernel = [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
    y, total = np.zeros_like(a), x[0] * 0
    for k, v in enumerate(w):
        total += v * x[k] - w[2 - k]
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for p in range(len(kernel)):
                for q in range(len(kernel[0])):
                    y[i, j] += kernel[p][q] * a[i + p - 1, j + q - 1]
    return weights, stencil * 3, total, y


def turned(x: Any, a: Any) -> Any:
    h, w = a.shape[:2]
    rows, columns = np.shape(a)
    return h * w, rows - columns, np.rot90(a).copy(), np.flip(a).copy(), np.flip(a, axis=1) * 1


def others(x: Any, a: Any) -> Any:
    across, down = np.meshgrid(x, x[1:])
    steps, normal = np.gradient(x), np.cross(x[:3], x[3:6])
    least, most, product = np.minimum.reduce(x), np.maximum.reduce(a, axis=1), np.add.reduce(a)
    return (
        across,
        down,
        steps,
        normal,
        np.heaviside(x - x[2], 0.5),
        np.nansum(a),
        least,
        most,
        product,
    )


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("function", [lists, turned, others])
def test_lists_and_others(function: Callable[..., Any], kind: Any) -> None:
    random = np.random.default_rng(5)
    x, a = (9 * random.random(6)).astype(kind), (9 * random.random((5, 6))).astype(kind)
    found = loopwright.kernel(function)(x, a)
    for mine, expected in zip(found, function(x, a), strict=True):
        assert np.asarray(mine).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(mine, expected, rtol=1e-6)


@pytest.mark.parametrize("value", ["w + w", "2 * w", "w[:1]", "w[0] * x if len(w) else w"])
def test_lists_are_no_arrays(value: str, tmp_path: Path) -> None:
    text = (
        "import loopwright\nimport numpy as np\n@loopwright.kernel\n"
        f"def f(x):\n    w = [0.5, 0.25]\n    return {value}\n"
    )
    kernel = load_source(text, tmp_path, "lists").f
    with pytest.raises(SourceError, match="lists and tuples are not supported here"):
        kernel(np.ones(4))
