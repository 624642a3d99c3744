"""Packing of selected reads: versions of values that are overwritten after their use."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

import loopwright
from loopwright.passes.polyhedral.array_dataflow import union
from loopwright.passes.polyhedral.dependences import Dependences, compute_dependences
from loopwright.passes.polyhedral.schedule_tree import Loop, Sequence, statements
from loopwright.passes.schedules.errors import IllegalTransformation, MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations import pack

# A pivot column: step k reads A[k] before it changes it, and afterwards.
PIVOT = """
func.func @pivot(%n: index, %A: memref<?xKIND>) {
  affine.for %k = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%j] : memref<?xKIND>
      %1 = affine.load %A[%k] : memref<?xKIND>
      %2 = arith.ADD %1, %1 : KIND
      %3 = arith.MIN %0, %2 : KIND
      affine.store %3, %A[%j] : memref<?xKIND>
    }
  }
  return
}
"""

PARTS = "split{loops=j at=k},split{loops=S0_2.j at=k+1}"
BEFORE = "pack{loops=k array=A reads=S0.1}"
AFTER = "pack{loops=k array=A reads=S0_2_2.1}"


def pivot(kind: str = "f64") -> str:
    add, least = ("addf", "minimumf") if kind.startswith("f") else ("addi", "minsi")
    return PIVOT.replace("KIND", kind).replace("ADD", add).replace("MIN", least)


def schedule(pipeline: str, kind: str = "f64") -> Schedule:
    return loopwright.load(pivot(kind))["pivot"].schedule(pipeline)


def test_copies_are_before_the_first_part_with_a_read() -> None:
    after = schedule(f"{PARTS},{BEFORE},{AFTER}")
    assert isinstance(after.tree, Loop) and isinstance(after.tree.body, Sequence)
    parts = [statements(part) for part in after.tree.body.children]
    assert parts == [("pack_A",), ("S0",), ("S0_2",), ("pack_A2",), ("S0_2_2",)]


def test_the_loops_around_determine_the_place() -> None:
    """One value for each k: no subscript of A is needed beside it."""
    after = schedule(f"{PARTS},{BEFORE}")
    (buffer,) = (array for array in after.scop.arrays if array.name == "A_packed")
    assert len(buffer.shape) == buffer.scope_depth == 1


def test_what_is_read_must_have_been_written_before_the_part() -> None:
    """A part that writes A[k] before it reads it cannot use a copy from before."""
    schedule("split{loops=j at=k+1},pack{loops=k array=A reads=S0_2.1}")
    schedule("split{loops=j at=k},pack{loops=k array=A reads=S0.1}")
    with pytest.raises(
        MalformedTransformation, match="S0 writes elements of A that S0 reads after"
    ):
        schedule("split{loops=j at=k+2},pack{loops=k array=A reads=S0.1}")


@pytest.mark.parametrize("kind", ["i32", "f64"])
def test_derived_dependences_are_those_of_the_new_program(kind: str) -> None:
    after = schedule(f"{PARTS},{BEFORE},{AFTER}", kind)
    fresh = compute_dependences(after.scop)
    for of in (_relation, _constraints):
        assert of(after.dependences).is_equal(of(fresh))


@pytest.mark.parametrize(
    "packs",
    [
        "pack{loops=k array=A}",
        "pack{loops=S0.j array=A}",
        "pack{loops=S0_2_2.j array=A}",
        f"{BEFORE},{AFTER},pack{{loops=S0_2_2.j array=A}},pack{{loops=S0.j array=A}}",
        "strip-mine{loops=S0.j size=3},pack{loops=S0.jt array=A}",
    ],
)
def test_conflicts_of_copies_of_all_uses(packs: str) -> None:
    """Where steps of reductions may change places, copies in and out have their conflicts."""
    after = schedule(f"{PARTS},{packs}", "i32")
    assert _constraints(after.dependences).is_equal(_constraints(compute_dependences(after.scop)))


def _relation(dependences: Dependences) -> isl.UnionMap:
    return dependences.relation


def _constraints(dependences: Dependences) -> isl.UnionMap:
    found = dependences.constraints
    assert found.is_complete
    items = (*found.ordered, *found.steps)
    return union(dependences.scop, (item.relation for item in items))


@pytest.mark.parametrize("n", [0, 1, 2, 9, 20])
@pytest.mark.parametrize("kind", ["i32", "f64"])
def test_results(kind: str, n: int) -> None:
    """Each step's parts run in the opposite order, with the versions of A[k] that they read."""
    pipeline = (
        f"{PARTS},{BEFORE},{AFTER},reorder{{statements=S0_2,pack_A2,S0_2_2,S0}},"
        "vectorize{loops=S0.j,S0_2_2.j width=4}"
    )
    function = loopwright.load(pivot(kind))["pivot"]
    kernel = function.compile(pipeline, verify=True)
    values = (
        np.random.default_rng(n)
        .integers(-9, 9, n)
        .astype(np.float64 if kind == "f64" else np.int32)
    )
    expected = values.copy()
    function.compile()(n, expected)
    kernel(n, values)
    assert values.tobytes() == expected.tobytes()
    assert kernel.verdict is not None
    assert kernel.verdict.is_proved


def test_only_versions_make_the_other_order_legal() -> None:
    with pytest.raises(IllegalTransformation, match="on A"):
        schedule(f"{PARTS},reorder{{statements=S0_2,S0_2_2,S0}}")


# Two statements that add to the same elements: their steps may change places.
TWO_STEPS = """
func.func @steps(%n: index, %x: memref<?xi32>, %y: memref<?xi32>, %a: memref<?xi32>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to 2 {
      affine.if affine_set<(d0) : (d0 == 0)>(%k) {
        %0 = affine.load %a[%i] : memref<?xi32>
        %1 = affine.load %x[%i] : memref<?xi32>
        %2 = arith.addi %0, %1 : i32
        affine.store %2, %a[%i] : memref<?xi32>
      }
      affine.if affine_set<(d0) : (d0 - 1 == 0)>(%k) {
        %0 = affine.load %a[%i] : memref<?xi32>
        %1 = affine.load %y[%i] : memref<?xi32>
        %2 = arith.addi %0, %1 : i32
        affine.store %2, %a[%i] : memref<?xi32>
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize("before", ["", "reverse{loops=k},"])
def test_what_is_accumulated_is_not_copied_for_some_steps(before: str) -> None:
    function = loopwright.load(TWO_STEPS)["steps"]
    with pytest.raises(MalformedTransformation, match="S0 accumulates in what it reads of a there"):
        function.schedule(f"{before}pack{{loops=i array=a reads=S0.0}}")
    whole = function.compile(f"{before}pack{{loops=i array=a}}", verify=True)
    x, a = np.arange(5, dtype=np.int32), np.ones(5, np.int32)
    whole(5, x, 100 * x, a)
    np.testing.assert_array_equal(a, 1 + 101 * x)


def test_a_step_with_a_copy_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validation does not rely on what `pack` refuses."""
    monkeypatch.setattr(pack._Packing, "_check_unchanged", lambda *_: None)
    function = loopwright.load(TWO_STEPS)["steps"]
    text = "reverse{loops=k},pack{loops=i array=a reads=S0.0}"
    kernel = function.compile(text, verify=True)
    x = np.arange(5, dtype=np.int32)
    kernel(5, x, x, np.ones(5, np.int32))
    assert kernel.verdict is not None and not kernel.verdict.is_proved
