"""Reads and writes along different loops meet in blocks, however the nest is written."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.tile_transposition import tile_transposition
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule

TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "f32": np.float32, "f64": np.float64}


def copy(
    loops: list[tuple[str, int]],
    source: str,
    result: str,
    shapes: tuple[str, str],
    kind: str = "f32",
    change: str = "",
) -> str:
    """A nest that copies elements, with a change on the way."""
    source_type, result_type = (f"memref<{shape}x{kind}>" for shape in shapes)
    value = "%1" if change else "%0"
    return "\n".join(
        [
            f"func.func @f(%A: {source_type}, %B: {result_type}) {{",
            *(f"affine.for %{name} = 0 to {count} {{" for name, count in loops),
            f"%0 = affine.load %A[{source}] : {source_type}",
            *([f"%1 = {change} : {kind}"] if change else []),
            f"affine.store {value}, %B[{result}] : {result_type}",
            *("}" for _ in loops),
            "return",
            "}",
        ]
    )


def matrix(n: int, m: int, kind: str = "f32", change: str = "") -> str:
    return copy([("i", n), ("j", m)], "%i, %j", "%j, %i", (f"{n}x{m}", f"{m}x{n}"), kind, change)


LARGE = {
    "plain": (matrix(800, 600), "i", "j"),
    "odd": (matrix(799, 601), "i", "j"),
    "bytes": (matrix(800, 600, "i8"), "i", "j"),
    "half words": (matrix(800, 600, "i16"), "i", "j"),
    "double": (matrix(800, 600, "f64"), "i", "j"),
    "squared": (matrix(800, 600, change="arith.mulf %0, %0"), "i", "j"),
    "another order": (
        copy([("b", 600), ("a", 800)], "%a, %b", "%b, %a", ("800x600", "600x800")),
        "a",
        "b",
    ),
    "backwards": (
        copy([("i", 800), ("j", 600)], "%i, %j", "%j, 799 - %i", ("800x600", "600x800")),
        "i",
        "j",
    ),
    "rows backwards": (
        copy([("i", 800), ("j", 600)], "%i, 599 - %j", "%j, %i", ("800x600", "600x800")),
        "i",
        "j",
    ),
    "batched": (
        copy(
            [("n", 4), ("c", 40), ("y", 30), ("x", 50)],
            "%n, %c, %y, %x",
            "%n, %y, %x, %c",
            ("4x40x30x50", "4x30x50x40"),
        ),
        "c",
        "x",
    ),
    "heads": (
        copy(
            [("t", 500), ("h", 6), ("d", 40)], "%t, %h, %d", "%h, %d, %t", ("500x6x40", "6x40x500")
        ),
        "t",
        "d",
    ),
    "blocks": (
        copy(
            [("c", 75), ("y", 40), ("x", 50)],
            "%c, %y, %x",
            "%c floordiv 16, %y, %x, %c mod 16",
            ("75x40x50", "5x40x50x16"),
        ),
        "c",
        "x",
    ),
    "pixels": (
        copy(
            [("y", 300), ("x", 400), ("c", 3)],
            "%c, %y, %x",
            "%y, %x, %c",
            ("3x300x400", "300x400x3"),
            "i8",
        ),
        "x",
        "c",
    ),
    "planes": (
        copy(
            [("c", 3), ("y", 300), ("x", 400)],
            "%y, %x, %c",
            "%c, %y, %x",
            ("300x400x3", "3x300x400"),
        ),
        "x",
        "c",
    ),
    "doubled columns": (
        copy(
            [("c", 2), ("y", 300), ("x", 200)],
            "%c, %y, %x",
            "%y, 2 * %x + %c",
            ("2x300x200", "300x400"),
        ),
        "x",
        "c",
    ),
}
"""Nests with the loops for vectors and for unrolling."""


def schedule_of(text: str, threads: int = 1) -> Schedule | None:
    scop = loopwright.load(text)["f"].scop
    original = Schedule.original(scop)
    return tile_transposition(
        original, original.tree, SchedulingContext(infer_extents(scop, {}), threads)
    )


@pytest.mark.parametrize("name", LARGE)
def test_choice_and_results(name: str) -> None:
    text, vector, unrolled = LARGE[name]
    chosen = schedule_of(text)
    assert chosen is not None
    lanes = min(16, *(chosen.target.lanes(a.element_type) for a in chosen.scop.arrays))
    *_, unroll, vectorise = map(str, chosen.transformations)
    assert unroll == f"unroll{{loops={unrolled}}}"
    assert vectorise == f"vectorize{{loops={vector} width={lanes}}}"
    assert results(text, str(chosen))


def results(text: str, schedule: str) -> bool:
    """Whether a schedule computes what the program does as written."""
    function = loopwright.load(text)["f"]
    a, b = function.scop.arrays
    source, result = (a, b) if a.name == "A" else (b, a)
    kind = TYPES[str(source.element_type)]
    shapes = [tuple(int(str(extent)) for extent in each.shape) for each in (source, result)]
    values = np.random.default_rng(0).integers(-100, 100, shapes[0]).astype(kind)
    outputs = [np.zeros(shapes[1], kind) for _ in range(2)]
    for how, output in zip((None, schedule), outputs, strict=True):
        function.compile(how, threads=2)(values, output)
    return np.array_equal(outputs[0], outputs[1])


@pytest.mark.usefixtures("zen3")
@pytest.mark.parametrize(
    "name", ["plain", "bytes", "backwards", "rows backwards", "batched", "blocks"]
)
def test_the_default_schedule_takes_it(name: str) -> None:
    text, vector, _ = LARGE[name]
    scop = loopwright.load(text)["f"].scop
    chosen = default_schedule(scop, infer_extents(scop, {}), Target.host(), threads=1)
    assert str(chosen) == str(schedule_of(text))
    assert f"vectorize{{loops={vector} " in str(chosen)


def test_threads_share_the_outermost_loop() -> None:
    assert str(schedule_of(matrix(800, 600), threads=2)).endswith("parallel{loops=it}")
    assert str(schedule_of(LARGE["batched"][0], threads=2)).endswith("parallel{loops=n}")


@pytest.mark.parametrize(("n", "m"), [(1, 9), (3, 5), (17, 8), (9, 33), (70, 131)])
@pytest.mark.parametrize("kind", ["i8", "f32"])
def test_schedules_of_large_sizes_at_small_ones(n: int, m: int, kind: str) -> None:
    text = matrix(n, m, kind)
    chosen = schedule_of(matrix(800, 600, kind))
    assert chosen is not None and results(text, str(chosen))


@pytest.mark.parametrize(
    "text",
    [
        copy([("i", 800), ("j", 600)], "%i, %j", "%i, %j", ("800x600", "800x600")),
        copy([("i", 800), ("j", 600)], "%i, 2 * %j", "%j, %i", ("800x1200", "600x800")),
        copy([("i", 800), ("j", 600)], "%i, %j", "%i, 8 * %j", ("800x600", "800x4800")),
        copy([("i", 800), ("j", 600)], "%i, %j", "0, %i", ("800x600", "1x800")),
    ],
    ids=["along the same loop", "no rows", "far apart", "overwritten"],
)
def test_others_stay(text: str) -> None:
    assert schedule_of(text) is None


PHASES = """
func.func @f(%A: memref<60x200xTYPE>, %B: memref<120x400x3xi8>, %m: memref<3xi32>) {
  affine.for %i = 0 to 60 {
    affine.for %j = 0 to 200 {
      affine.for %p = 0 to 2 {
        affine.for %q = 0 to 2 {
          affine.for %c = 0 to 3 {
            %0 = affine.load %A[%i, %j] : memref<60x200xTYPE>
            %1 = arith.extui %0 : TYPE to i32
            %2 = affine.load %m[%c] : memref<3xi32>
            %3 = arith.muli %1, %2 : i32
            %4 = arith.trunci %3 : i32 to i8
            affine.store %4, %B[%i * 2 + %p, %j * 2 + %q, %c] : memref<120x400x3xi8>
          }
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", ["i8", "i16"])
def test_pixels_of_several_phases_and_channels_are_vectors_along_rows(kind: str) -> None:
    """Not tiles that are transposed, although channels lie beside each other."""
    (function,) = loopwright.load(PHASES.replace("TYPE", kind)).values()
    chosen = str(default_schedule(function.scop, {}, threads=1))
    assert all(f"unroll{{loops={loop}}}" in chosen for loop in "pqc"), chosen
    assert "vectorize{loops=j" in chosen
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 100, (60, 200), TYPES[kind])
    factors = rng.integers(0, 99, 3, np.int32)
    found, expected = np.zeros((2, 120, 400, 3), np.int8)
    function.compile(chosen)(pixels, found, factors)
    function.compile()(pixels, expected, factors)
    np.testing.assert_array_equal(found, expected)
