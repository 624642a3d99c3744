"""Kernels against NumPy, for several schedules, sizes and numbers of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import kernel_references as references

from loopwright.runtime.program import Function, load

HERE = Path(__file__).parent
SHIPPED = HERE.parents[1] / "kernels"

SIZES = (0, 1, 7, 31, 37, 65)
THREADS = (1, 2, 3)


@dataclass(frozen=True)
class Case:
    """A kernel, the name of its reference, and schedules that are legal for it."""

    path: Path
    name: str
    pipelines: tuple[str, ...]
    largest: int = 65

    @property
    def reference(self) -> Callable[..., None]:
        """What it must compute."""
        return getattr(references, self.name)

    def arguments(self, size: int) -> list[Any]:
        """Arguments of about this size; the same in each call."""
        return getattr(references, f"{self.name}_arguments")(size, np.random.default_rng(size))


POLYBENCH = SHIPPED / "polybench"
TIRAMISU = SHIPPED / "tiramisu"

CASES = (
    Case(
        POLYBENCH / "gemm.mlir",
        "gemm",
        (
            "vectorize{loops=S1.j width=8}",
            "tile{loops=k,S1.j sizes=16,32},interchange{loops=S1.j,k},parallel{loops=i}",
            "interchange{loops=S1.j,k},unroll{loops=k factor=4}",
            "parallel{loops=i},vectorize{loops=S0.j width=4},vectorize{loops=S1.j width=4}",
        ),
    ),
    Case(
        POLYBENCH / "2mm.mlir",
        "kernel_2mm",
        (
            "tile{loops=S0.i,S0.j sizes=8,32},parallel{loops=S0.it}",
            "tile{loops=S2.i,S2.j sizes=32,8},parallel{loops=S2.it},unroll{loops=S3.k factor=3}",
            "vectorize{loops=S0.j width=8},vectorize{loops=S2.j width=8}",
        ),
    ),
    Case(
        POLYBENCH / "jacobi-1d.mlir",
        "jacobi_1d",
        (
            "vectorize{loops=S0.i width=8},vectorize{loops=S1.i width=8}",
            "tile{loops=S0.i sizes=8},parallel{loops=S0.it},parallel{loops=S1.i}",
            "unroll{loops=S0.i factor=4},unroll{loops=t}",
        ),
    ),
    Case(
        POLYBENCH / "jacobi-2d.mlir",
        "jacobi_2d",
        (
            "parallel{loops=S0.i},parallel{loops=S1.i}",
            "tile{loops=S0.i,S0.j sizes=8,16},parallel{loops=S0.it},vectorize{loops=S0.j width=8}",
            "interchange{loops=S0.j,S0.i},vectorize{loops=S1.j width=4},unroll{loops=t factor=2}",
        ),
    ),
    Case(
        POLYBENCH / "seidel-2d.mlir",
        "seidel_2d",
        ("unroll{loops=j factor=4}", "unroll{loops=t}", "tile{loops=j sizes=8}"),
        largest=37,
    ),
    Case(
        POLYBENCH / "cholesky.mlir",
        "cholesky",
        (
            "tile{loops=S0.k sizes=8}",
            "unroll{loops=S0.k factor=4},unroll{loops=S2.k factor=4}",
            "tile{loops=i sizes=16},unroll{loops=S0.k factor=2}",
        ),
    ),
    Case(
        POLYBENCH / "trisolv.mlir",
        "trisolv",
        ("tile{loops=j sizes=8}", "unroll{loops=j factor=4}", "tile{loops=i sizes=32}"),
    ),
    Case(
        POLYBENCH / "correlation.mlir",
        "correlation",
        (
            "parallel{loops=S0.j},parallel{loops=S3.j},parallel{loops=S8.i}",
            "vectorize{loops=S8.j width=8},parallel{loops=S10.i}",
            "tile{loops=S8.i,S8.j sizes=8,8},parallel{loops=S8.it},tile{loops=S10.i sizes=4}",
        ),
    ),
    Case(
        POLYBENCH / "floyd-warshall.mlir",
        "floyd_warshall",
        ("unroll{loops=j factor=4}", "tile{loops=j sizes=16}"),
    ),
    Case(
        HERE / "filter2d.mlir",
        "filter2d",
        (
            "parallel{loops=i}",
            "vectorize{loops=j width=8}",
            "tile{loops=i,j sizes=8,32},parallel{loops=it},unroll{loops=v}",
            "unroll{loops=u},unroll{loops=v},parallel{loops=j}",
        ),
    ),
    Case(
        TIRAMISU / "convolution.mlir",
        "convolution",
        (
            "parallel{loops=n},parallel{loops=fout}",
            "vectorize{loops=x width=8},parallel{loops=fout}",
            "tile{loops=fout,y,x sizes=2,8,16},parallel{loops=foutt}",
            "interchange{loops=x,y},unroll{loops=k_x}",
        ),
        largest=37,
    ),
    Case(
        TIRAMISU / "box_blur.mlir",
        "box_blur",
        (
            "parallel{loops=n},vectorize{loops=y width=8}",
            "tile{loops=x,y sizes=8,32},parallel{loops=xt},vectorize{loops=y width=16}",
            "interchange{loops=y,x},vectorize{loops=x width=4}",
        ),
    ),
    Case(
        HERE / "erosion.mlir",
        "erosion",
        (
            "parallel{loops=S0.i},vectorize{loops=S0.j width=8}",
            "tile{loops=S0.i,S0.j sizes=16,16},parallel{loops=S0.it}",
        ),
    ),
    Case(
        HERE / "fixed_point_gray.mlir",
        "fixed_point_gray",
        (
            "parallel{loops=i},vectorize{loops=j width=16}",
            "tile{loops=i,j sizes=16,64},parallel{loops=it},vectorize{loops=j width=8}",
            "interchange{loops=j,i},vectorize{loops=i width=8}",
        ),
    ),
)

# all sizes without a schedule, every other one with
SCHEDULED = [
    pytest.param(
        case, pipeline, SIZES[number % 2 :: 2] if number else SIZES, id=f"{case.name}-{number}"
    )
    for case in CASES
    for number, pipeline in enumerate(("", *case.pipelines))
]


@cache
def function(path: Path) -> Function:
    """The only function of a file."""
    (result,) = load(path).values()
    return result


def check(case: Case, pipeline: str, size: int, threads: int) -> None:
    """Compares one call with the reference."""
    expected, found = case.arguments(size), case.arguments(size)
    case.reference(*expected)
    function(case.path).compile(pipeline or None, threads=threads)(*found)
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        tolerance = {"f": 1e-4, "d": 1e-10}.get(np.asarray(one).dtype.char, 0)
        place = f"argument {number} of {case.name}, size {size}, {threads} threads, {pipeline!r}"
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance, err_msg=place)


@pytest.mark.parametrize(("case", "pipeline", "sizes"), SCHEDULED)
def test_agrees_with_numpy(case: Case, pipeline: str, sizes: tuple[int, ...]) -> None:
    for number, size in enumerate(size for size in sizes if size <= case.largest):
        check(case, pipeline, size, THREADS[number % len(THREADS)])


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_any_number_of_threads(case: Case, threads: int) -> None:
    pipeline = next((p for p in case.pipelines if "parallel" in p), case.pipelines[0])
    check(case, pipeline, case.largest - 2, threads)
