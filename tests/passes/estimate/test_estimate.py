"""What the estimate knows of vectors: sums of integers, ends of loops, gathers."""

from dataclasses import replace

import pytest
from support.targets import NARROW, WIDE

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import candidates, default_schedule
from loopwright.passes.default.vectorise_and_parallelise import vectorise_and_parallelise
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.in_core import InCoreTime
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import leaves
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

SUMS = """
func.func @f(%n: index, %A: memref<?xTYPE>, %B: memref<?xTYPE>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%i] : memref<?xTYPE>
      %1 = affine.load %B[%j] : memref<?xTYPE>
      %2 = arith.ADD %0, %1 : TYPE
      affine.store %2, %A[%i] : memref<?xTYPE>
    }
  }
  return
}
"""
COPY = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %t = 0 to 1000 {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to %m {
        %0 = affine.load %B[FROM] : memref<?x?xf64>
        affine.store %0, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


def original(text: str) -> Schedule:
    return Schedule.original(load(text)["f"].scop)


def test_integers_are_added_in_any_order() -> None:
    """LLVM makes vectors of the terms by itself; of floats it may not.

    Lanes along the results load each term once for several vectors.
    """
    whole, real = (
        Schedule.original(load(SUMS.replace("TYPE", kind).replace("ADD", add))["f"].scop, WIDE)
        for kind, add in (("i64", "addi"), ("f64", "addf"))
    )
    sizes = infer_extents(whole.scop, {"n": 1700})
    context, other = SchedulingContext(sizes, 1), SchedulingContext(sizes, 1)
    assert estimate(whole, context) < estimate(real, other) / 4
    chosen = default_schedule(whole.scop, sizes, WIDE, threads=1)
    assert estimate(chosen, context) < estimate(whole, context)
    assert "vectorize{loops=i" in str(chosen)
    assert "vectorize" in str(default_schedule(real.scop, sizes, WIDE, threads=1))


def seconds(text: str, columns: int, lanes: int, target: Target | None = None) -> float:
    """Per row of so many columns, in vectors; all arrays stay in the nearest cache."""
    before = Schedule.original(load(text)["f"].scop, target)
    sizes = infer_extents(before.scop, {"n": 16, "m": columns})
    # With a factor, the loop over rows is not unrolled fully.
    steps = parse_pipeline(f"unroll{{loops=i factor=2}},vectorize{{loops=j width={lanes}}}")
    return estimate(before.apply_all(steps), SchedulingContext(sizes, 1)) / 16_000


@pytest.mark.parametrize(("target", "lanes"), [(WIDE, 4), (WIDE, 8), (NARROW, 4)])
def test_the_rest_of_a_loop_takes_longer_than_a_vector(target: Target, lanes: int) -> None:
    text = COPY.replace("FROM", "%i, %j")
    one, two, three = (seconds(text, count * lanes, lanes, target) for count in (1, 2, 3))
    assert two == pytest.approx(2 * one) and three == pytest.approx(3 * one)
    # Without registers for masks, the masked store takes longer still.
    assert seconds(text, lanes + 3, lanes, target) >= three * (1 - 1e-6)
    # One element is a vector of its own, without a mask.
    assert two <= seconds(text, lanes + 1, lanes, target) <= three


GUARDED = """
func.func @f(%A: memref<9x16xf64>, %B: memref<9x16xf64>) {
NESTS  return
}
"""
GUARDED_NEST = """
  affine.for %iROW = 0 to 16 {
    %aROW = affine.load %A[ROW, %iROW] : memref<9x16xf64>
    affine.store %aROW, %B[ROW, %iROW] : memref<9x16xf64>
    affine.if affine_set<(d0) : (d0 - FIRST >= 0)>(%iROW) {
      affine.store %aROW, %A[ROW, %iROW] : memref<9x16xf64>
    }
  }
"""


def test_the_order_in_which_statements_are_asked_for_does_not_matter() -> None:
    """Some loops have guards; all are short, and unrolled in vectors."""
    nests = "".join(
        GUARDED_NEST.replace("ROW", str(row)).replace("FIRST", str(3 * (row % 2)))
        for row in range(9)
    )
    before = original(GUARDED.replace("NESTS", nests))
    steps = ",".join(f"vectorize{{loops=i{row} width=8}}" for row in range(9))
    schedule = before.apply_all(parse_pipeline(steps))
    context = SchedulingContext({}, 1)
    program = ScheduledProgram(schedule, context)
    asked = list(leaves(schedule.tree, ()))
    alone = {leaf.statement: InCoreTime(program).seconds(leaf, outer) for leaf, outer in asked}
    assert len(set(alone.values())) > 1
    together = InCoreTime(program)
    for leaf, outer in [*asked[::-1], *asked, *asked[::2], *asked[1::2]]:
        assert together.seconds(leaf, outer) == alone[leaf.statement]


def test_a_gather_takes_longer_than_its_elements_one_by_one() -> None:
    # Of every third column: neighbours are transposed in registers.
    along, across = (COPY.replace("FROM", index) for index in ("%i, %j", "%j, 3 * %i"))
    assert seconds(across, 16, 8) > 4 * seconds(along, 16, 8)


def test_loops_shorter_than_half_a_vector_are_left_to_llvm() -> None:
    before = original(COPY.replace("FROM", "%i, %j"))
    lanes = before.target.lanes(before.scop.arrays[0].element_type)
    for columns, wanted in ((lanes // 2 - 1, False), (lanes // 2, True)):
        context = SchedulingContext(infer_extents(before.scop, {"n": 2, "m": columns}), 1)
        chosen = vectorise_and_parallelise(before, before.tree, context)
        assert ("vectorize{loops=j" in str(chosen)) == wanted


def test_the_least_float_is_found_in_any_order() -> None:
    """LLVM makes vectors of `minimumf`, which has one result for NaN, and of `minnumf` alone.

    A sum in order takes longer.
    """
    text = SUMS.replace("TYPE", "f64")
    names = ("minimumf", "minnumf", "addf")
    schedules = [original(text.replace("ADD", name)) for name in names]
    sizes = infer_extents(schedules[0].scop, {"n": 1700})
    least, number, ordered = (estimate(s, SchedulingContext(sizes, 1)) for s in schedules)
    assert least == number < ordered / 4


CALL = """
func.func @f(%n: index, %m: index, %A: memref<?x?xf64>, %B: memref<?xf64>) {
  affine.for %t = 0 to 1000 {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to %m {
        %0 = affine.load %B[FROM] : memref<?xf64>
        %1 = math.atan %0 : f64
        affine.store %1, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""


def test_what_is_computed_from_the_same_loads_again_is_computed_once() -> None:
    text = CALL.replace("math.atan %0 : f64", 'math.external "j0"(%0) : (f64) -> f64')
    inner, outer = (seconds(text.replace("FROM", name), 512, 8) for name in ("%j", "%i"))
    assert outer < inner / 50


def test_each_lane_calls_the_functions_that_are_none_of_vectors() -> None:
    before = original(CALL.replace("FROM", "%j"))
    library = replace(before.target, features=before.target.features - {"fma", "asimd"})
    sizes = infer_extents(before.scop, {"n": 16, "m": 512})
    vectors = before.apply_all(parse_pipeline("vectorize{loops=j width=8}"))
    times = [
        estimate(replace(schedule, target=target, reassociate=True), SchedulingContext(sizes, 1))
        for schedule in (before, vectors)
        for target in (
            replace(library, vector_functions=frozenset[str]()),
            replace(library, vector_functions=frozenset(["atan"])),
        )
    ]
    scalar, _, calls, functions = times
    assert calls == pytest.approx(scalar, rel=0.1)
    assert functions == pytest.approx(calls / 4, rel=0.1)


def test_elementary_functions_take_as_long_for_a_vector_as_for_a_scalar() -> None:
    text = CALL.replace("FROM", "%j").replace("math.atan", "math.tanh")
    before = original(text)
    target = before.target
    lanes = target.lanes(before.scop.arrays[0].element_type)
    without = replace(target, features=target.features - {"fma", "asimd"})
    sizes = infer_extents(before.scop, {"n": 16, "m": 512})
    own, double, library = (
        estimate(
            replace(before.apply_all(parse_pipeline(steps)), target=target),
            SchedulingContext(sizes, 1),
        )
        for steps, target in (
            (f"vectorize{{loops=j width={lanes}}}", target),
            (f"vectorize{{loops=j width={2 * lanes}}}", target),
            (f"vectorize{{loops=j width={lanes}}}", without),
        )
    )
    # The instructions of two registers wait less for each other.
    assert 0.6 * own < double < 0.8 * own
    assert own < library / 2


def test_short_chains_overlap() -> None:
    """A sum of four terms has ended before its first term could have held up another sum's."""
    text = SUMS.replace("TYPE", "f64").replace("ADD", "addf")
    before = original(text.replace("%j = 0 to %n", "%j = 0 to 4"))
    long = original(text.replace("%j = 0 to %n", "%j = 0 to 400"))
    sizes = infer_extents(before.scop, {"n": 100})
    assert (
        estimate(before, SchedulingContext(sizes, 1))
        < estimate(long, SchedulingContext(sizes, 1)) / 250
    )


@pytest.mark.parametrize(
    "name", ["polybench/gemm", "polybench/trmm", "field/conv2d_stride2", "field/tridiagonal_rows"]
)
def test_what_one_schedule_has_asked_does_not_change_the_estimate_of_the_next(name: str) -> None:
    entry = catalogue()[name]
    function = load(entry.text)[entry.function]
    sizes = function.checked_sizes(entry.arguments("SMALL"))
    shared = SchedulingContext(sizes, 1)
    schedules = list(candidates(Schedule.original(function.scop, WIDE), shared))
    assert len(schedules) > 1
    together = [estimate(each, shared) for each in (*schedules, *schedules)]
    apart = [estimate(each, SchedulingContext(sizes, 1)) for each in schedules]
    assert together == apart * 2
