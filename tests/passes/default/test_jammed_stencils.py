"""Time tiles of stencils with neighbours in other rows run several rows side by side, bit-equal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.targets import NARROW, WIDE

import loopwright
from loopwright.lowering.generate import generate
from loopwright.lowering.validation.validate import Validator
from loopwright.passes.default.time_tiling import time_tiling
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.affine_schedule import AffineSchedule
from loopwright.runtime.program import Function

SWEEP = """
func.func @f(%steps: index, %n: index, ARRAYS) {
  CONSTANTS
  affine.for %t = 0 to %steps {
    BODY
  }
  return
}
"""


class Sweeps:
    """A program of sweeps over the interior of planes or boxes, statement by statement."""

    def __init__(self, arrays: str, kind: str, rank: int) -> None:
        self.arrays, self.kind, self.rank = arrays, kind, rank
        self.memref = f"memref<{'?x' * rank}{kind}>"
        self.lines: list[str] = []
        self.done: list[str] = []
        self.constants: list[str] = []
        self.count = 0

    def value(self, operation: str) -> str:
        self.count += 1
        self.lines.append(f"%{self.count} = {operation}")
        return f"%{self.count}"

    def at(self, array: str, *offsets: int) -> str:
        shift = offsets or (0,) * self.rank
        place = ", ".join(f"%{i} + {o}" for i, o in zip("ijk", shift, strict=False))
        return self.value(f"affine.load %{array}[{place}] : {self.memref}")

    def op(self, name: str, left: str, right: str) -> str:
        return self.value(f"arith.{name} {left}, {right} : {self.kind}")

    def constant(self, value: str) -> str:
        name = f"%c{len(self.constants)}"
        self.constants.append(f"{name} = arith.constant {value} : {self.kind}")
        return name

    def total(self, parts: list[str]) -> str:
        result = parts[0]
        for part in parts[1:]:
            result = self.op("addi" if self.kind[0] == "i" else "addf", result, part)
        return result

    def store(self, value: str, array: str) -> None:
        bound = "affine_map<()[s0] -> (s0 - 1)>()[%n]"
        loops = "ijk"[: self.rank]
        place = ", ".join(f"%{i}" for i in loops)
        self.lines.append(f"affine.store {value}, %{array}[{place}] : {self.memref}")
        heads = [f"affine.for %{i} = 1 to {bound} {{" for i in loops]
        self.done += [*heads, *self.lines, *"}" * self.rank]
        self.lines = []

    @property
    def text(self) -> str:
        arrays = ", ".join(f"%{a}: {self.memref}" for a in self.arrays)
        text = SWEEP.replace("ARRAYS", arrays).replace("CONSTANTS", "\n".join(self.constants))
        return text.replace("BODY", "\n".join(self.done))


BOX = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
CROSS = [(0, 0), (0, -1), (0, 1), (1, 0), (-1, 0)]


def nine_points() -> Sweeps:
    s = Sweeps("AB", "f64", 2)
    ninth = s.constant("0.111")
    for source, target in ("AB", "BA"):
        s.store(s.op("mulf", ninth, s.total([s.at(source, *o) for o in BOX])), target)
    return s


def variable_coefficients() -> Sweeps:
    s = Sweeps("ABCD", "f64", 2)
    for source, target in ("AB", "BA"):
        around = s.total([s.at(source, *o) for o in CROSS[1:]])
        terms = [s.op("mulf", s.at("C"), s.at(source)), s.op("mulf", s.at("D"), around)]
        s.store(s.total(terms), target)
    return s


def wave_with_two_old_steps() -> Sweeps:
    s = Sweeps("ABC", "f32", 2)
    fifth, two = s.constant("0.2"), s.constant("2.0")
    for new, now, old in ("CBA", "ACB", "BAC"):
        spread = s.op("mulf", fifth, s.total([s.at(now, *o) for o in CROSS]))
        s.store(s.op("subf", s.op("addf", spread, s.at(now)), s.op("mulf", two, s.at(old))), new)
    return s


def seven_points_with_a_source() -> Sweeps:
    s = Sweeps("ABF", "f64", 3)
    seventh = s.constant("0.14")
    star = [o for o in np.ndindex(3, 3, 3) if sum(abs(k - 1) for k in o) <= 1]
    for source, target in ("AB", "BA"):
        around = s.total([s.at(source, *(k - 1 for k in o)) for o in star])
        s.store(s.op("addf", s.at("F"), s.op("mulf", seventh, around)), target)
    return s


def life() -> Sweeps:
    s = Sweeps("AB", "i8", 2)
    one, three = s.constant("1"), s.constant("3")
    for source, target in ("AB", "BA"):
        neighbours = s.total([s.at(source, *o) for o in BOX if o != (0, 0)])
        known = s.op("ori", neighbours, s.at(source))
        lives = s.value(f"arith.cmpi eq, {known}, {three} : i8")
        zero = s.op("subi", one, one)
        s.store(s.value(f"arith.select {lives}, {one}, {zero} : i8"), target)
    return s


PROGRAMS = (
    (nine_points, 1500, 61),
    (variable_coefficients, 1500, 61),
    (wave_with_two_old_steps, 2000, 75),
    (seven_points_with_a_source, 150, 27),
    (life, 6000, 139),
)


def jammed(
    program: Sweeps, n: int, threads: int, target: Target = WIDE
) -> tuple[Function, Schedule]:
    function = loopwright.load(program.text)["f"]
    scheduled = Schedule.original(function.scop, target).apply(AffineSchedule())
    extents = infer_extents(function.scop, {"steps": 100, "n": n})
    schedule = time_tiling(scheduled, scheduled.tree, SchedulingContext(extents, threads))
    assert schedule is not None
    return function, schedule


@pytest.mark.parametrize(("make", "large", "small"), PROGRAMS)
def test_rows_run_side_by_side(make: Callable[[], Sweeps], large: int, small: int) -> None:
    program = make()
    function, schedule = jammed(program, large, 2)
    assert "unroll-and-jam{loops=i factor=4}" in str(schedule)
    rng = np.random.default_rng(1)
    shape = (small,) * program.rank
    if program.kind == "i8":
        arrays = [rng.integers(0, 2, shape, np.int8) for _ in program.arrays]
    else:
        kind = {"f32": np.float32, "f64": np.float64}[program.kind]
        arrays = [rng.random(shape).astype(kind) for _ in program.arrays]
    expected = [array.copy() for array in arrays]
    function.compile(schedule, threads=2)(19, small, *arrays)
    function.compile(None)(19, small, *expected)
    for array, wanted in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(array, wanted)


@pytest.mark.parametrize("make", [nine_points, variable_coefficients])
def test_translation_validation_accepts_it(make: Callable[[], Sweeps]) -> None:
    _, schedule = jammed(make(), 1500, 2)
    validator = Validator(schedule)
    generate(schedule, {"steps": 19, "n": 61}, inspect=validator)
    assert validator.verdict is not None and validator.verdict.is_proved


STAGGERED = [nine_points, variable_coefficients]


@pytest.mark.parametrize("make", STAGGERED)
def test_statements_of_long_rows_share_a_vector_loop(make: Callable[[], Sweeps]) -> None:
    program = make()
    _, schedule = jammed(program, 6000, 1)
    shared = [loop for loop in loops(schedule.tree) if loop.vector and len(loop.schedule) == 2]
    assert len(shared) == 1, "between one where the first alone runs, and one for the last alone"
    width = shared[0].vector
    values = [str(aff.get_constant_val()) for aff in shared[0].schedule.values()]
    assert values == ["0", str(width)], "a whole vector behind"


@pytest.mark.parametrize("make", [wave_with_two_old_steps, life])
def test_three_statements_and_bytes_have_loops_of_their_own(make: Callable[[], Sweeps]) -> None:
    assert "shift" not in str(jammed(make(), 6000, 1)[1])


@pytest.mark.parametrize("make", STAGGERED)
def test_statements_of_short_rows_or_vectors_have_loops_of_their_own(
    make: Callable[[], Sweeps],
) -> None:
    program = make()
    lanes = WIDE.vector_bits // {"f64": 64, "f32": 32, "i8": 8}[program.kind]
    function = loopwright.load(program.text)["f"]
    scheduled = Schedule.original(function.scop, WIDE).apply(AffineSchedule())
    extents = infer_extents(function.scop, {"steps": 100, "n": 31 * lanes})
    schedule = time_tiling(scheduled, scheduled.tree, SchedulingContext(extents, 1))
    assert schedule is None or "shift" not in str(schedule)
    assert "shift" not in str(jammed(program, 6000, 1, NARROW)[1])


def test_rows_of_every_length_are_finished() -> None:
    """From rows that end in the first vector to some that fill several, bit-equal."""
    program = nine_points()
    function, schedule = jammed(program, 1500, 1)
    kernel = function.compile(schedule)
    for n in (3, 5, 9, 10, 11, 17, 18, 26, 27, 42, 50):
        arrays = [np.random.default_rng(k).random((n, n)) for k in range(2)]
        expected = [array.copy() for array in arrays]
        kernel(5, n, *arrays)
        function.compile(None)(5, n, *expected)
        for array, wanted in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(array, wanted)
