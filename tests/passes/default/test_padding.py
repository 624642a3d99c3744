"""Padding by conditions: convolutions in register tiles, other nests in interior and borders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES

import loopwright
from loopwright.passes.default.default_schedule import schedule_nests
from loopwright.passes.default.guard_splitting import split_at_guards, with_guards
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function


@dataclass(frozen=True)
class Padded:
    """`Y[f, y, x] op= X[c, s y + d k - p, s x + d l - p] (* W[f, c, k, l])` inside of the image.

    Loops are in any order. Without `f` there are no weights, and `c` selects the result.
    """

    order: str
    stride: int = 1
    dilation: int = 1
    pad: int = 1
    element: str = "f32"
    last: bool = False
    operation: str = "arith.addf"

    @property
    def is_sum(self) -> bool:
        return "f" in self.order

    @property
    def shapes(self) -> tuple[str, str, str]:
        """The loops, or `h` and `w`, along image, weights and result."""
        f = "f" if self.is_sum else "c"
        return ("hwc", "klcf", f"yx{f}") if self.last else ("chw", "fckl", f"{f}yx")

    def function(self, sizes: Mapping[str, int]) -> Function:
        """The program for images and results of such sizes."""
        element = self.element
        place = ", ".join(
            f"{self.stride} * %{x} + {self.dilation} * %{k} - {self.pad}" for x, k in ("yk", "xl")
        )
        feature = "%f" if self.is_sum else "%c"
        x = f"{place}, %c" if self.last else f"%c, {place}"
        y = f"%y, %x, {feature}" if self.last else f"{feature}, %y, %x"
        w = "%k, %l, %c, %f" if self.last else "%f, %c, %k, %l"
        image, weights, result = (
            "x".join(str(sizes[name]) for name in shape) for shape in self.shapes
        )
        inside = ", ".join(
            f"{self.stride} * d{n} + {self.dilation} * d{n + 1} - {self.pad} >= 0, "
            f"{sizes[size] + self.pad - 1} - {self.stride} * d{n} - {self.dilation} * d{n + 1} >= 0"
            for n, size in ((0, "h"), (2, "w"))
        )
        product = [
            f"%w = affine.load %W[{w}] : memref<{weights}x{element}>",
            f"%p = arith.mulf %v, %w : {element}",
        ]
        lines = [
            f"#inside = affine_set<(d0, d1, d2, d3) : ({inside})>",
            f"func.func @f(%X: memref<{image}x{element}>, %W: memref<{weights}x{element}>, "
            f"%Y: memref<{result}x{element}>) {{",
            *(f"affine.for %{name} = 0 to {sizes[name]} {{" for name in self.order),
            "affine.if #inside(%y, %k, %x, %l) {",
            f"%o = affine.load %Y[{y}] : memref<{result}x{element}>",
            f"%v = affine.load %X[{x}] : memref<{image}x{element}>",
            *(product if self.is_sum else ()),
            f"%s = {self.operation} %o, {'%p' if self.is_sum else '%v'} : {element}",
            f"affine.store %s, %Y[{y}] : memref<{result}x{element}>",
            "}",
            *["}"] * len(self.order),
            "return",
            "}",
        ]
        return loopwright.load("\n".join(lines))["f"]

    def sizes(
        self, f: int, image: tuple[int, int], c: int, taps: tuple[int, int]
    ) -> dict[str, int]:
        """All sizes, in the order of arguments."""
        out = [
            (n + 2 * self.pad - self.dilation * (k - 1) - 1) // self.stride + 1
            for n, k in zip(image, taps, strict=True)
        ]
        return dict(zip("fyxcklhw", (f, *out, c, *taps, *image), strict=True))

    def arrays(self, sizes: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Image, weights and result, of small integers: every order of a sum gives the same."""
        rng = np.random.default_rng(7)
        image, weights, result = (
            rng.integers(-3, 4, [sizes[name] for name in shape]).astype(NUMPY_TYPES[self.element])
            for shape in self.shapes
        )
        return image, weights, result

    def expected(self, sizes: Mapping[str, int]) -> np.ndarray:
        """The result by NumPy, on a padded copy of the image."""
        image, weights, result = self.arrays(sizes)
        if self.last:
            image, result = image.transpose(2, 0, 1), result.transpose(2, 0, 1).copy()
            weights = weights.transpose(3, 2, 0, 1)
        neutral = 0 if self.operation == "arith.addf" else -np.inf
        padded = np.pad(
            image, [(0, 0), *[(self.pad, self.pad)] * 2], mode="constant", constant_values=neutral
        )
        for k in range(sizes["k"]):
            for m in range(sizes["l"]):
                rows = self.dilation * k + self.stride * np.arange(sizes["y"])
                columns = self.dilation * m + self.stride * np.arange(sizes["x"])
                window = padded[:, rows][:, :, columns]
                if self.is_sum:
                    result += np.einsum("fc,cyx->fyx", weights[:, :, k, m], window)
                elif self.operation == "arith.addf":
                    result += window
                else:
                    result = np.maximum(result, window)
        return result.transpose(1, 2, 0) if self.last else result


def check(case: Padded, schedule: str, sizes: Mapping[str, int], threads: int) -> None:
    """A schedule, at other sizes than it was made for, gives what NumPy does."""
    image, weights, result = case.arrays(sizes)
    kernel = case.function(sizes).compile(schedule, threads=threads)
    kernel(image, weights, result)
    np.testing.assert_array_equal(result, case.expected(sizes))


def scheduled(case: Padded, sizes: Mapping[str, int], threads: int) -> str:
    original = Schedule.original(case.function(sizes).scop)
    return str(schedule_nests(original, SchedulingContext({}, threads)))


CONVOLUTIONS = (
    Padded("fcyxkl"),
    Padded("cklfyx", stride=2, element="f64"),
    Padded("yxfklc", last=True, dilation=2, pad=2),
)


@pytest.mark.usefixtures("zen3")
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_conditions_are_known_in_register_tiles(case: Padded) -> None:
    sizes = case.sizes(19, (7, 23 * case.stride), 6, (3, 3))
    schedule = scheduled(case, sizes, 2)
    # The first and last blocks of rows have no loops over the taps that conditions are on.
    assert "split{loops=xt2 at=1}" in schedule
    assert "unroll{loops=S0.l," in schedule
    assert "vectorize{loops=S0_2.f width=" in schedule
    check(case, schedule, sizes, 2)


@pytest.mark.parametrize("case", [Padded("fyxckl"), Padded("yxfckl", last=True)], ids=str)
def test_small_images_are_one_block(case: Padded) -> None:
    sizes = case.sizes(16, (7, 7), 6, (3, 3))
    schedule = scheduled(case, sizes, 1)
    assert "split" not in schedule
    assert "unroll{loops=l,x,f}" in schedule or "unroll{loops=k,y,f}" in schedule
    check(case, schedule, sizes, 1)


@pytest.mark.parametrize(
    "case",
    [
        Padded("cyxkl", element="f64"),
        Padded("klcyx", operation="arith.maximumf", stride=2, pad=2),
        Padded("yxckl", last=True, operation="arith.maxnumf"),
    ],
    ids=str,
)
def test_windows_have_interior_and_borders(case: Padded) -> None:
    sizes = case.sizes(1, (31, 20), 3, (3, 3))
    original = Schedule.original(case.function(sizes).scop)
    context = SchedulingContext({}, 1)
    assert with_guards(original, [("S0",)], context) == [("S0",)]
    schedule = split_at_guards(original, [("S0",)], context)
    assert schedule is not None
    # Three parts along y, of which that in the middle has three along x.
    assert len(nests(schedule.tree)) == 5
    domains = [statement.domain for statement in schedule.scop.statements]
    assert max(domains, key=lambda points: points.count_val().to_python()).is_box()
    check(case, str(schedule_nests(schedule, context)), sizes, 1)


def test_triangles_are_left_alone() -> None:
    function = loopwright.load(
        "func.func @f(%A: memref<64x64xf32>) {\n"
        "affine.for %i = 0 to 64 {\n"
        "affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {\n"
        "%a = affine.load %A[%i, %j] : memref<64x64xf32>\n"
        "affine.store %a, %A[%j, %i] : memref<64x64xf32>\n"
        "}\n}\nreturn\n}"
    )["f"]
    original, context = Schedule.original(function.scop), SchedulingContext({}, 1)
    assert not with_guards(original, [("S0",)], context)


def test_conditions_with_unknown_sizes_are_left_alone() -> None:
    text = """
    func.func @f(%n: index, %A: memref<?x?xf64>) {
      %c = arith.constant 1.0 : f64
      affine.for %i = 0 to %n {
        affine.for %j = affine_map<(i) -> (i)>(%i) to %n {
          affine.store %c, %A[%i, %j] : memref<?x?xf64>
        }
      }
      return
    }"""
    function = loopwright.load(text)["f"]
    schedule = function.schedule()
    context = SchedulingContext({}, 1)
    assert with_guards(schedule, [("S0",)], context) == []
    assert function.default_schedule({}).scop is function.scop
