"""Functions of NumPy along an axis: running sums and products, places of extrema, differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_python import load_source

import loopwright
from loopwright import f64
from loopwright.dialects.errors import SourceError


@loopwright.kernel
def running(a: Any, x: Any) -> Any:
    return (
        np.cumsum(a, axis=-1),
        np.cumsum(a, 0),
        np.cumsum(a, axis=1),
        np.cumprod(a, axis=0),
        np.cumprod(a, -1),
        np.cumprod(a, axis=1),
        np.cumsum(x, axis=None),
        x.cumsum(axis=-1),
        np.cumprod(x, axis=0),
    )


@loopwright.kernel
def of_three(b: Any) -> Any:
    return np.cumsum(b, axis=0), np.cumsum(b, axis=1), np.cumsum(b, axis=-1)


@loopwright.kernel
def places(a: Any) -> Any:
    return np.argmax(a, axis=1), a.argmin(0), np.argmin(a, axis=-1), np.argmax(a, 0)


@loopwright.kernel
def differences(a: Any, x: Any) -> Any:
    return np.diff(a, axis=0), np.diff(a), np.diff(a, axis=1), np.diff(x, axis=0)


@loopwright.kernel
def convolved(x: Any, k: Any) -> Any:
    return np.convolve(x, k), np.convolve(x, k, mode="same"), np.convolve(x, k, "valid")


@loopwright.kernel
def triangles(a: Any) -> Any:
    return np.triu(a), np.tril(a, -1), np.triu(a, k=2)


def numbers(kind: str, *shape: int) -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    return (random.normal(size=shape) * 4).astype(kind)


@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "u1"])
def test_results_of_numpy(kind: str) -> None:
    a, x = numbers(kind, 6, 9), numbers(kind, 20)
    for kernel, given in (
        (running, (a, x)),
        (running, (a[:0], x[:0])),
        (of_three, (numbers(kind, 3, 4, 5),)),
        (places, (a,)),
        (differences, (a, x)),
        (convolved, (x, a[0])),
        (triangles, (a,)),
    ):
        found: Any = kernel(*given)
        for one, other in zip(kernel.python(*given), found, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(other, one, rtol=1e-4 if kind == "f4" else 1e-12)


def test_running_sums_of_a_matrix_as_one_need_its_sizes() -> None:
    def flattened(n: int, a: f64["n", "n"]) -> Any:
        return np.cumsum(a)

    with pytest.raises(SourceError, match="an extent must be affine"):
        loopwright.kernel(flattened)


@pytest.mark.parametrize("axis", [True, 0.0, [], {1: 2}])
def test_axes_that_are_no_integers_are_refused(axis: object, tmp_path: Path) -> None:
    text = (
        "import loopwright\nimport numpy as np\n@loopwright.kernel\n"
        f"def sums(a):\n    return np.cumsum(a, axis={axis!r})\n"
    )
    with pytest.raises(SourceError):
        load_source(text, tmp_path, "refused").sums(numbers("f8", 3, 4))


@pytest.mark.parametrize("function", ["np.triu(a)", "np.tril(a)"])
def test_triangles_of_three_dimensions_are_refused(function: str, tmp_path: Path) -> None:
    text = (
        "import loopwright\nimport numpy as np\n@loopwright.kernel\n"
        f"def half(a):\n    return {function}\n"
    )
    with pytest.raises(SourceError):
        load_source(text, tmp_path, "refused").half(numbers("f8", 2, 3, 3))
