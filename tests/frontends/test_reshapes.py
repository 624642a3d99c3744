"""Arrays in another shape: views of row-major arrays, copies where NumPy copies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright.dialects.errors import SourceError
from loopwright.runtime.calling.errors import ArgumentValueError


def flat(a: Any, x: Any) -> Any:
    return a.ravel() @ a.ravel(), a.reshape(-1) * 2, a.flatten(), a.T.reshape(-1) + 1


def pooled(a: Any, x: Any) -> Any:
    h, w = a.shape
    cells = a.reshape(h // 2, 2, w // 2, 2)
    return cells.mean(axis=(1, 3)), cells.max(axis=3), a[:, 1:3].reshape(2, -1) * 2


def stored(a: Any, x: Any) -> Any:
    pairs = x.reshape(-1, 2)
    pairs[:, 0] += pairs[:, 1]
    line, row = a.reshape(-1), a[1].reshape(2, -1)
    line[3:7] = 9.0
    row[1] = 4.0
    a.reshape(-1)[::5] = 7.0
    return pairs.sum(axis=0), a + 1, x * 2


def columns(a: Any, x: Any) -> Any:
    return a + x.reshape(-1, 1), a * x.reshape(len(x), 1), x.reshape(1, -1) * 2


def computed(a: Any, x: Any) -> Any:
    table = np.arange(24).reshape(4, 6)
    return (a + 1).reshape(-1), (a @ a.T).ravel(), np.reshape(x * 2, (2, -1)) + 1, table + 1


def axes(a: Any, x: Any) -> Any:
    b, c = np.expand_dims(x, 0), np.expand_dims(x, axis=(1, 2))
    same = a.reshape(a.shape) + a.reshape(*a.shape, 1)[:, :, 0]
    narrow = a[:, :1].squeeze() - 1
    return np.squeeze(b) * 2, np.squeeze(c, axis=2) + 1, np.expand_dims(a, -1) * 3, narrow, same


def walked(a: Any, x: Any) -> Any:
    line = a.reshape(-1)
    total = 0.0
    for i in range(line.shape[0]):
        total += line[i] * i
    return total


@pytest.mark.parametrize("function", [flat, pooled, stored, columns, computed, axes, walked])
def test_results_of_numpy(function: Callable[..., Any]) -> None:
    kernel = loopwright.kernel(function)
    random = np.random.default_rng(1)
    for shape in ((24, 6), (6, 4), (0, 4)):
        if not shape[0] and function not in (flat, columns, computed):
            continue
        a, x = random.normal(size=shape), random.normal(size=shape[0])
        copies = [a.copy(), x.copy()]
        expected, found = function(*copies), kernel(a, x)
        np.testing.assert_array_equal(a, copies[0])
        np.testing.assert_array_equal(x, copies[1])
        if function is walked:
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            continue
        for one, other in zip(expected, found, strict=True):
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", [flat, pooled, columns, computed, axes])
def test_reads_of_arrays_in_other_orders(function: Callable[..., Any]) -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=6)
    for a in (np.asfortranarray(random.normal(size=(6, 4))), random.normal(size=(6, 8))[:, ::2]):
        for one, other in zip(function(a, x), loopwright.kernel(function)(a, x), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


def test_stores_to_what_may_be_a_copy_are_refused() -> None:
    a = np.asfortranarray(np.ones((6, 4)))
    with pytest.raises(ArgumentValueError, match="not contiguous"):
        loopwright.kernel(stored)(a, np.ones(6))


MISTAKES = (
    ("B = A.T.reshape(-1)\n    B[0] = 1.0", "may be a copy in NumPy"),
    ("B = A.T.reshape(-1)\n    A[0, 0] = B[3]", "may be a copy in NumPy"),
    ("A[:, 1:3].reshape(-1)[0] = 1.0", "may be a copy in NumPy"),
    ("b = x[::2].ravel()\n    x[0] = b[1]", "may be a copy in NumPy"),
    ("for k, v in enumerate(x[::2].ravel()):\n        x[k] = v", "may be a copy in NumPy"),
    ("A[:] = A.reshape(5, -1)[0, 0]", "divide|not as many"),
    ("A[:] = x.reshape(3, 4)[0, 0]", "not as many"),
)


@pytest.mark.parametrize(("statement", "message"), MISTAKES)
def test_mistakes(statement: str, message: str, tmp_path: Path) -> None:
    text = f"def f(A: f64[6, 4], x: f64[10]):\n    {statement}\n"
    source = f"import numpy as np\nimport loopwright\nfrom loopwright import f64\n\n\n{text}"
    with pytest.raises(SourceError, match=message):
        loopwright.kernel(load_source(source, tmp_path, "module").f)


def test_sizes_that_do_not_divide_are_refused(tmp_path: Path) -> None:
    text = 'def f(n: int, x: f64["n"]):\n    return x.reshape(-1, 2).sum(axis=1)\n'
    source = f"import numpy as np\nimport loopwright\nfrom loopwright import f64\n\n\n{text}"
    kernel = loopwright.kernel(load_source(source, tmp_path, "module").f)
    np.testing.assert_array_equal(kernel(6, np.arange(6.0)), [1, 5, 9])
    with pytest.raises(SourceError, match="not as many for these sizes"):
        kernel(5, np.arange(5.0))


def chosen(a: Any, k: Any) -> Any:
    line = a.reshape(-1)
    return line[k] * 2


def repeated(a: Any, k: Any) -> Any:
    while np.sum(a) > 1.0:
        a *= 0.5


def test_the_later_mistake_is_told_where_sizes_are_known() -> None:
    a, k = np.ones((2, 3)), np.arange(2)
    with pytest.raises(SourceError, match="a subscript that depends on data, of a slice"):
        loopwright.kernel(chosen)(a, k)
    with pytest.raises(SourceError, match="before a loop and at the end of its body"):
        loopwright.kernel(repeated)(a, k)
