"""How long recurrences wait, and what operations take that do not wait."""

from functools import partial

import pytest
from support.targets import WIDE
from xdsl.ir.affine import AffineExpr

import loopwright
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.operation_costs import throughput, varying_results
from loopwright.passes.estimate.program_statistics import StatementStatistics
from loopwright.passes.estimate.recurrence_bound import recurrence
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import loops
from loopwright.passes.polyhedral.scop import Access
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.vectorize import Vectorize

ADD = WIDE.latencies["additions"]
DIVIDE = WIDE.latencies["divisions"]


def sweep(operations: str) -> str:
    """A loop over rows around one that stores %r, made of %a = A[i, j - 1] and others."""
    return f"""
func.func @f(%n: index, %c: f64, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {{
  affine.for %i = 2 to %n {{
    affine.for %j = 2 to %n {{
      %a = affine.load %A[%i, %j - 1] : memref<?x?xf64>
      %b = affine.load %B[%i, %j] : memref<?x?xf64>
      %d = affine.load %A[%i, %j + 1] : memref<?x?xf64>
      {operations}
      affine.store %r, %A[%i, %j] : memref<?x?xf64>
    }}
  }}
  return
}}
"""


def schedule(text: str, *, reassociate: bool = False) -> Schedule:
    return Schedule.original(loopwright.load(text)["f"].scop, WIDE, reassociate=reassociate)


EARLY = "%0 = arith.addf %a, %b : f64\n%1 = arith.addf %0, %d : f64\n%r = arith.divf %1, %c : f64"


@pytest.mark.parametrize(
    ("operations", "exact", "reassociated"),
    [
        ("%r = arith.addf %a, %b : f64", ADD, ADD),
        ("%0 = arith.mulf %a, %c : f64\n%r = arith.addf %0, %b : f64", ADD, ADD),
        (EARLY, 2 * ADD + DIVIDE, 2 * ADD),
        ("%r = arith.divf %b, %a : f64", DIVIDE, DIVIDE),
        ("%r = arith.addf %b, %d : f64", 0, 0),
    ],
    ids=["sum", "fused", "early", "divisor", "none"],
)
def test_the_chain_from_one_iteration_to_the_next(
    operations: str, exact: float, reassociated: float
) -> None:
    text = sweep(operations)
    for reassociate, wanted in ((False, exact), (True, reassociated)):
        original = schedule(text, reassociate=reassociate)
        rows, columns = loops(original.tree)
        assert recurrence(original, ["S0"], columns) == wanted
        assert recurrence(original, ["S0"], rows) == 0


@pytest.mark.parametrize("name", ["exp", "log1p", "tanh"])
def test_calls_of_the_library_are_waited_for(name: str) -> None:
    original = schedule(sweep(f"%r = math.{name} %a : f64"))
    _, columns = loops(original.tree)
    assert recurrence(original, ["S0"], columns) > 2 * original.target.function_cycles[name]


def test_a_value_of_several_iterations_ago_is_waited_for_less() -> None:
    original = schedule(sweep("%r = arith.addf %a, %b : f64").replace("%j - 1]", "%j - 2]"))
    _, columns = loops(original.tree)
    assert recurrence(original, ["S0"], columns) == ADD / 2


def test_of_two_values_neither_is_known_to_come_later() -> None:
    """LLVM does not see which of the two iterations before has ended longer ago."""
    text = sweep("%0 = arith.addf %b, %a : f64\n%r = arith.addf %0, %d : f64").replace(
        "%j + 1]", "%j - 2]"
    )
    for reassociate in (False, True):
        original = schedule(text, reassociate=reassociate)
        _, columns = loops(original.tree)
        assert recurrence(original, ["S0"], columns) == 2 * ADD


def test_rows_side_by_side_wait_across_rows_only() -> None:
    text = sweep("%r = arith.addf %a, %b : f64").replace("%A[%i, %j - 1]", "%A[%i - 1, %j]")
    swapped = schedule(text)
    rows, columns = loops(swapped.tree)
    assert recurrence(swapped, ["S0"], columns) == 0
    assert recurrence(swapped, ["S0"], rows) == ADD


def test_divisions_by_what_never_changes_are_products_where_they_may_be() -> None:
    statement = schedule(sweep(EARLY)).scop.statement("S0")
    cycles = partial(
        throughput,
        StatementStatistics(statement, {}),
        WIDE,
        lambda load: frozenset[int](),
        lambda changing: (1.0, 1.0),
        lanes=1.0,
    )
    # A division takes half of what it takes in a whole vector.
    assert cycles(reassociate=False) == 2 * 0.5 + WIDE.cycles["divisions"] / 2
    assert cycles(reassociate=True) == 3 * 0.5


def test_indices_change_in_the_loops_of_their_iterators() -> None:
    """A gather may have more subscripts than there are loops, and constant ones."""
    gather = """
func.func @f(%I: memref<40x50xi32>, %M: memref<9x3x4x5xf64>, %A: memref<40x50xf64>) {
  %c2 = arith.constant 2 : index
  affine.for %i = 0 to 40 {
    affine.for %j = 0 to 50 {
      %0 = affine.load %I[%i, %j] : memref<40x50xi32>
      %1 = arith.index_cast %0 : i32 to index
      %k = affine.apply affine_map<(d0) -> (d0 mod 4)>(%j)
      %2 = memref.load %M[%1, %c2, %k, %c2] : memref<9x3x4x5xf64>
      affine.store %2, %A[%i, %j] : memref<40x50xf64>
    }
  }
  return
}
"""
    statement = schedule(gather).scop.statement("S0")
    seen: list[set[int]] = []

    def changes(value: Access | AffineExpr) -> frozenset[int]:
        if isinstance(value, AffineExpr):
            seen.append(value.used_dims())
        return frozenset()

    varying_results(statement, changes)
    assert {1} in seen
    assert all(each <= {1} for each in seen)
    original = schedule(gather)
    assert estimate(original, SchedulingContext({}, 1)) > 0


def test_tables_with_an_element_for_each_byte_need_no_comparison() -> None:
    """Scalars look up in less time than the lanes of a vector are taken out."""
    text = """
func.func @f(%x: memref<4000xi8>, %t: memref<256xi8>, %y: memref<4000xi8>) {
  affine.for %i = 0 to 4000 {
    %0 = affine.load %x[%i] : memref<4000xi8>
    %1 = arith.EXTEND %0 : i8 to i32
    %2 = arith.index_cast %1 : i32 to index
    %3 = memref.load %t[%2] : memref<256xi8>
    affine.store %3, %y[%i] : memref<4000xi8>
  }
  return
}
"""
    context = SchedulingContext({}, 1)
    unsigned, signed = (schedule(text.replace("EXTEND", e)) for e in ("extui", "extsi"))
    assert estimate(unsigned, context) < estimate(signed, context)
    vectors = unsigned.apply(Vectorize(("i",), 64))
    assert estimate(unsigned, context) < estimate(vectors, context)
