"""Which loops run in vectors, marked ones and those of LLVM, and what guards around them cost."""

from __future__ import annotations

import pytest
from support.targets import WIDE

from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.in_core import CoreCycles, InCoreTime
from loopwright.passes.estimate.scheduled_program import ScheduledProgram, outermost_parallel_loops
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.isl_context import ISL_LOCK
from loopwright.passes.polyhedral.schedule_tree import leaves
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

pytestmark = pytest.mark.usefixtures("zen3")

PRODUCT = """
func.func @f(%A: memref<64x96xTYPE>, %B: memref<96x128xTYPE>, %C: memref<64x128xTYPE>) {
  %c0 = arith.constant 0.0 : TYPE
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 128 {
      affine.store %c0, %C[%i, %j] : memref<64x128xTYPE>
      affine.for %k = 0 to 96 {
        %0 = affine.load %A[%i, %k] : memref<64x96xTYPE>
        %1 = affine.load %B[%k, %j] : memref<96x128xTYPE>
        %2 = affine.load %C[%i, %j] : memref<64x128xTYPE>
        %3 = arith.mulf %0, %1 : TYPE
        %4 = arith.addf %2, %3 : TYPE
        affine.store %4, %C[%i, %j] : memref<64x128xTYPE>
      }
    }
  }
  return
}
"""
FILTER = """
func.func @f(%A: memref<5000xTYPE>, %H: memref<TAPSxTYPE>, %B: memref<4096xTYPE>) {
  affine.for %i = 0 to 4096 {
    affine.for %k = 0 to TAPS {
      %0 = affine.load %A[%i + %k] : memref<5000xTYPE>
      %1 = affine.load %H[%k] : memref<TAPSxTYPE>
      %2 = affine.load %B[%i] : memref<4096xTYPE>
      %3 = arith.mulf %0, %1 : TYPE
      %4 = arith.addf %2, %3 : TYPE
      affine.store %4, %B[%i] : memref<4096xTYPE>
    }
  }
  return
}
"""
TRIANGLE = """
func.func @f(%A: memref<200x200xTYPE>, %x: memref<200x64xTYPE>, %y: memref<200x64xTYPE>) {
  affine.for %i = 0 to 200 {
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      affine.for %k = 0 to 64 {
        %0 = affine.load %A[%i, %j] : memref<200x200xTYPE>
        %1 = affine.load %x[%j, %k] : memref<200x64xTYPE>
        %2 = affine.load %y[%i, %k] : memref<200x64xTYPE>
        %3 = arith.mulf %0, %1 : TYPE
        %4 = arith.addf %2, %3 : TYPE
        affine.store %4, %y[%i, %k] : memref<200x64xTYPE>
      }
    }
  }
  return
}
"""
SHIFTED = """
func.func @f(%A: memref<100x1000xTYPE>) {
  affine.for %t = 0 to 100 {
    affine.for %i = 0 to 999 {
      %0 = affine.load %A[%t, %i] : memref<100x1000xTYPE>
      %1 = affine.load %A[%t, SOURCE] : memref<100x1000xTYPE>
      %2 = arith.addf %0, %1 : TYPE
      affine.store %2, %A[%t, TARGET] : memref<100x1000xTYPE>
    }
  }
  return
}
"""

KINDS = pytest.mark.parametrize("kind", ["f32", "f64"])


def scheduled(text: str, kind: str, steps: str = "") -> Schedule:
    schedule = Schedule.original(load(text.replace("TYPE", kind))["f"].scop)
    return schedule.apply_all(parse_pipeline(steps)) if steps else schedule


def cycles(schedule: Schedule) -> dict[str, CoreCycles]:
    """The cycles of each statement."""
    time = InCoreTime(ScheduledProgram(schedule, SchedulingContext({}, 1)))
    found = {leaf.statement: time.cycles(leaf, loops) for leaf, loops in leaves(schedule.tree, ())}
    return {name: each for name, each in found.items() if each is not None}


@KINDS
def test_guards_of_outer_loops_leave_vectors(kind: str) -> None:
    """The zeros are stored in the first iteration of k alone: all lanes agree on that."""
    steps = "affine-schedule,interchange{loops=i,k,j},vectorize{loops=j width=8}"
    found = cycles(scheduled(PRODUCT, kind, steps))
    assert {each.lanes for each in found.values()} == {8.0}
    assert all(0 < each.guards < 1 for each in found.values())


@KINDS
def test_guards_of_the_vector_loop_itself_leave_scalars(kind: str) -> None:
    text = SHIFTED.replace("SOURCE", "%i").replace("TARGET", "%i")
    text = text.replace(
        "    }\n  }\n  return",
        "    }\n    affine.for %i = 500 to 1000 {\n"
        "      %0 = affine.load %A[%t, %i] : memref<100x1000xTYPE>\n"
        "      affine.store %0, %A[%t, %i] : memref<100x1000xTYPE>\n    }\n  }\n  return",
    )
    found = cycles(scheduled(text, kind, "fuse{loops=S0.i,S1.i},vectorize{loops=i width=8}"))
    assert {each.lanes for each in found.values()} == {1.0}
    assert all(each.guards > 0 for each in found.values())


CLAMPED = """
func.func @f(%A: memref<100x1000xTYPE>, %B: memref<100x1000xTYPE>) {
  affine.for %t = 0 to 100 {
    affine.for %i = 0 to 1000 {
      %0 = affine.load %A[%t, %i] : memref<100x1000xTYPE>
      %1 = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) -> TYPE {
        %2 = affine.load %A[%t, %i - 1] : memref<100x1000xTYPE>
        affine.yield %2 : TYPE
      } else {
        affine.yield %0 : TYPE
      }
      %3 = arith.subf %1, %0 : TYPE
      affine.store %3, %B[%t, %i] : memref<100x1000xTYPE>
    }
  }
  return
}
"""


@KINDS
def test_llvm_selects_values_at_borders(kind: str) -> None:
    found = cycles(scheduled(CLAMPED, kind))
    assert len(found) == 3
    assert max(found.values(), key=lambda each: each.instances).lanes > 1


@KINDS
@pytest.mark.parametrize(("taps", "is_unrolled"), [(12, True), (48, True), (400, False)])
def test_llvm_unrolls_what_is_short_and_makes_vectors_around_it(
    kind: str, taps: int, is_unrolled: bool
) -> None:
    (found,) = cycles(scheduled(FILTER.replace("TAPS", str(taps)), kind)).values()
    assert (found.lanes > 1) == is_unrolled


@KINDS
def test_the_inner_vectors_count_where_the_outer_ones_cannot_be(kind: str) -> None:
    both = scheduled(TRIANGLE, kind, "vectorize{loops=i width=4},vectorize{loops=k width=4}")
    inner = scheduled(TRIANGLE, kind, "vectorize{loops=k width=4}")
    (one,), (other,) = cycles(both).values(), cycles(inner).values()
    assert one.lanes == other.lanes == 4.0


@KINDS
@pytest.mark.parametrize(
    ("source", "target", "is_vector"),
    [("%i + 1", "%i", True), ("%i", "%i + 1", False), ("%i", "%i", True)],
)
def test_llvm_loads_before_it_stores(kind: str, source: str, target: str, is_vector: bool) -> None:
    """What is read before it is written makes no difference, what is handed on does."""
    text = SHIFTED.replace("SOURCE", source).replace("TARGET", target)
    (found,) = cycles(scheduled(text, kind)).values()
    assert (found.lanes > 1) == is_vector


@KINDS
def test_copies_are_packed_where_they_access_neighbours(kind: str) -> None:
    rows = scheduled(PRODUCT, kind, "distribute{loops=j},unroll-and-jam{loops=S1.j factor=8}")
    columns = scheduled(PRODUCT, kind, "distribute{loops=i,j},unroll-and-jam{loops=S1.i factor=8}")
    assert cycles(rows)["S1"].lanes > 1
    assert cycles(columns)["S1"].lanes == 1


def test_products_are_a_part_of_their_sums() -> None:
    fused = cycles(scheduled(PRODUCT, "f64"))["S1"]
    apart = cycles(scheduled(PRODUCT.replace("addf", "maximumf"), "f64"))["S1"]
    # The lanes of the maximum are compared at its end.
    assert fused.operations == pytest.approx(apart.operations / 2, rel=0.1)


def test_threads_start_whenever_a_statement_runs() -> None:
    """The first statement runs once, the other one in every iteration around."""
    schedule = scheduled(PRODUCT, "f64", "affine-schedule,interchange{loops=k,i,j}")
    schedule = schedule.apply_all(parse_pipeline("parallel{loops=i}"))
    program = ScheduledProgram(schedule, SchedulingContext({}, 2))
    ((loop, outer),) = outermost_parallel_loops(schedule.tree)
    assert program.forks(loop, outer) == 96


PADDED = """
func.func @f(%A: memref<100x1000xTYPE>, %B: memref<100x1000xTYPE>) {
  affine.for %t = 0 to 100 {
    affine.for %i = 0 to 1000 {
      affine.for %k = 0 to 3 {
        affine.if affine_set<(d0, d1) : (d0 + d1 - 1 >= 0, 1000 - d0 - d1 >= 0)>(%i, %k) {
          %0 = affine.load %B[%t, %i] : memref<100x1000xTYPE>
          %1 = affine.load %A[%t, %i + %k - 1] : memref<100x1000xTYPE>
          %2 = arith.addf %0, %1 : TYPE
          affine.store %2, %B[%t, %i] : memref<100x1000xTYPE>
        }
      }
    }
  }
  return
}
"""


@KINDS
def test_llvm_masks_copies_of_unrolled_loops(kind: str) -> None:
    """Terms of padding; and marked vectors that lanes leave at different times have masks."""
    assert cycles(scheduled(PADDED, kind))["S0"].lanes > 1
    # Loops with bounds that differ are not unrolled.
    bounds = "max affine_map<(d0) -> (0, 1 - d0)>(%i) to min affine_map<(d0) -> (3, 1001 - d0)>(%i)"
    bounded = PADDED.replace("0 to 3", bounds)
    assert cycles(scheduled(bounded, kind))["S0"].lanes == 1
    assert cycles(scheduled(PADDED, kind, "vectorize{loops=i width=4}"))["S0"].lanes == 4
    # Unrolled loops have code of their own at borders, as conditions with alternatives.
    unrolled = scheduled(PADDED, kind, "unroll{loops=k},vectorize{loops=i width=4}")
    assert cycles(unrolled)["S0"].lanes == 1
    # Not where a target has none.
    narrow = scheduled(PADDED.replace("addf", "addi"), "i8", "vectorize{loops=i width=4}")
    assert cycles(narrow)["S0"].lanes == 1


TURNED = """
func.func @f(%A: memref<300x400x3xTYPE>, %B: memref<400x300x3xTYPE>) {
  affine.for %y = 0 to 300 {
    affine.for %x = 0 to 400 {
      affine.for %c = 0 to 3 {
        %0 = affine.load %A[%y, %x, %c] : memref<300x400x3xTYPE>
        affine.store %0, %B[%x, 299 - %y, %c] : memref<400x300x3xTYPE>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", ["i8", "i16", "f32", "f64"])
def test_llvm_scatters_nothing_that_scalars_store_as_fast(kind: str) -> None:
    (found,) = cycles(scheduled(TURNED, kind)).values()
    assert found.total / found.lanes <= 1
    (marked,) = cycles(scheduled(TURNED, kind, "unroll{loops=c},vectorize{loops=x}")).values()
    assert marked.total / marked.lanes >= (2 if kind in ("i8", "i16") else 1)


SCATTERED = """
func.func @f(%I: memref<9x7x8xTYPE>, %W: memref<9x25x4x4xTYPE>, %O: memref<25x16x18xTYPE>) {
  affine.for %i = 0 to 9 {
    affine.for %o = 0 to 25 {
      affine.for %y = 0 to 7 {
        affine.for %x = 0 to 8 {
          affine.for %u = 0 to 4 {
            affine.for %v = 0 to 4 {
              %0 = affine.load %O[%o, 2 * %y + %u, 2 * %x + %v] : memref<25x16x18xTYPE>
              %1 = affine.load %I[%i, %y, %x] : memref<9x7x8xTYPE>
              %2 = affine.load %W[%i, %o, %u, %v] : memref<9x25x4x4xTYPE>
              %3 = arith.mulf %1, %2 : TYPE
              %4 = arith.addf %0, %3 : TYPE
              affine.store %4, %O[%o, 2 * %y + %u, 2 * %x + %v] : memref<25x16x18xTYPE>
            }
          }
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_skewed_loops_whose_length_varies_are_no_copies(kind: str) -> None:
    """Affine scheduling gathers the terms of each element, in skewed loops of one or two values.

    As copies, they would be vectors along the loops around.
    """
    (function,) = load(SCATTERED.replace("TYPE", kind)).values()
    gathered = function.schedule("affine-schedule{fusion=minimal}", fast_math=True)
    context = SchedulingContext({}, 1)
    with ISL_LOCK:
        assert estimate(gathered, context) > estimate(function.schedule(), context)


SHORT_PRODUCT = """
func.func @f(%A: memref<90xROWSxROWSxSHORT>, %B: memref<ROWSxLENGTHxSHORT>,
             %C: memref<90xROWSxLENGTHxLONG>) {
  %zero = arith.constant 0 : LONG
  affine.for %b = 0 to 90 {
    affine.for %i = 0 to ROWS {
      affine.for %j = 0 to LENGTH {
        %s = affine.for %k = 0 to ROWS iter_args(%a = %zero) -> (LONG) {
          %0 = affine.load %A[%b, %i, %k] : memref<90xROWSxROWSxSHORT>
          %1 = affine.load %B[%k, %j] : memref<ROWSxLENGTHxSHORT>
          %2 = arith.extsi %0 : SHORT to LONG
          %3 = arith.extsi %1 : SHORT to LONG
          %4 = arith.muli %2, %3 : LONG
          %5 = arith.addi %a, %4 : LONG
          affine.yield %5 : LONG
        }
        affine.store %s, %C[%b, %i, %j] : memref<90xROWSxLENGTHxLONG>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(("short", "long"), [("i16", "i32"), ("i8", "i32"), ("i8", "i16")])
@pytest.mark.parametrize(("rows", "length"), [(8, 8), (12, 8), (9, 4)])
def test_llvm_makes_short_vectors_of_short_loops(
    short: str, long: str, rows: int, length: int
) -> None:
    """Where they are too long to be unrolled, and always have as many iterations."""
    text = SHORT_PRODUCT.replace("SHORT", short).replace("LONG", long)
    text = text.replace("ROWS", str(rows)).replace("LENGTH", str(length))
    schedule = Schedule.original(load(text)["f"].scop)
    core = InCoreTime(ScheduledProgram(schedule, SchedulingContext({}, 1)))
    found = [core.cycles(leaf, loops) for leaf, loops in leaves(schedule.tree, ())]
    assert [each.lanes for each in found if each is not None] == [length] * len(found)


COLUMNS = """
func.func @f(%q: memref<90xTERMSxTYPE>, %s: memref<TERMSx64xTYPE>, %o: memref<90x64xTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %i = 0 to 90 {
    affine.for %e = 0 to 64 {
      %r = affine.for %a = 0 to TERMS iter_args(%b = %zero) -> (TYPE) {
        %0 = affine.load %q[%i, %a] : memref<90xTERMSxTYPE>
        %1 = arith.maximumf %0, %zero : TYPE
        %2 = arith.addf %1, %1 : TYPE
        %3 = affine.load %s[%a, %e] : memref<TERMSx64xTYPE>
        %4 = arith.mulf %2, %3 : TYPE
        %5 = arith.addf %b, %4 : TYPE
        affine.yield %5 : TYPE
      }
      affine.store %r, %o[%i, %e] : memref<90x64xTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_llvm_gathers_the_terms_of_sums_that_are_too_long_to_be_unrolled(kind: str) -> None:
    """Each operation counts there: products and sums are fused later."""
    found: list[float] = []
    for terms in (8, 40):
        text = COLUMNS.replace("TERMS", str(terms)).replace("TYPE", kind)
        schedule = Schedule.original(load(text)["f"].scop, reassociate=True)
        product = cycles(schedule)["S1"]
        found.append(product.accesses / product.lanes)
    assert found[1] > 8 * found[0]


CAUSAL = """
func.func @f(%x: memref<200x64xTYPE>, %k: memref<64xTAPSxTYPE>, %y: memref<200x64xTYPE>) {
  affine.for %t = FIRST to 200 {
    affine.for %c = 0 to 64 {
      affine.for %j = max affine_map<(d0) -> (0, BEFORE - d0)>(%t) to TAPS {
        %0 = affine.load %x[%t + %j - BEFORE, %c] : memref<200x64xTYPE>
        %1 = affine.load %k[%c, %j] : memref<64xTAPSxTYPE>
        %2 = affine.load %y[%t, %c] : memref<200x64xTYPE>
        %3 = arith.mulf %0, %1 : TYPE
        %4 = arith.addf %2, %3 : TYPE
        affine.store %4, %y[%t, %c] : memref<200x64xTYPE>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("taps", [3, 4])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_llvm_gathers_in_copies_that_are_guarded(kind: str, taps: int) -> None:
    """Copies without guards load whole rows together."""
    found: list[float] = []
    for first in (0, taps - 1):
        source = CAUSAL.replace("TAPS", str(taps)).replace("BEFORE", str(taps - 1))
        source = source.replace("FIRST", str(first)).replace("TYPE", kind)
        product = cycles(Schedule.original(load(source)["f"].scop, WIDE))["S0"]
        found.append(product.accesses / product.lanes)
    assert found[0] > 2 * found[1]


ROWS = """
func.func @f(%A: memref<500xLENGTHxTYPE>, %B: memref<500xLENGTHxTYPE>) {
  affine.for %i = 0 to 500 {
    affine.for %j = 0 to LENGTH {
      %0 = affine.load %A[%i, %j] : memref<500xLENGTHxTYPE>
POWERS
      affine.store %20, %B[499 - %i, %j] : memref<500xLENGTHxTYPE>
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("kind", "length", "multiply", "is_masked"),
    [
        ("f32", 15, "mulf", True),
        ("f32", 13, "mulf", True),
        ("f32", 23, "mulf", False),
        ("i16", 15, "muli", False),
    ],
)
def test_llvm_masks_the_last_vector_of_short_loops(
    kind: str, length: int, multiply: str, is_masked: bool
) -> None:
    """Where there are masks for elements of this size; the rest of longer loops is scalar."""
    powers = [f"%{k + 1} = arith.{multiply} %{k}, %{k} : TYPE" for k in range(20)]
    text = ROWS.replace("LENGTH", str(length)).replace("POWERS", "\n".join(powers))
    schedule = scheduled(text, kind)
    (found,) = cycles(schedule).values()
    vectors = length // {"i16": 16, "f32": 8}[kind] + schedule.target.masked_vector
    assert (found.lanes == pytest.approx(length / vectors)) == is_masked


FILLED = """
func.func @f(%A: memref<CHANNELSx40xf32>, %B: memref<GROUPSx40x4xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %g = 0 to GROUPS {
    affine.for %j = 0 to 40 {
      affine.for %l = 0 to 4 {
        affine.if affine_set<(d0, d1) : (-4 * d0 - d1 + CHANNELS - 1 >= 0)>(%g, %l) {
          %0 = affine.load %A[4 * %g + %l, %j] : memref<CHANNELSx40xf32>
          affine.store %0, %B[%g, %j, %l] : memref<GROUPSx40x4xf32>
        } else {
          affine.store %zero, %B[%g, %j, %l] : memref<GROUPSx40x4xf32>
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("channels", "groups", "is_vector"), [(30, 8, True), (17, 5, True), (6, 2, False)]
)
def test_lanes_may_run_different_statements_at_borders(
    channels: int, groups: int, is_vector: bool
) -> None:
    text = FILLED.replace("CHANNELS", str(channels)).replace("GROUPS", str(groups))
    found = cycles(scheduled(text, "f32", "vectorize{loops=l width=4}"))
    assert (found["S0"].lanes > 1) == is_vector
    assert (found["S0"].guards < 0.1) == is_vector


GREATEST = """
func.func @f(%A: memref<90x400xTYPE>, %B: memref<90x400xTYPE>, %m: memref<90xTYPE>) {
  affine.for %i = 0 to 90 {
    affine.for %j = 0 to 400 {
      %0 = affine.load %A[%i, %j] : memref<90x400xTYPE>
      %1 = math.absf %0 : TYPE
      %2 = affine.load %m[%i] : memref<90xTYPE>
      %3 = arith.EXTREMUM %2, %1 : TYPE
      affine.store %3, %m[%i] : memref<90xTYPE>
      BESIDE
    }
  }
  return
}
"""

STORED = "affine.store %1, %B[%i, %j] : memref<90x400xTYPE>"


@KINDS
@pytest.mark.parametrize("extremum", ["maxnumf", "minnumf"])
def test_llvm_makes_vectors_of_extrema_without_nan_alone(kind: str, extremum: str) -> None:
    """With another statement beside them, they are scalars."""
    lanes: list[float] = []
    for beside in ("", STORED):
        text = GREATEST.replace("EXTREMUM", extremum).replace("BESIDE", beside)
        lanes.append(cycles(scheduled(text, kind))["S0"].lanes)
    assert lanes == [{"f32": 8, "f64": 4}[kind], 1]
