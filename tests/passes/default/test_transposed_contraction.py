"""Contractions whose lanes go down columns of the result: strided convolutions and cousins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.transposed_contraction import transposed_contraction
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function


def convolution(stride: int, element: str, order: str = "fyxckl") -> Function:
    """C[f, y, x] += A[c, stride * y + k, stride * x + l] * W[f, c, k, l], loops in any order."""
    lines = [
        f"func.func @f({', '.join(f'%n{x}: index' for x in 'fyxckl')}, "
        f"%A: memref<?x?x?x{element}>, %W: memref<?x?x?x?x{element}>, "
        f"%C: memref<?x?x?x{element}>) {{",
        *(f"affine.for %{x} = 0 to %n{x} {{" for x in order),
        f"%c0 = affine.load %C[%f, %y, %x] : memref<?x?x?x{element}>",
        f"%a = affine.load %A[%c, {stride} * %y + %k, {stride} * %x + %l] "
        f": memref<?x?x?x{element}>",
        f"%w = affine.load %W[%f, %c, %k, %l] : memref<?x?x?x?x{element}>",
        f"%p = arith.mulf %a, %w : {element}",
        f"%s = arith.addf %c0, %p : {element}",
        f"affine.store %s, %C[%f, %y, %x] : memref<?x?x?x{element}>",
        *["}"] * len(order),
        "return",
        "}",
    ]
    return loopwright.load("\n".join(lines))["f"]


def extents_of(*extents: int) -> dict[str, int]:
    names: tuple[str, ...] = ("nf", "ny", "nx", "nc", "nk", "nl")
    return dict(zip(names, extents, strict=True))


def data(
    stride: int, sizes: dict[str, int], kind: type[np.generic]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    height, width = (stride * (sizes[a] - 1) + sizes[b] for a, b in (("ny", "nk"), ("nx", "nl")))
    shapes: Sequence[Sequence[int]] = (
        (sizes["nc"], height, width),
        (sizes["nf"], sizes["nc"], sizes["nk"], sizes["nl"]),
        (sizes["nf"], sizes["ny"], sizes["nx"]),
    )
    image, weights, result = (rng.integers(-3, 4, shape).astype(kind) for shape in shapes)
    return image, weights, result


@pytest.mark.usefixtures("zen3")
@pytest.mark.parametrize(
    ("stride", "element", "order", "extents"),
    [
        (2, "f32", "fyxckl", (20, 5, 9, 7, 3, 3)),
        (2, "f64", "fcklyx", (17, 4, 13, 11, 2, 3)),
        (3, "f32", "cklfyx", (33, 3, 6, 7, 5, 1)),
        (2, "f64", "yxfckl", (8, 1, 30, 40, 1, 1)),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_strided_convolutions(
    stride: int, element: str, order: str, extents: tuple[int, ...], threads: int
) -> None:
    function = convolution(stride, element, order)
    sizes = extents_of(*extents)
    original = Schedule.original(function.scop)
    known = infer_extents(function.scop, sizes)
    schedule = transposed_contraction(original, original.tree, SchedulingContext(known, threads))
    assert schedule is not None
    assert "array=C order=1,2,0" in str(schedule)
    results: list[np.ndarray] = []
    for text in ("", str(schedule)):
        image, weights, result = data(stride, sizes, NUMPY_TYPES[element])
        kernel = function.compile(text, threads=threads, verify=True)
        kernel(*sizes.values(), image, weights, result)
        results.append(result)
    np.testing.assert_array_equal(results[0], results[1])


def test_weights_are_packed_once_for_all_rows() -> None:
    function = convolution(2, "f32")
    sizes = extents_of(64, 28, 28, 64, 3, 3)
    schedule = default_schedule(
        function.scop, infer_extents(function.scop, sizes), threads=2, reassociate=False
    )
    assert "tile{loops=y sizes=14}" in str(schedule)
    assert "pack{loops=yt array=W" in str(schedule)
    assert "parallel{loops=yt}" in str(schedule)


def test_short_sums_are_not_worth_it() -> None:
    function = convolution(2, "f32")
    sizes = extents_of(64, 28, 28, 3, 3, 3)
    original = Schedule.original(function.scop)
    context = SchedulingContext(infer_extents(function.scop, sizes), 1)
    assert transposed_contraction(original, original.tree, context) is None
