"""Scatter-form reductions are found however they are written, and keep their results bit by bit."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES
from support.reference_runs import check_run, function_of
from support.targets import NARROW, WIDE

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.output_stationary import output_stationary
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.schedule_tree import nests, statements
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function


@dataclass(frozen=True)
class Scatter:
    """`dst[result] += src[source] * w[weights]` in loops in the given order.

    A subscript of the result is a loop, or `2y+k` for a mixed one.
    """

    order: str
    extents: dict[str, int]
    result: str
    source: str
    weights: str
    element: str = "f32"
    epilogue: bool = False
    names: dict[str, str] = field(default_factory=dict[str, str])

    def text(self) -> str:
        shapes = {a: self.shape(s) for a, s in self.subscripts().items()}
        types = {
            a: f"memref<{''.join(f'{n}x' for n in shape)}{self.element}>"
            for a, shape in shapes.items()
        }
        add, multiply = ("addf", "mulf") if self.element[0] == "f" else ("addi", "muli")
        places = {a: ", ".join(map(self._place, s)) for a, s in self.subscripts().items()}
        lines = [f"func.func @f({', '.join(f'%{a}: {t}' for a, t in types.items())}) {{"]
        lines += [f"affine.for %{x} = 0 to {self.extents[x]} {{" for x in self.order]
        lines += [f"%l{a} = affine.load %{a}[{places[a]}] : {types[a]}" for a in types]
        lines += [
            f"%p = arith.{multiply} %lsrc, %lw : {self.element}",
            f"%q = arith.{add} %ldst, %p : {self.element}",
            f"affine.store %q, %dst[{places['dst']}] : {types['dst']}",
        ]
        lines += ["}"] * len(self.order)
        if self.epilogue:
            rank = len(shapes["dst"])
            lines += [f"affine.for %e{k} = 0 to {shapes['dst'][k]} {{" for k in range(rank)]
            place = ", ".join(f"%e{k}" for k in range(rank))
            lines += [
                f"%x = affine.load %dst[{place}] : {types['dst']}",
                f"%z = arith.{multiply} %x, %x : {self.element}",
                f"affine.store %z, %dst[{place}] : {types['dst']}",
            ]
            lines += ["}"] * rank
        return "\n".join([*lines, "return", "}"])

    def subscripts(self) -> dict[str, list[str]]:
        return {
            "src": self.source.split(","),
            "w": self.weights.split(","),
            "dst": self.result.split(","),
        }

    def shape(self, subscripts: list[str]) -> list[int]:
        return [
            1 + sum(f * (self.extents[x] - 1) for f, x in self._terms(subscript))
            for subscript in subscripts
        ]

    def arguments(self) -> list[np.ndarray]:
        rng = np.random.default_rng(1)
        shapes = (self.shape(s) for s in self.subscripts().values())
        kind = NUMPY_TYPES[self.element]
        if self.element[0] == "f":
            return [rng.uniform(-1, 1, shape).astype(kind) for shape in shapes]
        return [rng.integers(-9, 9, shape).astype(kind) for shape in shapes]

    @staticmethod
    def _terms(subscript: str) -> list[tuple[int, str]]:
        return [(int(term[:-1] or 1), term[-1]) for term in subscript.split("+")]

    def _place(self, subscript: str) -> str:
        return " + ".join(f"{factor} * %{x}" for factor, x in self._terms(subscript))

    def function(self) -> Function:
        return loopwright.load(self.text())["f"]


def image(k: int, stride: int, *, y: int = 4, x: int = 17, c: int = 3, f: int = 3) -> Scatter:
    extents = {"c": c, "f": f, "y": y, "x": x, "k": k, "l": k}
    result = f"f,{stride}y+k,{stride}x+l"
    return Scatter("cfyxkl", extents, result, "c,y,x", "c,f,k,l")


LINE = Scatter("ij", {"i": 300, "j": 37}, "i+j", "i", "j")

COUSINS: dict[str, Scatter] = {
    "3 x 3, stride 2": image(3, 2),
    "4 x 4, stride 2": image(4, 2, x=41, c=9, f=7),
    "5 x 5, stride 3": image(5, 3, f=2),
    "3 x 3, stride 1": image(3, 1),
    "7 x 7, stride 2": image(7, 2, y=9, f=1),
    "13 taps, stride 2": image(13, 2, c=2, f=2),
    "one feature": image(4, 2, c=1, f=1),
    "polynomials": LINE,
    "polynomials, short one first": Scatter("ji", LINE.extents, "i+j", "i", "j", "f64"),
    "i32": Scatter("ij", LINE.extents, "i+j", "i", "j", "i32"),
    "channels last": Scatter(
        "cyxklf", image(3, 2).extents | {"f": 8}, "2y+k,2x+l,f", "y,x,c", "k,l,c,f"
    ),
    "taps outside": Scatter("klcyxf", image(4, 2).extents, "f,2y+k,2x+l", "c,y,x", "c,f,k,l"),
    "batch": Scatter(
        "bcfyxkl", image(3, 2).extents | {"b": 2}, "b,f,2y+k,2x+l", "b,c,y,x", "c,f,k,l", "f64"
    ),
    "volume": Scatter(
        "cfzyxmkl",
        {"c": 3, "f": 4, "z": 3, "y": 4, "x": 11, "m": 3, "k": 3, "l": 3},
        "f,2z+m,2y+k,2x+l",
        "c,z,y,x",
        "c,f,m,k,l",
    ),
    "overlap-add": Scatter("ij", {"i": 50, "j": 64}, "32i+j", "i,j", "j"),
    "col2im": Scatter("cklyx", image(3, 1).extents, "c,y+k,x+l", "c,k,l,y,x", "c"),
    "16 taps, stride 8": image(16, 8, y=2, x=37),
    "12 taps, stride 6": Scatter(
        "cfxl", {"c": 3, "f": 4, "x": 45, "l": 12}, "f,6x+l", "c,x", "c,f,l", "f64"
    ),
    "11 taps, stride 5": Scatter(
        "xcfl", {"c": 3, "f": 4, "x": 45, "l": 11}, "f,5x+l", "c,x", "c,f,l", "i32"
    ),
    "epilogue": Scatter(
        "cfyxkl", image(3, 2).extents, "f,2y+k,2x+l", "c,y,x", "c,f,k,l", epilogue=True
    ),
}


def scheduled(
    function: Function, threads: int = 1, target: Target | None = None, **sizes: int
) -> Schedule | None:
    original = Schedule.original(function.scop, target)
    nest = next(n for n in nests(original.tree) if statements(n)[0])
    return output_stationary(original, nest, SchedulingContext(sizes, threads))


@pytest.mark.parametrize("name", COUSINS)
def test_cousins_have_the_same_kind_of_schedule_and_results(name: str) -> None:
    cousin = COUSINS[name]
    function = cousin.function()
    schedule = scheduled(function, 2)
    assert schedule is not None
    assert "skew" in str(schedule)
    assert "vectorize" in str(schedule)
    assert function.schedule(str(schedule)) == schedule
    found, expected = cousin.arguments(), cousin.arguments()
    function.compile(None)(*expected)
    function.compile(schedule, threads=2)(*found)
    if cousin.element[0] == "i":
        np.testing.assert_array_equal(found[-1], expected[-1])
    else:
        digits = 1e-5 if cousin.element == "f32" else 1e-13
        np.testing.assert_allclose(found[-1], expected[-1], rtol=digits, atol=10 * digits)


@pytest.mark.usefixtures("zen3")
@pytest.mark.parametrize(
    ("x", "k", "stride"), [(1, 3, 2), (4, 4, 2), (5, 3, 2), (6, 3, 1), (8, 4, 2), (33, 3, 2)]
)
def test_rows_of_any_length(x: int, k: int, stride: int) -> None:
    base = image(k, stride, x=x, y=2, c=2, f=2)
    cousin = Scatter(base.order, base.extents, base.result, base.source, base.weights, "i32")
    function = cousin.function()
    schedule = scheduled(function)
    assert (schedule is not None) == (x >= 5), "rows shorter than half a vector"
    if schedule is not None:
        found, expected = cousin.arguments(), cousin.arguments()
        function.compile(None)(*expected)
        function.compile(schedule)(*found)
        np.testing.assert_array_equal(found[-1], expected[-1])


@pytest.mark.parametrize("size", ["MINI", "SMALL"])
@pytest.mark.parametrize("target", [None, WIDE, NARROW])
def test_a_schedule_for_a_large_size_is_right_at_others(size: str, target: Target | None) -> None:
    name = "field/conv2d_transposed"
    function = function_of(name)
    sizes = {"features_in": 64, "features_out": 32, "height": 28, "width": 28}
    chosen = default_schedule(function.scop, sizes, target, threads=2)
    assert "split{loops=kxt at=1}" in str(chosen)
    assert "at=width" in str(chosen)
    own = default_schedule(function.scop, sizes, threads=2)
    if target is None:
        check_run(name, own, size)


@pytest.mark.parametrize(
    "kernel", ["gemm", "jacobi-2d", "seidel-2d", "doitgen", "nussinov", "syrk", "durbin"]
)
def test_other_programs_stay(kernel: str) -> None:
    original = Schedule.original(function_of(f"polybench/{kernel}").scop)
    sizes = dict.fromkeys((p.name for p in original.scop.parameters), 100)
    for nest in nests(original.tree):
        assert output_stationary(original, nest, SchedulingContext(sizes, 2)) is None
