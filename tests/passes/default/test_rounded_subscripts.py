"""Subscripts with quotients and remainders: loops are cut so that they are affine."""

from __future__ import annotations

import numpy as np
import pytest
from support.targets import NARROW, WIDE

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.rounded_subscripts import cut_at_rounding, in_blocks
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import chain, nests
from loopwright.passes.schedules.schedule import Schedule

TYPES = {"i8": np.int8, "i16": np.int16, "f32": np.float32, "f64": np.float64}


def copy(loops: dict[str, str], source: str, result: str, kind: str) -> str:
    """A nest that copies elements between arrays of three dimensions."""
    array = f"memref<?x?x?x{kind}>"
    return "\n".join(
        [
            f"func.func @f(%c: index, %h: index, %w: index, %A: {array}, %B: {array}) {{",
            *(f"affine.for %{name} = 0 to {bound} {{" for name, bound in loops.items()),
            f"%0 = affine.load %A[{source}] : {array}",
            f"affine.store %0, %B[{result}] : {array}",
            *("}" for _ in loops),
            "return",
            "}",
        ]
    )


def doubled(size: str) -> str:
    return f"affine_map<()[s0] -> (2 * s0)>()[%{size}]"


SHUFFLE = (
    {"k": "%c", "y": doubled("h"), "x": doubled("w")},
    "4 * %k + 2 * (%y mod 2) + %x mod 2, %y floordiv 2, %x floordiv 2",
    "%k, %y, %x",
)
SPACE_TO_DEPTH = (
    {"k": "%c", "row": doubled("h"), "column": doubled("w")},
    "%k, %row, %column",
    "%k * 4 + (%row mod 2) * 2 + %column mod 2, %row floordiv 2, %column floordiv 2",
)
ENLARGED = (
    {"k": "%c", "y": doubled("h"), "x": doubled("w")},
    "%k, %y floordiv 2, %x floordiv 2",
    "%k, %y, %x",
)
SHIFTED = (
    {"k": "%c", "y": doubled("h"), "x": doubled("w")},
    "%k, (%y + 1) floordiv 2, (%x + 1) floordiv 2",
    "%k, %y, %x",
)
PHASES = (
    {"k": "%c", "y": "%h", "x": "affine_map<()[s0] -> (3 * s0)>()[%w]"},
    "%k * 3 + %x mod 3, %y, %x floordiv 3",
    "%k, %y, %x",
)
PANELS = (
    {"k": "%c", "y": "%h", "x": "affine_map<()[s0] -> (16 * s0)>()[%w]"},
    "%k, %y, %x",
    "%k, %x floordiv 16, 16 * %y + %x mod 16",
)
PROGRAMS = {
    "shuffle": SHUFFLE,
    "space to depth": SPACE_TO_DEPTH,
    "enlarged": ENLARGED,
    "shifted": SHIFTED,
    "phases": PHASES,
    "panels": PANELS,
}


def original_of(name: str, kind: str, target: Target | None = None) -> Schedule:
    scop = loopwright.load(copy(*PROGRAMS[name], kind))["f"].scop
    return Schedule.original(scop, target or Target.host())


def context_of(schedule: Schedule, c: int, h: int, w: int) -> SchedulingContext:
    return SchedulingContext(infer_extents(schedule.scop, {"c": c, "h": h, "w": w}), 1)


@pytest.mark.parametrize(
    ("name", "size"),
    [("shuffle", 2), ("space to depth", 2), ("enlarged", 2), ("phases", 3), ("panels", 16)],
)
def test_innermost_loops_are_cut_into_periods(name: str, size: int) -> None:
    original = original_of(name, "f32")
    cut = cut_at_rounding(original, context_of(original, 4, 30, 50))
    innermost = chain(nests(original.tree)[0])[-1].name
    assert str(cut) == f"tile{{loops={innermost} sizes={size}}}"


def test_affine_subscripts_are_left_alone() -> None:
    text = copy({"k": "%c", "y": "%h", "x": "%w"}, "%k, %y, %x", "%k, %y, 2 * %x + 1", "f32")
    original = Schedule.original(loopwright.load(text)["f"].scop)
    context = context_of(original, 4, 30, 50)
    assert cut_at_rounding(original, context) is None
    assert in_blocks(original, chain(nests(original.tree)[0]), context) is original


@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["avx512", "avx2"])
@pytest.mark.parametrize("kind", ["f32", "f64", "i16"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("c", "h", "w"), [(16, 60, 64), (5, 77, 83)])
def test_the_cut_loop_has_vectors(
    name: str, kind: str, target: Target, c: int, h: int, w: int
) -> None:
    original = original_of(name, kind)
    sizes = context_of(original, c, h, w).sizes
    chosen = str(default_schedule(original.scop, sizes, target, threads=1))
    innermost = chain(nests(original.tree)[0])[-1].name
    assert f"loops={innermost} sizes=" in chosen
    # Without masks, LLVM may have the rests of rows as loops.
    assert "vectorize" in chosen or (target is NARROW and w % 2)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("c", "h", "w"), [(1, 1, 1), (3, 2, 17), (2, 5, 64), (4, 3, 131)])
def test_results_are_those_of_the_program(name: str, kind: str, c: int, h: int, w: int) -> None:
    original = original_of(name, kind)
    chosen = default_schedule(original.scop, context_of(original, 8, 60, 64).sizes, threads=1)
    function = loopwright.load(copy(*PROGRAMS[name], kind))["f"]
    shape = (4 * c, 2 * h + 1, 16 * w) if name != "panels" else (c, 2 * h, 16 * w)
    source = np.random.default_rng(h).integers(-99, 99, shape).astype(TYPES[kind])
    expected, result = (np.zeros((4 * c, max(2 * h, w), 16 * max(w, h)), TYPES[kind]) for _ in "ab")
    function.compile(None)(c, h, w, source, expected)
    function.compile(str(chosen))(c, h, w, source, result)
    np.testing.assert_array_equal(result, expected)
    assert expected.any()
