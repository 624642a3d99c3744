"""Neighbours along a row come from vectors of earlier iterations, and results do not change."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.targets import NARROW, WIDE, runs_here

import loopwright
from loopwright.lowering.generate import generate
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.errors import TransformationError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

Statement = tuple[str, int, list[tuple[str, int]]]
"""The array and the offset that it stores a sum to, and those of its terms."""

PROGRAM = """
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  LOOPS
  return
}
"""
LOOP = """
  affine.for %i = 2 to affine_map<()[s0] -> (s0 - 2)>()[%n] {
    BODY
  }
"""
# Every second element, or every third, by steps or by factors.
STRIDED = """
  affine.for %i = 2 to affine_map<()[s0] -> (s0 - 2)>()[%n] step STRIDE {
    BODY
  }
"""
SCALED = """
  affine.for %i = 1 to affine_map<()[s0] -> ((s0 - 2) floordiv STRIDE)>()[%n] {
    BODY
  }
"""


def rows(*loops: list[Statement], loop: str = LOOP, stride: int = 1) -> Function:
    """Loops over rows, with statements in each."""
    bodies = [loop.replace("BODY", body(statements)) for statements in loops]
    text = PROGRAM.replace("LOOPS", "".join(bodies)).replace("STRIDE", str(stride))
    return loopwright.load(text.replace("[%i", f"[{stride} * %i") if loop is SCALED else text)["f"]


def body(statements: list[Statement]) -> str:
    lines: list[str] = []
    for number, (target, offset, sources) in enumerate(statements):
        name = f"s{number}x"
        for k, (array, shift) in enumerate(sources):
            lines.append(f"%{name}{k} = affine.load %{array}[%i + {shift}] : memref<?xf64>")
        value = f"%{name}0"
        for k in range(1, len(sources)):
            lines.append(f"%{name}t{k} = arith.addf {value}, %{name}{k} : f64")
            value = f"%{name}t{k}"
        lines.append(f"affine.store {value}, %{target}[%i + {offset}] : memref<?xf64>")
    return "\n    ".join(lines).replace("+ -", "- ")


def loop_ir(schedule: Schedule, n: int = 133) -> str:
    return str(generate(schedule, {"n": n, "A_dim0": n, "B_dim0": n}))


def check(function: Function, schedule: Schedule, n: int) -> None:
    arrays = [np.random.default_rng(k).random(n) for k in range(2)]
    expected = [array.copy() for array in arrays]
    function.compile(None)(n, *expected)
    function.compile(schedule)(n, *arrays)
    for array, wanted in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(array, wanted)


THREE = ("B", 0, [("A", -1), ("A", 0), ("A", 1)])


def test_one_vector_of_a_row_is_loaded_per_iteration() -> None:
    function = rows([THREE])
    schedule = function.schedule("vectorize{loops=i width=8}", WIDE)
    loop = loop_ir(schedule).split("affine.for")[1].split("affine.yield")[0]
    assert loop.count("vector_load") == 1
    assert loop.count("vector.shuffle") == 2
    for n in (36, 37, 44, 133):
        check(function, schedule, n)


def test_bytes_are_loaded_where_they_begin() -> None:
    text = PROGRAM.replace("LOOPS", LOOP.replace("BODY", body([THREE])))
    function = loopwright.load(text.replace("f64", "i16").replace("addf", "addi"))["f"]
    schedule = function.schedule("vectorize{loops=i width=32}", WIDE)
    assert "vector.shuffle" not in loop_ir(schedule, 400)


def test_short_vectors_are_loaded_where_they_begin() -> None:
    schedule = rows([THREE]).schedule("vectorize{loops=i width=4}", NARROW)
    assert "vector.shuffle" not in loop_ir(schedule)


@pytest.mark.parametrize("target", [WIDE, NARROW])
@pytest.mark.parametrize("behind", [1, 2])
def test_what_another_statement_has_stored_before_stays_in_registers(
    target: Target, behind: int
) -> None:
    function = rows([THREE], [("A", 0, [("B", -1), ("B", 0), ("B", 1)])])
    width = target.vector_bits // 64
    schedule = function.schedule(
        f"shift{{loops=S1.i offset={behind * width}}},fuse{{loops=S0.i,S1.i}},"
        f"split{{loops=S0.i at={behind * width + 2}}},split{{loops=S1.i at=n-2}},"
        f"vectorize{{loops=S1.i width={width}}}",
        target,
    )
    loop = loop_ir(schedule).split("iter_args")[1].split("affine.yield")[0]
    assert loop.count("load %B") == (0 if behind == 1 else 1), "two vectors are carried at most"
    for n in (60, 61, 67, 133):
        check(function, schedule, n)


@pytest.mark.parametrize("target", [WIDE, NARROW])
@pytest.mark.parametrize("loop", [STRIDED, SCALED])
def test_elements_between_those_that_are_stored_stay_in_registers(
    target: Target, loop: str
) -> None:
    function = rows([("A", 0, [("A", -1), ("A", 0), ("A", 1)])], loop=loop, stride=2)
    width = target.vector_bits // 64
    schedule = function.schedule(f"vectorize{{loops=i width={width}}}", target)
    body = loop_ir(schedule).split("iter_args")[1].split("affine.yield")[0]
    assert body.count("vector.gather") == 2, "what is stored, and its neighbours on the right"
    assert body.count("vector.shuffle") == 1
    for n in (20, 60, 61, 75, 133):
        check(function, schedule, n)


def test_elements_that_are_stored_on_the_way_are_loaded() -> None:
    function = rows([("A", 0, [("A", -1), ("A", 1), ("A", 2)])], loop=STRIDED, stride=2)
    schedule = function.schedule("vectorize{loops=i width=8}", WIDE)
    body = loop_ir(schedule).split("iter_args")[1].split("affine.yield")[0]
    assert body.count("vector.gather") == 2, "the neighbours are carried, the next one is not"
    check(function, schedule, 133)


@pytest.mark.parametrize(("loop", "stride"), [(LOOP, 1), (STRIDED, 2), (STRIDED, 3), (SCALED, 2)])
def test_stores_between_are_seen(loop: str, stride: int) -> None:
    """Of many programs, whatever they store, results are those of the loops as written."""
    chance = random.Random(1)
    shuffled = 0
    for _ in range(60):
        statements: list[Statement] = [
            (
                chance.choice("AB"),
                chance.choice((-2, -1, 0, 0, 1)),
                [(chance.choice("AB"), chance.randint(-2, 2)) for _ in range(3)],
            )
            for _ in range(chance.randint(1, 3))
        ]
        function = rows(statements, loop=loop, stride=stride)
        try:
            schedule = function.schedule("vectorize{loops=i width=8}", WIDE)
        except TransformationError:
            continue
        shuffled += "vector.shuffle" in loop_ir(schedule)
        check(function, schedule, chance.choice((40, 53, 91)))
    assert shuffled > 5


@pytest.mark.parametrize(("loop", "stride"), [(LOOP, 1), (STRIDED, 2)])
@pytest.mark.parametrize("width", [4, 8])
def test_a_row_stores_what_is_a_shuffle_of_another(loop: str, stride: int, width: int) -> None:
    """What is carried is known when all loads have been replaced."""
    statements: list[Statement] = [
        ("B", 0, [("A", -4 * stride)]),
        ("B", -stride, [("B", -stride), ("A", 5 * stride)]),
    ]
    inside = loop.replace(
        "%i = 2 to affine_map<()[s0] -> (s0 - 2)>", "%i = 8 to affine_map<()[s0] -> (s0 - 12)>"
    )
    function = rows(statements, loop=inside, stride=stride)
    for target in filter(runs_here, (WIDE, NARROW)):
        schedule = function.schedule(f"vectorize{{loops=i width={width}}}", target)
        for n in (64, 133):
            arrays = [np.random.default_rng(k).random(n) for k in range(2)]
            expected = [array.copy() for array in arrays]
            function.compile(None)(n, *expected)
            function.compile(schedule, target=target)(n, *arrays)
            np.testing.assert_array_equal(arrays, expected)
