"""Reductions that are exact in any order: which orders are legal, and what they compute."""

from dataclasses import replace

import numpy as np
import pytest
from support import oracle

import loopwright
from loopwright.passes.polyhedral.schedule_tree import Loop, Sequence, replace_node
from loopwright.passes.schedules.errors import IllegalTransformation
from loopwright.passes.schedules.schedule import Schedule

EXACT = (
    *("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"),
    *("maximumf", "minimumf"),
)
INEXACT = ("addf", "mulf", "maxnumf", "minnumf")


def scalar(operation: str, flags: str = "") -> str:
    kind = "f32" if operation.endswith("f") else "i32"
    return f"""
    func.func @f(%n: index, %x: memref<?x4x{kind}>, %s: memref<{kind}>) {{
      affine.for %i = 0 to %n {{
        affine.for %j = 0 to 4 {{
          %v = affine.load %x[%i, %j] : memref<?x4x{kind}>
          %a = affine.load %s[] : memref<{kind}>
          %b = arith.{operation} %a, %v {flags} : {kind}
          affine.store %b, %s[] : memref<{kind}>
        }}
      }}
      return
    }}
    """


def legal(text: str, pipeline: str) -> bool:
    function = loopwright.load(text)["f"]
    try:
        function.schedule(pipeline)
    except IllegalTransformation:
        return False
    return True


ORDERS = ("interchange{loops=j,i}", "reverse{loops=i}", "tile{loops=i,j sizes=3,2}")


@pytest.mark.parametrize("operation", EXACT)
@pytest.mark.parametrize("order", ORDERS)
def test_steps_may_change_places(operation: str, order: str) -> None:
    assert legal(scalar(operation), order)


@pytest.mark.parametrize("operation", INEXACT)
def test_steps_that_round_or_choose_may_not(operation: str) -> None:
    assert not any(legal(scalar(operation), order) for order in ORDERS)
    assert all(legal(scalar(operation, "fastmath<reassoc>"), order) for order in ORDERS)


@pytest.mark.parametrize("mark", ["parallel{loops=%s}", "vectorize{loops=%s}"])
@pytest.mark.parametrize("before", ["", "interchange{loops=j,i},", "reverse{loops=i},"])
def test_steps_may_not_run_together(mark: str, before: str) -> None:
    for loop in ("i", "j"):
        assert not legal(scalar("addi"), before + mark % loop)


def test_a_vector_of_rows_runs_the_steps_of_each_in_turn() -> None:
    text = """
    func.func @f(%n: index, %x: memref<?x?xi32>, %s: memref<?xi32>) {
      affine.for %i = 0 to %n { affine.for %j = 0 to %n {
        %v = affine.load %x[%i, %j] : memref<?x?xi32>
        %a = affine.load %s[%i + %j] : memref<?xi32>
        %b = arith.addi %a, %v : i32
        affine.store %b, %s[%i + %j] : memref<?xi32>
      } }
      return
    }
    """
    # In lockstep, iterations of i with one j use different elements; in parallel they meet.
    assert legal(text, "vectorize{loops=i}")
    assert legal(text, "interchange{loops=j,i},vectorize{loops=i}")
    assert not legal(text, "parallel{loops=i}")


USED = """
func.func @f(%n: index, %x: memref<?xi64>, %s: memref<i64>, %t: memref<?xi64>) {
  affine.for %i = 0 to %n {
    %z = arith.constant 0 : i64
    affine.store %z, %s[] : memref<i64>
    affine.for %j = 0 to %n {
      %v = affine.load %x[%j] : memref<?xi64>
      %a = affine.load %s[] : memref<i64>
      %b = arith.addi %a, %v : i64
      affine.store %b, %s[] : memref<i64>
    }
    %r = affine.load %s[] : memref<i64>
    affine.store %r, %t[%i] : memref<?xi64>
  }
  return
}
"""


def test_other_accesses_stay_outside() -> None:
    """The sum is set to 0 before, and used after, all its steps: in any order of these."""
    assert legal(USED, "reverse{loops=j}")
    assert not legal(USED, "reverse{loops=i}")
    assert not legal(USED, "distribute{loops=i}")


TWO = """
func.func @f(%n: index, %x: memref<?xi32>, %y: memref<?xi32>, %s: memref<?xi32>) {
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xi32>
    %a = affine.load %s[0] : memref<?xi32>
    %b = arith.FIRST %a, %v : i32
    affine.store %b, %s[0] : memref<?xi32>
    %w = affine.load %y[%i] : memref<?xi32>
    %c = affine.load %s[0] : memref<?xi32>
    %d = arith.SECOND %c, %w : i32
    affine.store %d, %s[0] : memref<?xi32>
  }
  return
}
"""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("addi", "addi", True),
        ("addi", "subi", True),
        ("maxsi", "maxsi", True),
        ("maxsi", "maxui", False),
        ("maxsi", "minsi", False),
        ("addi", "muli", False),
    ],
)
def test_steps_of_two_statements(first: str, second: str, expected: bool) -> None:
    """They commute where both are by one operation, and still may not run together."""
    text = TWO.replace("FIRST", first).replace("SECOND", second)
    for order in ("reorder{statements=S1,S0}", "distribute{loops=i}", "reverse{loops=i}"):
        assert legal(text, order) == expected
    assert not legal(text, "vectorize{loops=i}")
    scop = loopwright.load(text)["f"].scop
    outer = scop.tree
    assert isinstance(outer, Loop) and isinstance(outer.body, Sequence)
    swapped = replace(outer, body=Sequence(outer.body.children[::-1]))
    assert oracle.is_legal(scop, swapped, {"n": 3}) == expected
    if expected:
        pipeline = "reorder{statements=S1,S0},distribute{loops=i},reverse{loops=S0.i}"
        kernel = loopwright.load(text)["f"].compile(pipeline, verify=True)
        unscheduled = loopwright.load(text)["f"].compile()
        x, y = np.random.default_rng(0).integers(-9, 9, (2, 17)).astype(np.int32)
        results = [np.array([5], np.int32) for _ in range(2)]
        for code, result in zip((kernel, unscheduled), results, strict=True):
            code(17, x, y, result)
        assert results[0] == results[1]
        assert kernel.verdict.is_proved


def test_a_step_that_uses_the_result_of_another_stays_behind_it() -> None:
    """The second statement adds an element that the first one accumulates in."""
    text = TWO.replace("FIRST", "addi").replace("SECOND", "addi")
    text = text.replace("%w = affine.load %y[%i]", "%w = affine.load %s[0]")
    text = text.replace(
        "affine.load %s[0] : memref<?xi32>\n    %d", "affine.load %s[1] : memref<?xi32>\n    %d"
    )
    text = text.replace("affine.store %d, %s[0]", "affine.store %d, %s[1]")
    assert not legal(text, "reorder{statements=S1,S0}")
    assert not legal(text, "distribute{loops=i}")


@pytest.mark.parametrize(
    "pipeline",
    [
        "interchange{loops=j,i}",
        "reverse{loops=i},pack{loops=i array=s}",
        "tile{loops=i,j sizes=2,2},reverse{loops=it},pack{loops=it array=s}",
        "interchange{loops=j,i},split{loops=i at=3},reverse{loops=j}",
        "strip-mine{loops=i size=2},rfactor{loops=it},parallel{loops=S0.it}",
    ],
)
def test_results(pipeline: str) -> None:
    function = loopwright.load(scalar("subi"))["f"]
    kernel = function.compile(pipeline, threads=2, verify=True)
    values = np.arange(28, dtype=np.int32).reshape(7, 4) * 123456789
    total = np.array(5, np.int32)
    kernel(7, values, total)
    assert total == np.int32(5) - values.sum(dtype=np.int32)


def test_several_reductions_of_one_loop() -> None:
    text = """
    func.func @f(%n: index, %x: memref<?xi64>, %s: memref<i64>, %m: memref<i64>) {
      affine.for %i = 0 to %n {
        %v = affine.load %x[%i] : memref<?xi64>
        %a = affine.load %s[] : memref<i64>
        %b = arith.addi %a, %v : i64
        affine.store %b, %s[] : memref<i64>
        %c = affine.load %m[] : memref<i64>
        %d = arith.maxsi %c, %v : i64
        affine.store %d, %m[] : memref<i64>
      }
      return
    }
    """
    function = loopwright.load(text)["f"]
    steps = "strip-mine{loops=i size=100}"
    with pytest.raises(IllegalTransformation) as caught:
        function.schedule(f"{steps},parallel{{loops=it}}")
    repair = "rfactor{loops=it},parallel{loops=S0.it}"
    assert f"{repair} is legal" in str(caught.value)
    kernel = function.compile(f"{steps},{repair}", threads=2, verify=True)
    values = np.random.default_rng(0).integers(-(2**62), 2**62, 1234)
    total, largest = np.array(5), np.array(-7)
    kernel(1234, values, total, largest)
    assert (total, largest) == (5 + values.sum(), max(-7, values.max()))


def test_partial_maxima_of_nothing_but_nan() -> None:
    """maxnumf prefers a number to NaN: partial results begin as NaN, not as a number."""
    text = scalar("maxnumf", "fastmath<reassoc>")
    kernel = loopwright.load(text)["f"].compile("rfactor{loops=i}", verify=True)
    result = np.array(np.nan, np.float32)
    kernel(3, np.full((3, 4), np.nan, np.float32), result)
    assert np.isnan(result)


def test_the_brute_force_rule_is_the_same() -> None:
    """The oracle of the random tests allows these orders, and refuses these marks."""
    for operation in (*EXACT, *INEXACT):
        scop = loopwright.load(scalar(operation))["f"].scop
        original = Schedule.original(scop)
        (outer,) = original.find_loops(("i",))
        backwards = {name: aff.neg() for name, aff in outer.schedule.items()}
        reversed_, parallel = (
            replace_node(original.tree, outer, new)
            for new in (replace(outer, schedule=backwards), replace(outer, parallel=True))
        )
        assert oracle.is_legal(scop, reversed_, {"n": 3}) == (operation in EXACT)
        assert not oracle.is_legal(scop, parallel, {"n": 3})
